// Last pass of the forward transform.
#include "ntt/kernels/run_inline.cuh"

namespace cuzk::ntt {
template void run_strided<Bls12381Fr>(int, const Pass<Bls12381Fr, Dense<Bls12381Fr>, Combine<Bls12381Fr>>&, int, cudaStream_t);
}  // namespace cuzk::ntt
