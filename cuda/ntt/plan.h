// How a transform is cut into passes, and the order of coefficients that follows from it.
#pragma once

#include "base/platform.h"

namespace cuzk::ntt {

constexpr int kMaxLog = 28;
// Up to this size one block does the whole transform.
constexpr int kOneBlockLog = 11;

// A transform of 2^log_n points is done over the digits of the index, one pass a digit: index = (first, middle, last),
// the last being contiguous in memory; sizes are logarithms. Every pass transforms over its digit in place, so that
// coefficients come out with their digits where those of the values were: in the order that position() tells. The
// inverse transform goes first, middle, last, the forward one back, and nothing is ever reversed.
struct Plan {
  int log_n = 0;
  int first = 0, middle = 0, last = 0;  // all zero: one block; middle zero: two passes

  constexpr bool one_block() const { return first == 0; }
  constexpr bool three_passes() const { return middle != 0; }
  // Elements from one value of the first digit to the next.
  constexpr int log_first_stride() const { return middle + last; }
  constexpr u64 size() const { return u64(1) << log_n; }

  // Where coefficient i stands.
  constexpr u64 position(u64 i) const {
    if (one_block()) return i;
    const auto digit = [&](int bits) {
      const u64 d = i & ((u64(1) << bits) - 1);
      i >>= bits;
      return d;
    };
    const u64 a = digit(first), b = digit(middle), c = digit(last);
    return (a << log_first_stride()) + (b << last) + c;
  }
};

// Sizes that passes can have: the first digit 6 to 10, the others 6 or 9.
constexpr Plan make_plan(int first, int middle, int last) { return {first + middle + last, first, middle, last}; }

// The fastest plan found for a size.
constexpr Plan standard_plan(int log_n) {
  if (log_n <= kOneBlockLog) return {log_n};
  if (log_n <= 15) return make_plan(log_n - 6, 0, 6);
  if (log_n <= 18) return make_plan(log_n - 9, 0, 9);
  if (log_n <= 21) return make_plan(log_n - 12, 6, 6);
  if (log_n <= 24) return make_plan(log_n - 15, 6, 9);
  return make_plan(log_n - 18, 9, 9);
}

}  // namespace cuzk::ntt
