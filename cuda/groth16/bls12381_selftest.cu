#include "groth16/selftest_impl.cuh"

template void cuzk::groth16::OnCurve<cuzk::Bls12381>::selftest(Engine&);
