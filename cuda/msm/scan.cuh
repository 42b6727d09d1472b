// Prefix sums and maxima within a block of threads.
#pragma once

#include "base/device.h"

namespace cuzk::msm {

// Sum of v over the lanes up to and with this one.
CUZK_D u32 inclusive_in_warp(u32 v) {
  const u32 lane = threadIdx.x % kWarp;
  CUZK_UNROLL
  for (u32 d = 1; d < kWarp; d <<= 1) {
    const u32 below = __shfl_up_sync(~0u, v, d);
    if (lane >= d) v += below;
  }
  return v;
}

CUZK_D u32 inclusive_max_in_warp(u32 v) {
  const u32 lane = threadIdx.x % kWarp;
  CUZK_UNROLL
  for (u32 d = 1; d < kWarp; d <<= 1) {
    const u32 below = __shfl_up_sync(~0u, v, d);
    if (lane >= d) v = max(v, below);
  }
  return v;
}

// Sum of v over the threads before this one; the sum over all of them in total. Blocks of whole warps; shared: 32 words.
CUZK_D u32 exclusive_in_block(u32 v, u32* shared, u32& total) {
  const u32 lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
  const u32 sum = inclusive_in_warp(v);
  if (lane == kWarp - 1) shared[warp] = sum;
  __syncthreads();
  u32 before = 0;
  total = 0;
  for (u32 w = 0; w < warps; w++) {
    const u32 s = shared[w];
    if (w < warp) before += s;
    total += s;
  }
  __syncthreads();
  return before + sum - v;
}

// Turns counts[0..n) into the sums of those before, in shared memory; returns the sum of all.
CUZK_D u32 scan_shared(u32* counts, u32 n, u32* shared) {
  u32 before = 0;
  for (u32 start = 0; start < n; start += blockDim.x) {
    const u32 i = start + threadIdx.x;
    u32 total;
    const u32 own = exclusive_in_block(i < n ? counts[i] : 0, shared, total);
    if (i < n) counts[i] = before + own;
    before += total;
  }
  __syncthreads();
  return before;
}

}  // namespace cuzk::msm
