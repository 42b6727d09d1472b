// First pass of the inverse transform of a product.
#include "ntt/kernels/run_inline.cuh"

namespace cuzk::ntt {
template void run_strided<Bn254Fr>(int, const Pass<Bn254Fr, Product<Bn254Fr>, LargeTable<Bn254Fr>>&, int, cudaStream_t);
}  // namespace cuzk::ntt
