// From lists of points to one point a list; the host adds those up.
//
// A list stands for the sum of (i + 1) or i times its point i:
//   1. A group of lanes takes a segment of the list: run = sum of its points, weighted = sum of (j + 1 or j) times its j-th
//      point. (Where rows and columns are made of parts, segments are of one point: rows_columns.cuh.)
//   2. A block takes 2^s segments in shared memory: sum of i run_i = sum of 2^(k-1) O_k, where O_k is the sum of the odd
//      entries after runs have been added in pairs k - 1 times.
//   3. The blocks of a list are added up, their runs separately for every bit of the block's number.
//   4. What then has the weights 1, 2, 4, ... becomes one point.
// Sums are by lanes (curve/point_lanes.cuh): there are few, and they wait for each other.
#pragma once

#include "msm/block_sum.cuh"
#include "msm/point_planes.cuh"

namespace cuzk::msm {

constexpr u32 kSegmentThreads = 128, kSegmentBlocks = 3;  // of a multiprocessor
constexpr u32 kMaxBlockSegments = 32;
constexpr u32 kMaxSegments = 2048;  // of a list
constexpr u32 kMinSegment = 2;
// Segments of all lists: what keeps the device busy.
template <class F>
constexpr u32 kWantedSegments = (1 << 16) / PointLanes<F>::kLanes;

CUZK_HD u32 log2_of(u32 power) {
  u32 r = 0;
  while (power >> (r + 1)) r++;
  return r;
}

// How lists of 2^k points are cut.
struct ListShape {
  u32 items = 1, segments = 1, block_segments = 1;

  // So many segments that all lists together have at most those wanted, if a segment holds as many points as it should.
  static ListShape of_segments(u32 items, u32 lists, u32 wanted) {
    u32 segments = 1;
    while (2 * segments * kMinSegment <= items && 2 * segments <= kMaxSegments && 2 * segments * lists <= wanted) segments *= 2;
    return {items, segments, std::min(segments, kMaxBlockSegments)};
  }
  static ListShape of_points(u32 items) { return {items, items, std::min(items, kMaxBlockSegments)}; }

