// Sum of a list of bases, each once: affine sums of pairs while there are many points, lists of equal length in XYZZ
// coordinates for the rest (10 multiplications against 6, but no inversion to wait for).
#pragma once

#include "msm/pair_adder.h"

namespace cuzk::msm {

constexpr u32 kListThreads = 256;
constexpr u32 kMaxListBlocks = 256;  // whose sums the host adds up

template <class F>
__global__ void copy_point_kernel(PointPlanes<F> points, u32 from, u32 to) {
  points.store_point(to, points.point(from));
}

template <class F>
__global__ void lift_base_kernel(const Affine<F>* bases, const u32* index, PointPlanes<F> points, u32 to) {
  points.store_point(to, load_ro(&bases[*index]));
}

// Adds up the threads' points; the sum is thread 0's. Shared: half as many points as threads.
template <class F>
CUZK_D void sum_in_block(Xyzz<F>& sum, Xyzz<F>* shared) {
  CUZK_NO_UNROLL
  for (u32 h = blockDim.x / 2; h >= 1; h /= 2) {
    if (threadIdx.x >= h && threadIdx.x < 2 * h) store(&shared[threadIdx.x - h], sum);
    __syncthreads();
    if (threadIdx.x < h) add(sum, load(&shared[threadIdx.x]));
    __syncthreads();
  }
}

// A block adds up its share of the points from `first` on.
template <class F>
__global__ void __launch_bounds__(kListThreads) sum_points_kernel(PointPlanes<F> points, u32 first, u32 n, Xyzz<F>* sums) {
  CUZK_DYNAMIC_SHARED(Xyzz<F>, shared);
  Xyzz<F> sum = Xyzz<F>::infinity();
  CUZK_NO_UNROLL
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) add_mixed(sum, points.point(first + i));
  sum_in_block(sum, shared);
  if (threadIdx.x == 0) store(&sums[blockIdx.x], sum);
}

template <class F>
struct OnesScratch {
  PointPlanes<F> points;
  PairAdder<F> adder;
  Xyzz<F>* sums;

  // Every level needs half the points of the one before, and one without a partner.
  OnesScratch(Arena& arena, u64 n, u32 pairs_per_thread) {
    points.capacity = n + 2 * PairAdder<F>::kCounters;
    points.data = arena.take<uint4>(points.capacity * PointPlanes<F>::kPlanes);
    adder.prefix = arena.take<uint4>(prefix_vectors<F>(pairs_per_thread));
    adder.per_thread = pairs_per_thread;
    adder.exceptional = arena.take<u32>(n / 2 + 1);
    adder.counters = arena.take<u32>(PairAdder<F>::kCounters);
    sums = arena.take<Xyzz<F>>(kMaxListBlocks);
  }
};

// Enqueues the sum of bases[indices[i]], i < n, as some points in scratch.sums; gives their number. Below `affine` points no
// more affine levels are made.
template <class F>
u32 sum_ones(cudaStream_t stream, const Affine<F>* bases, const u32* indices, u32 n, u32 affine, OnesScratch<F>& scratch) {
  scratch.adder.reset(stream);
  const PointPlanes<F>& points = scratch.points;
  u32 first = 0, left = n / 2;
  if (left) {
    const BasePairs<F> pairs{bases, reinterpret_cast<const uint2*>(indices), nullptr, left};
    scratch.adder.add(stream, pairs, PairResults<F>{points, first});
  }
  if (n % 2) launch(lift_base_kernel<F>, 1, 1, 0, stream, bases, indices + n - 1, points, left++);
  while (left >= affine && left > 1) {
    const u32 to = first + left, pairs = left / 2;
    HalvedPairs<F> rows{};
    rows.points = points;
    rows.rows_from = first;
    rows.row_pairs = pairs;
    scratch.adder.add(stream, rows, PairResults<F>{points, to});
    if (left % 2) launch(copy_point_kernel<F>, 1, 1, 0, stream, points, first + left - 1, to + pairs);
    left = pairs + left % 2;
    first = to;
  }
  const std::size_t shared = sizeof(Xyzz<F>) * kListThreads / 2;
  const u32 blocks = std::min((left + kListThreads - 1) / kListThreads, kMaxListBlocks);
  launch(sum_points_kernel<F>, blocks, kListThreads, shared, stream, points, first, left, scratch.sums);
  return blocks;
}

}  // namespace cuzk::msm
