// The passes with two small tables in place of a large one.
#include "ntt/kernels/run_inline.cuh"

namespace cuzk::ntt {
template void run_strided<Bls12381Fr>(int, const Pass<Bls12381Fr, Padded<Bls12381Fr>, PairTable<Bls12381Fr>>&, int, cudaStream_t);
}  // namespace cuzk::ntt
