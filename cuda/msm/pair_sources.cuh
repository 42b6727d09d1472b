// Where the two operands of a pair come from: what the kernels of pair_sums.cuh are told to add.
#pragma once

#include "msm/point_planes.cuh"
#include "msm/windows.h"

namespace cuzk::msm {

// An operand is the number of a base or point, for signed sources with the sign in the top bit.
struct Operands {
  u32 first, second;
};

// Bases by their numbers, with signs: level 0 of the bucket tree, and sums of ones.
template <class F>
struct BasePairs {
  static constexpr bool kSigned = true;
  const Affine<F>* bases;
  const uint2* pairs;
  const u32* count;  // in device memory; if null, known
  u32 known;

  CUZK_D u32 size() const { return count ? *count : known; }
  CUZK_D Operands operands(u32 t) const {
    const uint2 p = __ldcs(pairs + t);
    return {p.x, p.y};
  }
  CUZK_D F x(u32 operand) const { return load_ro(&bases[operand & ~kSign].x); }
  CUZK_D F y(u32 operand) const { return load_ro(&bases[operand & ~kSign].y); }
};

// Points by their numbers: later levels of the bucket tree.
template <class F>
struct ListedPairs {
  static constexpr bool kSigned = false;
  PointPlanes<F> points;
  const uint2* pairs;
  const u32* count;

  CUZK_D u32 size() const { return *count; }
  CUZK_D Operands operands(u32 t) const {
    const uint2 p = __ldcs(pairs + t);
    return {p.x, p.y};
  }
  CUZK_D F x(u32 operand) const { return points.x(operand); }
  CUZK_D F y(u32 operand) const { return points.y(operand); }
};

// Halves rows and columns: neighbours (2t, 2t + 1) of the row part, and point i with i + 2^column_bits of every
// 2^(column_bits + 1) of the column part. The sums of rows come first.
template <class F>
struct HalvedPairs {
  static constexpr bool kSigned = false;
  PointPlanes<F> points;
  u32 rows_from, row_pairs;
  u32 columns_from, column_pairs, column_bits;

  CUZK_HD u32 size() const { return row_pairs + column_pairs; }
  CUZK_D Operands operands(u32 t) const {
    if (t < row_pairs) return {rows_from + 2 * t, rows_from + 2 * t + 1};
    t -= row_pairs;
    const u32 high = t >> column_bits, low = t & ((1u << column_bits) - 1);
    const u32 i = columns_from + (high << (column_bits + 1)) + low;
    return {i, i + (1u << column_bits)};
  }
  CUZK_D F x(u32 operand) const { return points.x(operand); }
  CUZK_D F y(u32 operand) const { return points.y(operand); }
};

}  // namespace cuzk::msm
