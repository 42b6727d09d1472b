#include "msm/pair_sums.cuh"

template struct cuzk::msm::PairAdder<cuzk::Bls12381::Fp>;
