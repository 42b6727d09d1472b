#include "msm/msm_impl.cuh"

template class cuzk::msm::Msm<cuzk::Bn254::Fp, cuzk::Bn254::Fr>;
