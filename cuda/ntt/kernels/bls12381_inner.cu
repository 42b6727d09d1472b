// Passes over the middle and the last digit, and small transforms.
#include "ntt/kernels/run_inline.cuh"

namespace cuzk::ntt {
template void run_strided<Bls12381Fr>(int, const Pass<Bls12381Fr, Dense<Bls12381Fr>, SmallTable<Bls12381Fr, false>>&, int, cudaStream_t);
template void run_contiguous<Bls12381Fr>(int, const Pass<Bls12381Fr, Dense<Bls12381Fr>, SmallTable<Bls12381Fr, false>>&, int, cudaStream_t);
template void run_contiguous<Bls12381Fr>(int, const Pass<Bls12381Fr, Dense<Bls12381Fr>, SmallTable<Bls12381Fr, true>>&, int, cudaStream_t);
template void run_one_block<Bls12381Fr>(const OneBlock<Bls12381Fr, Padded<Bls12381Fr>, SmallTable<Bls12381Fr, true>>&, cudaStream_t);
template void run_one_block<Bls12381Fr>(const OneBlock<Bls12381Fr, Product<Bls12381Fr>, SmallTable<Bls12381Fr, true>>&, cudaStream_t);
template void run_one_block<Bls12381Fr>(const OneBlock<Bls12381Fr, Dense<Bls12381Fr>, Combine<Bls12381Fr>>&, cudaStream_t);
}  // namespace cuzk::ntt
