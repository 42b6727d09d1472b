// First pass of the inverse transform of a product.
#include "ntt/kernels/run_inline.cuh"

namespace cuzk::ntt {
template void run_strided<Bls12381Fr>(int, const Pass<Bls12381Fr, Product<Bls12381Fr>, LargeTable<Bls12381Fr>>&, int, cudaStream_t);
}  // namespace cuzk::ntt
