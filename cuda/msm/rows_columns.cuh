// A window's buckets as a matrix, b = high 2^l + low: the sum of (b + 1) B_b is that of high 2^l times the sum of row `high`
// and that of low + 1 times the sum of column `low`. So sums of 2^15 buckets become lists of 2^8 points, of one kind for rows
// and one for columns.
//
// Two ways to the sums: affine sums of pairs, two additions a bucket, with an inversion to wait for at each of some ten
// levels; and by threads in XYZZ coordinates, which takes half as many products again and no waiting, where a sum fits a
// thread's registers.
#pragma once

#include "msm/pair_adder.h"
#include "msm/reduce.cuh"

namespace cuzk::msm {

struct Matrix {
  u32 row_bits, column_bits;  // log2 of the rows and of the columns

  explicit Matrix(u32 bucket_bits) : row_bits(bucket_bits - bucket_bits / 2), column_bits(bucket_bits / 2) {}
  CUZK_HD u32 rows() const { return 1u << row_bits; }
  CUZK_HD u32 columns() const { return 1u << column_bits; }
  CUZK_HD u32 bits() const { return row_bits + column_bits; }
};

// ---- by affine sums of pairs ----

// Points behind the buckets that this takes.
constexpr u64 halving_points(u64 buckets) { return 2 * buckets; }

// Halves rows and columns of all windows' buckets until one of each is left. Buckets are points 0 ... of `points`; the sums go
// behind them.
template <class F>
Lists<F> halve_buckets(cudaStream_t stream, const PointPlanes<F>& points, u32 windows, const Matrix& m, PairAdder<F>& adder) {
  u32 next = windows << m.bits(), rows = 0, columns = 0;
  for (u32 done = 0; done < m.row_bits; done++) {
    const u32 bits = m.bits() - done - 1;  // of what each window has after this step
    HalvedPairs<F> pairs{points, rows, 0, columns, windows << bits, bits};
    if (done < m.column_bits) pairs.row_pairs = windows << bits;
    adder.add(stream, pairs, PairResults<F>{points, next});
    if (pairs.row_pairs) rows = next;
    columns = next + pairs.row_pairs;
    next += pairs.size();
  }
  return {points, windows, {rows, m.rows(), 0}, {columns, m.columns(), 1}};
}

// ---- by threads ----

// Whether a sum of affine points fits a thread's registers.
template <class F>
constexpr bool kSumsByThreads = true;
template <class F>
constexpr bool kSumsByThreads<Fp2<F>> = false;

constexpr u32 kPartThreads = 128, kPartBlocks = 3;  // of a multiprocessor
constexpr u32 kWantedParts = 50000;                 // of all rows and columns: what an H200 holds at a time

// Parts of a row or column, a power of two: a thread adds up the points of one.
inline u32 parts_of(const Matrix& m, u32 windows) {
  u32 parts = 2;
  while (4 * parts <= m.columns() && 2 * parts * 2 * windows * m.rows() <= kWantedParts) parts *= 2;
  return std::min(parts, m.columns());
}

// Rows of all windows, then columns; as many columns as rows, the rest empty. Parts of one number lie together.
template <class F>
__global__ void __launch_bounds__(kPartThreads, kPartBlocks)
    parts_kernel(PointPlanes<F> points, u32 windows, Matrix m, u32 parts, Xyzz<F>* out) {
  const u32 t = blockIdx.x * kPartThreads + threadIdx.x, all = 2 * windows << m.row_bits;
  if (t >= all * parts) return;
  const u32 part = t / all, i = t % m.rows(), list = t % all >> m.row_bits;
  const bool row = list < windows;
  const u32 buckets = (row ? list : list - windows) << m.bits();
  const u32 length = (row ? m.columns() : i < m.columns() ? m.rows() : 0) / parts, step = row ? 1 : m.columns();
  const u32 first = buckets + (row ? i * m.columns() : i) + part * length * step;
  Xyzz<F> sum = Xyzz<F>::infinity();
  CUZK_NO_UNROLL
  for (u32 j = 0; j < length; j++) add_mixed(sum, points.point(first + j * step));
  store(&out[t], sum);
}

// Adds the second half of the points to the first. At last also tells the weighted sums of segments of one point: of a row
// nothing, of a column itself.
template <class F>
__global__ void __launch_bounds__(kPartThreads, kPartBlocks) join_parts_kernel(Xyzz<F>* points, u32 half, u32 rows, Xyzz<F>* weighted) {
  using Point = PointLanes<F>;
  const u32 group = (blockIdx.x * kPartThreads + threadIdx.x) / Point::kLanes, at = min(group, half - 1);
  Point sum = Point::load(&points[at]);
  sum.add(Point::load(&points[at + half]));
  if (group != at) return;
  sum.store(&points[at]);
  if (weighted) (at < rows ? Point::infinity() : sum).store(&weighted[at]);
}

// Leaves the sums of rows and columns as runs, and weighted sums, of segments of one point.
template <class F>
void sum_rows_and_columns(cudaStream_t stream, const PointPlanes<F>& points, u32 windows, const Matrix& m, const ListScratch<F>& s) {
  const u32 parts = parts_of(m, windows), rows = windows << m.row_bits;
  launch(parts_kernel<F>, (2 * rows * parts + kPartThreads - 1) / kPartThreads, kPartThreads, 0, stream, points, windows, m, parts, s.runs);
  const u32 per_block = kPartThreads / PointLanes<F>::kLanes;
  for (u32 half = rows * parts; half >= 2 * rows; half /= 2)
    launch(join_parts_kernel<F>, (half + per_block - 1) / per_block, kPartThreads, 0, stream, s.runs, half, rows, half == 2 * rows ? s.weighted : nullptr);
}

}  // namespace cuzk::msm
