// What the files of kernels instantiate.
#pragma once

#include <stdexcept>

#include "ntt/run.cuh"

namespace cuzk::ntt {

template <int kLog, bool kStrided, class Fr, class Source, class Finish>
void launch_pass(const Pass<Fr, Source, Finish>& pass, int log_n, cudaStream_t stream) {
  using S = Shape<kLog>;
  const u32 blocks = u32((u64(1) << log_n) / S::kPoints);
  launch(pass_kernel<Fr, kLog, kStrided, Source, Finish>, blocks, S::kThreads, S::kSharedBytes, stream, pass);
}

// Launches the kernel for one of the sizes kLogs.
template <bool kStrided, int... kLogs, class Fr, class Source, class Finish>
void launch_size(int log, const Pass<Fr, Source, Finish>& pass, int log_n, cudaStream_t stream) {
  const bool found = ((log == kLogs && (launch_pass<kLogs, kStrided>(pass, log_n, stream), true)) || ...);
  if (!found) throw std::logic_error("no kernel transforms over a digit of " + std::to_string(log) + " bits");
}

// The first digit has any size, the middle one, which alone has a small table behind it, 6 or 9 bits.
template <class Fr, class Source, class Finish>
void run_strided(int log, const Pass<Fr, Source, Finish>& pass, int log_n, cudaStream_t stream) {
  if constexpr (std::is_same_v<Finish, SmallTable<Fr, false>>) {
    launch_size<true, 6, 9>(log, pass, log_n, stream);
  } else {
    launch_size<true, 6, 7, 8, 9, 10>(log, pass, log_n, stream);
  }
}

template <class Fr, bool kLast>
void run_contiguous(int log, const Pass<Fr, Dense<Fr>, SmallTable<Fr, kLast>>& pass, int log_n, cudaStream_t stream) {
  launch_size<false, 6, 9>(log, pass, log_n, stream);
}

template <class Fr, class Source, class Finish>
void run_one_block(const OneBlock<Fr, Source, Finish>& job, cudaStream_t stream) {
  const u32 n = 1u << job.log_n;
  const u32 threads = std::min(kOneBlockThreads, std::max(kWarp, n / 4));
  launch(one_block_kernel<Fr, Source, Finish>, 1, threads, 2 * kOneBlockPlane, stream, job);
}

}  // namespace cuzk::ntt
