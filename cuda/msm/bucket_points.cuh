// Between the entries of a bucket and its tree, and between the tree and the bucket's point.
#pragma once

#include "msm/levels.h"
#include "msm/point_planes.cuh"

namespace cuzk::msm {

constexpr u32 kBucketThreads = 256;

// The base without a partner in a bucket with an odd number of entries becomes the bucket's point, for now. The sums of
// level 0 begin at point `sums`.
template <class F>
__global__ void __launch_bounds__(kBucketThreads)
    lift_odd_kernel(const Affine<F>* bases, const u32* count, const u32* odd, u32 buckets, PointPlanes<F> points, u32 first,
                    Level level, u32 sums) {
  const u32 b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b == 0) *level.first = sums;
  if (b >= buckets) return;
  if (count[b] % 2 == 0) {
    level.single[b] = kNone;
    return;
  }
  const u32 entry = odd[b];
  points.store_point(first + b, neg_if((entry & kSign) != 0, load_ro(&bases[entry & ~kSign])));
  level.single[b] = first + b;
}

// What is left of every bucket after its last level becomes the bucket's point. `all` counts the buckets not in use too.
template <class F>
__global__ void __launch_bounds__(kBucketThreads)
    settle_buckets_kernel(Level last, u32 buckets, u32 all, PointPlanes<F> points, u32 first) {
  const u32 b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= all) return;
  u32 from = kNone;
  if (b < buckets) from = last.start[b + 1] > last.start[b] ? *last.first + last.start[b] : last.single[b];
  if (from == first + b) return;
  points.store_point(first + b, from == kNone ? Affine<F>::infinity() : points.point(from));
}

}  // namespace cuzk::msm
