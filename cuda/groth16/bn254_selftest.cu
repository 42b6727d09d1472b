#include "groth16/selftest_impl.cuh"

template void cuzk::groth16::OnCurve<cuzk::Bn254>::selftest(Engine&);
