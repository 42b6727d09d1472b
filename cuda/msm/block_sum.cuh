// The sum of points that the groups of lanes of a block hold.
#pragma once

#include "curve/point_lanes.cuh"

namespace cuzk::msm {

// Adds up the points of the first `groups` groups of lanes, a power of two; the sum is then the first group's. Shared: half
// as many points.
template <class F>
CUZK_D void sum_in_block(PointLanes<F>& own, u32 groups, Xyzz<F>* shared) {
  constexpr u32 lanes = PointLanes<F>::kLanes;
  const u32 group = threadIdx.x / lanes, first_of_warp = threadIdx.x / kWarp * (kWarp / lanes);
  CUZK_NO_UNROLL
  for (u32 h = groups / 2; h >= 1; h /= 2) {
    if (group >= h && group < 2 * h) own.store(&shared[group - h]);
    __syncthreads();
    if (first_of_warp < h) own.add(PointLanes<F>::load(&shared[min(group, h - 1)]));
    __syncthreads();
  }
}

}  // namespace cuzk::msm
