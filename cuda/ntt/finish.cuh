// Where a pass reads its values, and what it does to the results before it stores them.
#pragma once

#include "ntt/pairs.cuh"

namespace cuzk::ntt {

// ---- sources ----
//
// kCheap: a thread may read its eight values all at once. Where a value is computed it reads a few at a time; eight products
// side by side would not fit its registers.

template <class Fr>
struct Dense {
  static constexpr bool kCheap = true;
  const Fr* in;
  CUZK_D Fr at(u32 position) const { return load_stream(in + position); }
};

// A vector that ends before the transform does: zeros follow.
template <class Fr>
struct Padded {
  static constexpr bool kCheap = true;
  const Fr* in;
  u32 length;
  CUZK_D Fr at(u32 position) const { return position < length ? load_stream(in + position) : Fr::zero(); }
};

// The products of two vectors of canonical values, zeros behind their end.
template <class Fr>
struct Product {
  static constexpr bool kCheap = false;
  const Fr *a, *b;
  u32 length;
  CUZK_D Fr at(u32 position) const {
    return position < length ? mul_loose(load_stream(a + position), load_stream(b + position)) : Fr::zero();
  }
};

// ---- finishes ----

// Times a factor for every position: a canonical Montgomery table as large as the transform.
template <class Fr>
struct LargeTable {
  const Fr* factors;
  CUZK_D Fr apply(u32 position, const Fr& v) const { return mul_loose(load_stream(factors + position), v); }
};

// The same factors from two tables that fit a cache: one for the outermost digit and the low bits of the rest of the
// position, one for that digit and the high bits.
template <class Fr>
struct PairTable {
  Pairs<Fr> low, high;
  u32 log_first_stride, log_low;
  // Steps in the tables for one of the first digit, and for one of the rest: what varies within a block is contiguous.
  u32 low_digit_step, low_rest_step, high_digit_step, high_rest_step;
  CUZK_D Fr apply(u32 position, Fr v) const {
    const u32 digit = position >> log_first_stride;
    const u32 rest = position & ((1u << log_first_stride) - 1);
    v = mul_shoup(v, low.at(digit * low_digit_step + (rest & ((1u << log_low) - 1)) * low_rest_step));
    return mul_shoup(v, high.at(digit * high_digit_step + (rest >> log_low) * high_rest_step));
  }
};

// Times a factor that depends on the low bits of the position alone; the last pass makes the value canonical.
template <class Fr, bool kLast>
struct SmallTable {
  Pairs<Fr> factors;  // a power of two of them
  CUZK_D Fr apply(u32 position, const Fr& v) const {
    const Fr r = mul_shoup(v, factors.at(position & (factors.size - 1)));
    return kLast ? reduce(r) : r;
  }
};

// Makes the value canonical, after a product with or a subtraction from another vector of canonical values.
enum class Pointwise : u32 { kNone, kMultiply, kSubtractFrom };
template <class Fr>
struct Combine {
  Pointwise operation;
  const Fr* other;
  CUZK_D Fr apply(u32 position, Fr v) const {
    switch (operation) {
      case Pointwise::kNone: break;
      case Pointwise::kMultiply: v = mul_loose(load_stream(other + position), v); break;
      case Pointwise::kSubtractFrom: v = sub_lazy(load_stream(other + position), v); break;
    }
    return reduce(v);
  }
};

}  // namespace cuzk::ntt
