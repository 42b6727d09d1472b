// Sum of a list of bases, each once: affine sums of pairs while there are many points, lists of equal length in XYZZ
// coordinates for the rest (10 multiplications against 6, but no inversion to wait for).
#pragma once

#include "msm/rows_columns.cuh"

namespace cuzk::msm {

constexpr u32 kListThreads = 128, kListBlocks = 3;  // of a multiprocessor
constexpr u32 kMaxListBlocks = 384;
constexpr u32 kJoinThreads = 256;

template <class F>
__global__ void copy_point_kernel(PointPlanes<F> points, u32 from, u32 to) {
  points.store_point(to, points.point(from));
}

template <class F>
__global__ void lift_base_kernel(const Affine<F>* bases, const u32* index, PointPlanes<F> points, u32 to) {
  points.store_point(to, load_ro(&bases[*index]));
}

// Adds up a block's share of the points from `first` on; afterwards its groups of lanes hold the parts. Threads do it where
// a sum fits their registers, groups of lanes elsewhere. Shared: a point for every thread.
template <class F>
CUZK_D PointLanes<F> sum_of_share(const PointPlanes<F>& points, u32 first, u32 n, Xyzz<F>* shared) {
  constexpr u32 groups = kListThreads / PointLanes<F>::kLanes;
  Xyzz<F> sum = Xyzz<F>::infinity();
  CUZK_NO_UNROLL
  for (u32 i = blockIdx.x * kListThreads + threadIdx.x; i < n; i += gridDim.x * kListThreads) add_mixed(sum, points.point(first + i));
  store(&shared[threadIdx.x], sum);
  __syncthreads();
  const u32 group = threadIdx.x / PointLanes<F>::kLanes;
  auto part = PointLanes<F>::load(&shared[group]);
  CUZK_NO_UNROLL
  for (u32 k = groups; k < kListThreads; k += groups) part.add(PointLanes<F>::load(&shared[k + group]));
  return part;
}
template <class B>
CUZK_D PointLanes<Fp2<B>> sum_of_share(const PointPlanes<Fp2<B>>& points, u32 first, u32 n, Xyzz<Fp2<B>>*) {
  using Point = PointLanes<Fp2<B>>;
  const u32 groups = gridDim.x * kListThreads / Point::kLanes, group = (blockIdx.x * kListThreads + threadIdx.x) / Point::kLanes;
  auto sum = Point::infinity();
  CUZK_NO_UNROLL
  for (u32 before = 0; before < n; before += groups) {  // all groups make the same rounds
    const u32 i = before + group;
    const Point next = points.lanes(first + min(i, n - 1));
    sum.add(i < n ? next : Point::infinity());
  }
  return sum;
}

template <class F>
__global__ void __launch_bounds__(kListThreads, kListBlocks) sum_points_kernel(PointPlanes<F> points, u32 first, u32 n, Xyzz<F>* sums) {
  CUZK_DYNAMIC_SHARED(Xyzz<F>, shared);
  auto sum = sum_of_share(points, first, n, shared);
  __syncthreads();
  sum_in_block(sum, kListThreads / PointLanes<F>::kLanes, shared);
  if (threadIdx.x < PointLanes<F>::kLanes) sum.store(&sums[blockIdx.x]);
}

// One block adds up the sums of all.
template <class F>
__global__ void __launch_bounds__(kJoinThreads) join_sums_kernel(const Xyzz<F>* sums, u32 n, Xyzz<F>* out) {
  using Point = PointLanes<F>;
  CUZK_DYNAMIC_SHARED(Xyzz<F>, shared);
  constexpr u32 groups = kJoinThreads / Point::kLanes;
  const u32 group = threadIdx.x / Point::kLanes;
  auto sum = Point::infinity();
  CUZK_NO_UNROLL
  for (u32 i = group; i - group < n; i += groups) sum.add(i < n ? Point::load(&sums[i]) : Point::infinity());
  sum_in_block(sum, groups, shared);
  if (group == 0) sum.store(out);
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
    sums = arena.take<Xyzz<F>>(kMaxListBlocks + 1);
  }
};

// Enqueues the sum of bases[indices[i]], i < n, and tells where it will be. Below `affine` points no more affine levels are
// made.
template <class F>
const Xyzz<F>* sum_ones(cudaStream_t stream, const Affine<F>* bases, const u32* indices, u32 n, u32 affine, OnesScratch<F>& scratch) {
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
  constexpr u32 groups = kListThreads / PointLanes<F>::kLanes;
  constexpr bool by_threads = kSumsByThreads<F>;
  const u32 per_block = by_threads ? kListThreads : groups, blocks = std::min((left + per_block - 1) / per_block, kMaxListBlocks);
  launch(sum_points_kernel<F>, blocks, kListThreads, sizeof(Xyzz<F>) * (by_threads ? kListThreads : groups / 2), stream, points, first, left, scratch.sums);
  if (blocks == 1) return scratch.sums;
  Xyzz<F>* sum = scratch.sums + kMaxListBlocks;
  launch(join_sums_kernel<F>, 1, kJoinThreads, sizeof(Xyzz<F>) * kJoinThreads / PointLanes<F>::kLanes / 2, stream, scratch.sums, blocks, sum);
  return sum;
}

}  // namespace cuzk::msm
