#include "msm/msm_impl.cuh"

template class cuzk::msm::Msm<cuzk::Bls12381::Fp2, cuzk::Bls12381::Fr>;
