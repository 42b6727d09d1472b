// The passes with two small tables in place of a large one.
#include "ntt/kernels/run_inline.cuh"

namespace cuzk::ntt {
template void run_strided<Bn254Fr>(int, const Pass<Bn254Fr, Padded<Bn254Fr>, PairTable<Bn254Fr>>&, int, cudaStream_t);
}  // namespace cuzk::ntt
