// Launches of passes. The kernels are compiled in files of their own (kernels/), a few each.
#pragma once

#include "ntt/finish.cuh"
#include "ntt/one_block.cuh"
#include "ntt/pass.cuh"

namespace cuzk::ntt {

// A pass over a digit of 2^log values that is not contiguous, of a transform of 2^log_n.
template <class Fr, class Source, class Finish>
void run_strided(int log, const Pass<Fr, Source, Finish>&, int log_n, cudaStream_t);

// A pass over the contiguous digit.
template <class Fr, bool kLast>
void run_contiguous(int log, const Pass<Fr, Dense<Fr>, SmallTable<Fr, kLast>>&, int log_n, cudaStream_t);

template <class Fr, class Source, class Finish>
void run_one_block(const OneBlock<Fr, Source, Finish>&, cudaStream_t);

}  // namespace cuzk::ntt
