// The kernel of small transforms: all stages in the shared memory of one block. Values and coefficients are in natural
// order.
#pragma once

#include "base/device.h"
#include "ntt/butterfly.cuh"
#include "ntt/pairs.cuh"
#include "ntt/plan.h"
#include "ntt/shared_values.cuh"

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
constexpr u32 kOneBlockPlane = 16u << kOneBlockLog;

// Two levels of a transform at once, the first over values 2^level apart: decimation in time.
template <class Fr>
CUZK_D void radix_four_levels(const SharedValues<Fr, kOneBlockPlane>& values, const Pairs<Fr>& roots, int log_n, int level, u32 i) {
  const u32 x = i & ((1u << level) - 1), at = 4 * i - 3 * x;
  Fr v[4];
  CUZK_UNROLL
  for (u32 k = 0; k < 4; k++) v[k] = values.load((at + (k << level)) * 16);
  const u32 root = x << (log_n - 2 - level);
  if (level) {
    const Shoup<Fr> w = roots.at(2 * root);
    v[1] = mul_shoup(v[1], w);
    v[3] = mul_shoup(v[3], w);
  }
  butterfly(v[0], v[1]);
  butterfly(v[2], v[3]);
  if (level) v[2] = mul_shoup(v[2], roots.at(root));
  v[3] = mul_shoup(v[3], roots.at(root + (1u << (log_n - 2))));
  butterfly(v[0], v[2]);
  butterfly(v[1], v[3]);
  CUZK_UNROLL
  for (u32 k = 0; k < 4; k++) values.store((at + (k << level)) * 16, v[k]);
}

template <class Fr, class Source, class Finish>
__global__ void __launch_bounds__(kOneBlockThreads) one_block_kernel(const __grid_constant__ OneBlock<Fr, Source, Finish> job) {
  CUZK_DYNAMIC_SHARED(uint4, shared);
  const SharedValues<Fr, kOneBlockPlane> values(shared);
  const u32 n = 1u << job.log_n;
  for (u32 i = threadIdx.x; i < n; i += blockDim.x) {
    const u32 reversed = job.log_n ? __brev(i) >> (32 - job.log_n) : 0;
    values.store(reversed * 16, job.source.at(i));
  }
  __syncthreads();
  if (job.log_n % 2) {
    for (u32 i = threadIdx.x; i < n / 2; i += blockDim.x) {
      Fr a = values.load(2 * i * 16), b = values.load((2 * i + 1) * 16);
      butterfly(a, b);
      values.store(2 * i * 16, a);
      values.store((2 * i + 1) * 16, b);
    }
    __syncthreads();
  }
  for (int level = job.log_n % 2; level < job.log_n; level += 2) {
    for (u32 i = threadIdx.x; i < n / 4; i += blockDim.x) radix_four_levels(values, job.roots, job.log_n, level, i);
    __syncthreads();
  }
  for (u32 i = threadIdx.x; i < n; i += blockDim.x) {
    const u32 at = job.inverse ? (0u - i) & (n - 1) : i;
    store_stream(job.out + at, job.finish.apply(at, values.load(i * 16)));
  }
}

}  // namespace cuzk::ntt
