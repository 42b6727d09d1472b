// The kernel of small transforms: all stages in the shared memory of one block. Values and coefficients are in natural
// order.
#pragma once

#include "base/device.h"
#include "ntt/butterfly.cuh"
#include "ntt/plan.h"
#include "ntt/pairs.cuh"

namespace cuzk::ntt {

template <class Fr, class Source, class Finish>
struct OneBlock {
  Source source;
  Finish finish;
  Fr* out;
  int log_n;
  bool inverse;
  Pairs<Fr> roots;  // w^x, x < n / 2
};

constexpr u32 kOneBlockThreads = 512;

template <class Fr, class Source, class Finish>
__global__ void __launch_bounds__(kOneBlockThreads) one_block_kernel(const __grid_constant__ OneBlock<Fr, Source, Finish> job) {
  CUZK_DYNAMIC_SHARED(Fr, values);
  const u32 n = 1u << job.log_n;
  for (u32 i = threadIdx.x; i < n; i += blockDim.x) {
    const u32 reversed = job.log_n ? __brev(i) >> (32 - job.log_n) : 0;
    values[reversed] = job.source.at(i);
  }
  __syncthreads();
  for (int level = 0; level < job.log_n; level++) {
    const u32 half = 1u << level;
    for (u32 i = threadIdx.x; i < n / 2; i += blockDim.x) {
      const u32 x = i & (half - 1), at = 2 * i - x;
      Fr a = values[at], b = values[at + half];
      if (level) b = mul_shoup(b, job.roots.at(x << (job.log_n - 1 - level)));
      butterfly(a, b);
      values[at] = a;
      values[at + half] = b;
    }
    __syncthreads();
  }
  for (u32 i = threadIdx.x; i < n; i += blockDim.x) {
    const u32 at = job.inverse ? (0u - i) & (n - 1) : i;
    store_stream(job.out + at, job.finish.apply(at, values[i], job.finish.fetch(at)));
  }
}

}  // namespace cuzk::ntt
