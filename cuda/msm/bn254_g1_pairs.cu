#include "msm/pair_sums.cuh"

template struct cuzk::msm::PairAdder<cuzk::Bn254::Fp>;
