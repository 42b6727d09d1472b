// From the buckets of all windows to a few points a window, whose weights are powers of two; the host adds those up.
//
// A window's sum is that of (b + 1) B_b over its buckets. Large sets of buckets are first seen as a matrix with
// b = high 2^l + low: the sums of its columns (over high) have the weights low + 1, those of its rows (over low) the weights
// high 2^l. Both are made by affine sums of pairs, two additions a bucket. What remains is one or two lists a window with
// weights i + 1 or i:
//   1. A thread takes a segment of the list: run = sum of its points, weighted = sum of (j or j + 1) times its j-th point.
//   2. A block takes 2^s segments in shared memory: sum of i run_i = sum of 2^(k-1) O_k, where O_k is the sum of the odd
//      entries after runs have been added in pairs k - 1 times.
//   3. The blocks of a window are added up, their runs separately for every bit of the block's number.
#pragma once

#include "msm/pair_adder.h"

namespace cuzk::msm {

constexpr u32 kSegmentThreads = 128;
constexpr u32 kMaxBlockSegments = 256;
constexpr u32 kMaxSegments = 4096;       // of a list
constexpr u32 kWantedSegments = 1 << 16;  // of all lists: what keeps the device busy
constexpr u32 kMinSegment = 4;

CUZK_HD u32 log2_of(u32 power) {
  u32 r = 0;
  while (power >> (r + 1)) r++;
  return r;
}

// How a list of 2^k points is cut.
struct ListShape {
  u32 items, segments, block_segments;

