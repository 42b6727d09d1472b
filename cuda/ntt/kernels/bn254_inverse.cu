// First pass of the inverse transform, second to last of the forward one.
#include "ntt/kernels/run_inline.cuh"

namespace cuzk::ntt {
template void run_strided<Bn254Fr>(int, const Pass<Bn254Fr, Padded<Bn254Fr>, LargeTable<Bn254Fr>>&, int, cudaStream_t);
}  // namespace cuzk::ntt
