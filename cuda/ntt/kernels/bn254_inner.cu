// Passes over the middle and the last digit, and small transforms.
#include "ntt/kernels/run_inline.cuh"

namespace cuzk::ntt {
template void run_strided<Bn254Fr>(int, const Pass<Bn254Fr, Dense<Bn254Fr>, SmallTable<Bn254Fr, false>>&, int, cudaStream_t);
template void run_contiguous<Bn254Fr>(int, const Pass<Bn254Fr, Dense<Bn254Fr>, SmallTable<Bn254Fr, false>>&, int, cudaStream_t);
template void run_contiguous<Bn254Fr>(int, const Pass<Bn254Fr, Dense<Bn254Fr>, SmallTable<Bn254Fr, true>>&, int, cudaStream_t);
template void run_one_block<Bn254Fr>(const OneBlock<Bn254Fr, Padded<Bn254Fr>, SmallTable<Bn254Fr, true>>&, cudaStream_t);
template void run_one_block<Bn254Fr>(const OneBlock<Bn254Fr, Product<Bn254Fr>, SmallTable<Bn254Fr, true>>&, cudaStream_t);
template void run_one_block<Bn254Fr>(const OneBlock<Bn254Fr, Dense<Bn254Fr>, Combine<Bn254Fr>>&, cudaStream_t);
}  // namespace cuzk::ntt
