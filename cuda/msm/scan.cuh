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

}  // namespace cuzk::msm