  ListShape(u32 items_, u32 lists) : items(items_) {
    segments = 1;
    while (2 * segments * kMinSegment <= items && 2 * segments <= kMaxSegments && 2 * segments * lists <= kWantedSegments) segments *= 2;
    block_segments = std::min(segments, kMaxBlockSegments);
  }
  CUZK_HD u32 segment() const { return items / segments; }
  CUZK_HD u32 blocks() const { return segments / block_segments; }
  CUZK_HD u32 levels() const { return log2_of(block_segments); }  // of the block's tree
  CUZK_HD u32 block_bits() const { return log2_of(blocks()); }
  CUZK_HD u32 block_results() const { return levels() + 2; }              // weighted, O_1 ..., runs
  CUZK_HD u32 results() const { return levels() + 1 + block_bits(); }     // weighted, O_1 ..., one for every bit of the block
  // log2 of the weight of a result
  CUZK_HD u32 weight(u32 result) const { return result == 0 ? 0 : log2_of(segment()) + result - 1; }
};

// Lists of all windows: window w's begins at point `from` + w items.
template <class F>
struct Lists {
  PointPlanes<F> points;
  u32 from;
  u32 first_weight;  // of a list's first point: 0 or 1
};

template <class F>
__global__ void __launch_bounds__(kSegmentThreads, 3) segment_kernel(Lists<F> lists, ListShape shape, Xyzz<F>* runs, Xyzz<F>* weighted) {
  const u32 segment = blockIdx.x * blockDim.x + threadIdx.x, list = blockIdx.y, length = shape.segment();
  if (segment >= shape.segments) return;
  const u32 first = lists.from + list * shape.items + segment * length;
  Xyzz<F> run = Xyzz<F>::infinity(), sum = Xyzz<F>::infinity();
  CUZK_NO_UNROLL
  for (u32 j = length; j-- > 0;) {
    add_mixed(run, lists.points.point(first + j));
    if (j + lists.first_weight > 0) add(sum, run);
  }
  const u32 at = list * shape.segments + segment;
  store(&runs[at], run);
  store(&weighted[at], sum);
}

// Every step adds neighbours in all lists: the runs A, the weighted sums V, and O_1, O_2, ...; the odd entries of A then
// become the next O. In shared memory, of 3/2 n points: A at 0, V at n/2, O_1 at n, O_k at n >> k.
template <class F>
__global__ void __launch_bounds__(kMaxBlockSegments) block_lists_kernel(const Xyzz<F>* runs, const Xyzz<F>* weighted, ListShape shape, Xyzz<F>* out) {
  CUZK_DYNAMIC_SHARED(Xyzz<F>, s);
  const u32 n = shape.block_segments, levels = shape.levels();
  const std::size_t first = std::size_t(blockIdx.x) * n;
  const auto place = [n](u32 list) { return list == 0 ? 0 : list == 1 ? n / 2 : list == 2 ? n : n >> (list - 1); };
  for (u32 k = 1; k <= levels; k++) {
    const u32 half = n >> k, tasks = (k + 1) * half;  // at most n
    const u32 task = threadIdx.x, list = task / half, i = task % half, at = place(list);
    Xyzz<F> sum, odd;
    if (task < tasks) {
      const Xyzz<F>* from = k > 1 ? &s[at] : (list == 0 ? runs : weighted) + first;
      sum = load(&from[2 * i]);
      odd = load(&from[2 * i + 1]);
      add(sum, odd);
    }
    __syncthreads();
    if (task < tasks) {
      store(&s[at + i], sum);
      if (list == 0) store(&s[k == 1 ? n : half] + i, odd);
    }
    __syncthreads();
  }
  if (levels == 0) {
    if (threadIdx.x == 0) store(&s[0], load(&runs[first])), store(&s[1], load(&weighted[first]));
    __syncthreads();
  }
  const u32 results = shape.block_results();
  if (threadIdx.x < results) {
    const u32 r = threadIdx.x;  // V, O_1, ..., A
    const u32 at = levels == 0 ? 1 - r : r == 0 ? n / 2 : r == results - 1 ? 0 : place(r + 1);
    store(&out[std::size_t(blockIdx.x) * results + r], load(&s[at]));
  }
}

// A block adds up the results of the blocks of one list; a thread holds one result of one block.
template <class F>
__global__ void __launch_bounds__(kMaxBlockSegments) join_blocks_kernel(const Xyzz<F>* in, ListShape shape, Xyzz<F>* out) {
  CUZK_DYNAMIC_SHARED(Xyzz<F>, s);
  const u32 blocks = shape.blocks(), result = threadIdx.x / blocks, block = threadIdx.x % blocks;
  const Xyzz<F>* from = in + (std::size_t(blockIdx.x) * blocks + block) * shape.block_results();
  Xyzz<F> sum = Xyzz<F>::infinity();
  const u32 plain = shape.levels() + 1;
  if (result < plain) sum = load(&from[result]);
  else if (block >> (result - plain) & 1) sum = load(&from[plain]);
  store(&s[threadIdx.x], sum);
  __syncthreads();
  for (u32 h = blocks / 2; h >= 1; h /= 2) {
    if (block < h) add(sum, load(&s[threadIdx.x + h]));
    __syncthreads();
    if (block < h) store(&s[threadIdx.x], sum);
    __syncthreads();
  }
  if (block == 0) store(&out[std::size_t(blockIdx.x) * shape.results() + result], sum);
}

// Writes results() points a window. Scratch: `segments` runs and weighted sums and `block_results` a block, for all windows.
template <class F>
void reduce_lists(cudaStream_t stream, const Lists<F>& lists, u32 windows, const ListShape& shape, Xyzz<F>* runs, Xyzz<F>* weighted,
                  Xyzz<F>* blocks, Xyzz<F>* out) {
  launch(segment_kernel<F>, dim3((shape.segments + kSegmentThreads - 1) / kSegmentThreads, windows), kSegmentThreads, 0, stream, lists, shape,
         runs, weighted);
  const u32 points = std::max(shape.block_segments * 3 / 2, 2u);
  launch(block_lists_kernel<F>, windows * shape.blocks(), std::max(shape.block_segments, kWarp), points * sizeof(Xyzz<F>), stream, runs,
         weighted, shape, blocks);
  const u32 threads = shape.results() * shape.blocks();
  launch(join_blocks_kernel<F>, windows, threads, threads * sizeof(Xyzz<F>), stream, blocks, shape, out);
}

// ---- rows and columns ----

// Halves rows and columns of all windows' buckets until the lists are short. Buckets are points 0 ... of `points`; the sums
// go behind them.
struct MatrixShape {
  u32 row_bits, column_bits;  // log2 of the rows and of the columns of a window's matrix
  u32 rows, columns;          // where the sums begin

  static u32 column_bits_of(u32 bucket_bits) { return bucket_bits / 2; }
  // Points behind the buckets.
  static u64 extra_points(u64 buckets) { return 2 * buckets; }
};

template <class F>
MatrixShape halve_buckets(cudaStream_t stream, const PointPlanes<F>& points, u32 windows, u32 bucket_bits, PairAdder<F>& adder) {
  MatrixShape m{};
  m.column_bits = MatrixShape::column_bits_of(bucket_bits);
  m.row_bits = bucket_bits - m.column_bits;
  u32 next = windows << bucket_bits;
  for (u32 done = 0; done < m.row_bits; done++) {
    const u32 bits = bucket_bits - done - 1;  // of what each window has after this step
    HalvedPairs<F> pairs{points, m.rows, 0, m.columns, windows << bits, bits};
    if (done < m.column_bits) pairs.row_pairs = windows << bits;
    adder.add(stream, pairs, PairResults<F>{points, next});
    if (pairs.row_pairs) m.rows = next;
    m.columns = next + pairs.row_pairs;
    next += pairs.size();
  }
  return m;
}

}  // namespace cuzk::msm