  CUZK_HD u32 segment() const { return items / segments; }
  CUZK_HD u32 blocks() const { return segments / block_segments; }
  CUZK_HD u32 levels() const { return log2_of(block_segments); }  // of the block's tree
  CUZK_HD u32 block_bits() const { return log2_of(blocks()); }
  CUZK_HD u32 block_results() const { return levels() + 2; }           // weighted, O_1 ..., runs
  CUZK_HD u32 results() const { return levels() + 1 + block_bits(); }  // weighted, O_1 ..., one for every bit of the block
  CUZK_HD u32 segment_bits() const { return log2_of(segment()); }
};

// Lists of one kind, one for every window: window w's begins at point `from` + w items.
struct ListKind {
  u32 from, items;
  u32 first_weight;  // of a list's first point: 0 or 1
};

// Of one or two kinds; the second has its lists behind those of the first. Behind the end of a list are infinities.
template <class F>
struct Lists {
  PointPlanes<F> points;
  u32 windows;
  ListKind first, second;
};

template <class F>
__global__ void __launch_bounds__(kSegmentThreads, kSegmentBlocks)
    segment_kernel(Lists<F> lists, ListShape shape, u32 segments, Xyzz<F>* runs, Xyzz<F>* weighted) {
  using Point = PointLanes<F>;
  const u32 group = (blockIdx.x * blockDim.x + threadIdx.x) / Point::kLanes, at = min(group, segments - 1);
  const u32 list = at / shape.segments, length = shape.segment(), begin = at % shape.segments * length;
  const ListKind kind = list < lists.windows ? lists.first : lists.second;
  const u32 from = kind.from + list % lists.windows * kind.items;
  const auto point = [&](u32 j) {
    const Point p = lists.points.lanes(from + min(begin + j, kind.items - 1));
    return begin + j < kind.items ? p : Point::infinity();
  };
  const auto counted = [&](u32 j, const Point& run) { return j + kind.first_weight > 0 ? run : Point::infinity(); };
  Point run = point(length - 1), sum = counted(length - 1, run);
  CUZK_NO_UNROLL
  for (u32 j = length - 1; j-- > 0;) {
    run.add(point(j));
    sum.add(counted(j, run));
  }
  if (group != at) return;
  run.store(&runs[at]);
  sum.store(&weighted[at]);
}

// Every step adds neighbours in all lists: the runs A, the weighted sums V, and O_1, O_2, ...; the odd entries of A then
// become the next O. In shared memory, of 3/2 n points: A at 0, V at n/2, O_1 at n, O_k at n >> k.
template <class F>
__global__ void __launch_bounds__(kMaxBlockSegments* PointLanes<F>::kLanes)
    block_lists_kernel(const Xyzz<F>* runs, const Xyzz<F>* weighted, ListShape shape, Xyzz<F>* out) {
  using Point = PointLanes<F>;
  CUZK_DYNAMIC_SHARED(Xyzz<F>, s);
  const u32 n = shape.block_segments, levels = shape.levels();
  const std::size_t first = std::size_t(blockIdx.x) * n;
  const u32 group = threadIdx.x / Point::kLanes, first_of_warp = threadIdx.x / kWarp * (kWarp / Point::kLanes);
  const auto place = [n](u32 list) { return list == 0 ? 0 : list == 1 ? n / 2 : list == 2 ? n : n >> (list - 1); };
  CUZK_NO_UNROLL
  for (u32 k = 1; k <= levels; k++) {
    const u32 half = n >> k, tasks = (k + 1) * half;  // at most n
    const u32 task = min(group, tasks - 1), list = task / half, i = task % half, at = place(list);
    Point sum = Point::infinity(), odd = sum;
    if (first_of_warp < tasks) {
      const Xyzz<F>* from = k > 1 ? &s[at] : (list == 0 ? runs : weighted) + first;
      sum = Point::load(&from[2 * i]);
      odd = Point::load(&from[2 * i + 1]);
      sum.add(odd);
    }
    __syncthreads();
    if (group < tasks) {
      sum.store(&s[at + i]);
      if (list == 0) odd.store(&s[k == 1 ? n : half] + i);
    }
    __syncthreads();
  }
  const u32 results = shape.block_results();
  if (group >= results) return;
  const u32 r = group;  // V, O_1, ..., A
  const u32 at = r == 0 ? n / 2 : r == results - 1 ? 0 : place(r + 1);
  const Xyzz<F>* from = levels == 0 ? (r == 0 ? weighted : runs) + first : &s[at];
  Point::load(from).store(&out[std::size_t(blockIdx.x) * results + r]);
}

// A block adds up one result of all blocks of a list.
template <class F>
__global__ void __launch_bounds__(kMaxSegments / kMaxBlockSegments / 2 * PointLanes<F>::kLanes)
    join_blocks_kernel(const Xyzz<F>* in, ListShape shape, Xyzz<F>* out) {
  using Point = PointLanes<F>;
  CUZK_DYNAMIC_SHARED(Xyzz<F>, s);
  const u32 result = blockIdx.x, list = blockIdx.y, blocks = shape.blocks(), pairs = max(blocks / 2, 1u);
  const u32 group = threadIdx.x / Point::kLanes, plain = shape.levels() + 1;  // results that are sums over all blocks
  const auto point = [&](u32 block) {
    const bool counts = block < blocks && (result < plain || (block >> (result - plain) & 1));
    return counts ? Point::load(&in[(std::size_t(list) * blocks + block) * shape.block_results() + min(result, plain)]) : Point::infinity();
  };
  Point sum = point(group);
  if (blocks > 1) sum.add(point(group + pairs));
  sum_in_block(sum, pairs, s);
  if (group == 0) sum.store(&out[std::size_t(list) * shape.results() + result]);
}

// A warp adds up the results of a list. The first has the weight 1, the others the powers of two from a segment's length on.
template <class F>
__global__ void __launch_bounds__(kWarp) weigh_results_kernel(const Xyzz<F>* in, ListShape shape, Xyzz<F>* out) {
  using Point = PointLanes<F>;
  const u32 list = blockIdx.x, results = shape.results();
  const Xyzz<F>* own = in + std::size_t(list) * results;
  Point sum = Point::load(&own[results - 1]);
  CUZK_NO_UNROLL
  for (u32 r = results - 1; r-- > 0;) {
    const u32 doublings = r > 0 ? 1 : shape.segment_bits();
    CUZK_NO_UNROLL
    for (u32 i = 0; i < doublings; i++) sum = sum.doubled();
    sum.add(Point::load(&own[r]));
  }
  if (threadIdx.x < Point::kLanes) sum.store(&out[list]);
}

// Scratch of a reduction, for all lists: `segments` runs and weighted sums, block_results() a block, results() a list.
template <class F>
struct ListScratch {
  Xyzz<F>*runs, *weighted, *blocks, *results;
};

template <class F>
constexpr u32 threads_of(u32 points) {  // whole warps
  return (points * PointLanes<F>::kLanes + kWarp - 1) / kWarp * kWarp;
}

template <class F>
void sum_segments(cudaStream_t stream, const Lists<F>& lists, u32 count, const ListShape& shape, const ListScratch<F>& s) {
  const u32 segments = count * shape.segments, per_block = kSegmentThreads / PointLanes<F>::kLanes;
  launch(segment_kernel<F>, (segments + per_block - 1) / per_block, kSegmentThreads, 0, stream, lists, shape, segments, s.runs, s.weighted);
}

// From runs and weighted sums to a point a list.
template <class F>
void reduce_segments(cudaStream_t stream, u32 lists, const ListShape& shape, const ListScratch<F>& s, Xyzz<F>* out) {
  const u32 points = std::max(shape.block_segments * 3 / 2, 2u);
  launch(block_lists_kernel<F>, lists * shape.blocks(), threads_of<F>(std::max(shape.block_segments, shape.block_results())), points * sizeof(Xyzz<F>),
         stream, s.runs, s.weighted, shape, s.blocks);
  const u32 pairs = std::max(shape.blocks() / 2, 1u);
  launch(join_blocks_kernel<F>, dim3(shape.results(), lists), threads_of<F>(pairs), pairs * sizeof(Xyzz<F>), stream, s.blocks, shape, s.results);
  launch(weigh_results_kernel<F>, lists, kWarp, 0, stream, s.results, shape, out);
}

}  // namespace cuzk::msm
