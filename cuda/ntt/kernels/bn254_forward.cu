// Last pass of the forward transform.
#include "ntt/kernels/run_inline.cuh"

namespace cuzk::ntt {
template void run_strided<Bn254Fr>(int, const Pass<Bn254Fr, Dense<Bn254Fr>, Combine<Bn254Fr>>&, int, cudaStream_t);
}  // namespace cuzk::ntt
