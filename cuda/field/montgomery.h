// Montgomery products as carry chains of 32-bit limbs, for the device.
//
// The sum so far is kept as even + 2^32 odd, N limbs each, so that every product of two limbs is one IMAD.WIDE onto an
// aligned pair. A row adds a b_i; a step then makes the lowest limb vanish and divides by 2^32, upon which `even` and
// `odd` have changed roles.
//
// The step. Let f = 1/p mod 2^32 and f p = 1 + 2^32 K. Adding m f p with m = ~t to a sum whose lowest limb is t leaves
// 2^32 - 1 there and needs no multiplication to find m, no product for the lowest limb, and no carry out of it. That the
// limb becomes all ones instead of zero is made good by adding the ones to the sum beforehand. Steps by f p would leave up
// to f p in the result if the last were one; so the last step takes the usual m = -t/p and p, and what the others leave is
// f p / 2^32 < p / 8 in our fields. Result: below a b / R + p + p / 8.
//
// Where p = 2^64 Q - 2^32 + 1 (Fr of BLS12-381), f is 1 and K = 2^32 Q - 1, so all steps are alike and cost N - 2 products.
//
// Wide products, as counted in SASS for sm_90: N = 12: 288 and one narrow, squares 222, sums of two products 432; N = 8: 128,
// 100, 192; by Q: 112.
#pragma once

#include "field/carry.h"
#include "field/moduli.h"

namespace cuzk::chain {

// What is added beforehand: the ones of all steps but the last.
template <int n>
constexpr Words<n> initial_ones() {
  Words<n> r{};
  for (int i = 0; i < n - 1; i++) r.v[i] = 0xffffffff;
  return r;
}

// With Q, m K 2^32 = m Q 2^64 + t 2^32 - (2^32 - 1) 2^32, and the last term is left out in all n steps, so it is taken off
// here: (2^(32n) - 1) (1 - 2^32) mod p.
template <int n>
constexpr Words<n> initial_by_q(const Words<n>& p) {
  using namespace constants;
  const Words<n> plus = sum(power_of_two(p, 32 * n), power_of_two(p, 32), p);
  const Words<n> minus = sum(power_of_two(p, 32 * n + 32), power_of_two(p, 0), p);
  return difference(plus, minus, p);
}

// What the steps of a field need at compile time.
template <class P>
struct Step {
  static constexpr int n = P::kLimbs;
  static constexpr u32 f = P::kInverse.v[0];
  static constexpr bool by_q = P::kModulus.v[0] == 1 && P::kModulus.v[1] == 0xffffffff;
  static constexpr Words<n> k = by_q ? constants::q_of(P::kModulus) : constants::multiple_above_one(P::kModulus, f);
  static constexpr Words<n> initial = by_q ? initial_by_q(P::kModulus) : initial_ones<n>();
  static constexpr Words<2 * n> wide_none{};
  static constexpr Words<2 * n> wide_initial = constants::widened(initial);
  static constexpr Words<2 * n> wide_twice_initial = constants::plus(wide_initial, wide_initial);
};

// even + 2^32 odd += a b. The whole sum stays below 2^(32(n+1)), so only the even chain carries out.
template <int n>
CUZK_HD void add_row(u32* even, u32* odd, const u32* a, u32 b) {
  mad_chain(odd, odd, a + 1, b, n / 2);
  mad_chain(even, even, a, b, n / 2);
  odd[n - 1] = addc(odd[n - 1], 0);
}

template <class P>
CUZK_HD void first_row(u32* even, u32* odd, const u32* a, u32 b) {
  constexpr int n = P::kLimbs;
  constexpr Words<n> initial = Step<P>::initial;
  CUZK_UNROLL
  for (int j = 0; j < n; j += 2) mul_wide(odd[j], odd[j + 1], a[j + 1], b);
  mad_chain(even, initial.v, a, b, n / 2);
  odd[n - 1] = addc(odd[n - 1], 0);
}

// Divides even + 2^32 odd by 2^32, whose lowest limb is dropped, and adds a b, and `top` at limb n - 1. Then `odd` holds the
// even part and `even` the odd one.
template <int n>
CUZK_HD void shift_and_add_row(u32* even, u32* odd, const u32* a, u32 b, u32 top = 0) {
  const u32 last[2] = {top, 0};
  odd[0] = add_cc(odd[0], even[1]);
  mad_chain(even, even + 2, a + 1, b, n / 2 - 1, true);
  mad_chain(even + n - 2, last, a + n - 1, b, 1, true);
  mad_chain(odd, odd, a, b, n / 2);
  even[n - 1] = addc(even[n - 1], 0);
}

// A step: makes the lowest limb vanish, divides by 2^32 and adds `top` at limb n - 1. Then `odd` holds the even part and
// `even` the odd one.
template <class P>
CUZK_HD void step(u32* even, u32* odd, u32 top = 0) {
  constexpr Words<P::kLimbs> k = Step<P>::k;
  shift_and_add_row<P::kLimbs>(even, odd, k.v, ~even[0], top);
}

// The last step, and the sum of both parts.
template <class P>
CUZK_HD void finish(u32* r, u32* even, u32* odd, u32 top = 0) {
  constexpr int n = P::kLimbs;
  constexpr Words<n> p = P::kModulus;
  const u32 m = even[0] * (0u - Step<P>::f);
  mad_chain(odd, odd, p.v + 1, m, n / 2);
  mad_chain(even, even, p.v, m, n / 2);
  odd[n - 1] = addc(odd[n - 1], top);
  r[0] = add_cc(even[1], odd[0]);
  CUZK_UNROLL
  for (int j = 1; j < n - 1; j++) r[j] = addc_cc(even[j + 1], odd[j]);
  r[n - 1] = addc(odd[n - 1], 0);
}

// The part of a step with Q that comes before the division.
template <class P>
CUZK_HD void vanish_by_q(u32* even, u32* odd) {
  constexpr int n = P::kLimbs;
  constexpr Words<n> q = Step<P>::k;
  const u32 t = even[0];
  odd[0] = add_cc(odd[0], t);
  odd[1] = addc_cc(odd[1], 0);
  mad_chain(odd + 2, odd + 2, q.v + 1, ~t, n / 2 - 1, true);
  mad_chain(even + 2, even + 2, q.v, ~t, n / 2 - 1);
  odd[n - 1] = addc(odd[n - 1], 0);
}

template <class P>
CUZK_HD void finish_by_q(u32* r, u32* even, u32* odd) {
  constexpr int n = P::kLimbs;
  vanish_by_q<P>(even, odd);
  r[0] = add_cc(even[1], odd[0]);
  CUZK_UNROLL
  for (int j = 1; j < n - 1; j++) r[j] = addc_cc(even[j + 1], odd[j]);
  r[n - 1] = addc(odd[n - 1], 0);
}

// r = a b / R
template <class P>
CUZK_HD void mul(u32* r, const u32* a, const u32* b) {
  constexpr int n = P::kLimbs;
  u32 x[n], y[n];
  const auto next_row = [&](u32* even, u32* odd, int i) {
    if constexpr (Step<P>::by_q) {
      vanish_by_q<P>(even, odd);
      shift_and_add_row<n>(even, odd, a, b[i]);
    } else {
      step<P>(even, odd);
      add_row<n>(odd, even, a, b[i]);
    }
  };
  first_row<P>(x, y, a, b[0]);
  CUZK_UNROLL
  for (int i = 1; i < n; i++) next_row(i % 2 ? x : y, i % 2 ? y : x, i);
  if constexpr (Step<P>::by_q) finish_by_q<P>(r, y, x);
  else finish<P>(r, y, x);
}

// r = (a b + c d) / R
template <class P>
CUZK_HD void mul_add(u32* r, const u32* a, const u32* b, const u32* c, const u32* d) {
  static_assert(!Step<P>::by_q);
  constexpr int n = P::kLimbs;
  u32 x[n], y[n];
  first_row<P>(x, y, a, b[0]);
  add_row<n>(x, y, c, d[0]);
  CUZK_UNROLL
  for (int i = 1; i < n; i++) {
    u32 *even = i % 2 ? x : y, *odd = i % 2 ? y : x;
    step<P>(even, odd);
    add_row<n>(odd, even, a, b[i]);
    add_row<n>(odd, even, c, d[i]);
  }
  finish<P>(r, y, x);
}

// A zero of which the compiler does not know that it is one: adding it to the first operand of a computation puts that
// behind the one which the zero comes from. Without such an order the compiler runs so many independent carry chains side
// by side that it spills their flags.
using Token = u32;

// r = a b + c, 2n limbs, which must hold it.
template <int n>
CUZK_HD Token mul_wide(u32* r, const u32* a, const u32* b, const Words<2 * n>& c, Token token) {
  u32 x[n], y[n];
  const u32 b0 = b[0] + token;
  CUZK_UNROLL
  for (int j = 0; j < n; j += 2) mul_wide(y[j], y[j + 1], a[j + 1], b0);
  mad_chain(x, c.v, a, b0, n / 2);
  y[n - 1] = addc(y[n - 1], 0);
  CUZK_UNROLL
  for (int i = 1; i < n; i++) {
    u32 *even = i % 2 ? x : y, *odd = i % 2 ? y : x;
    r[i - 1] = even[0];
    shift_and_add_row<n>(even, odd, a, b[i], c.v[n - 1 + i]);
  }
  // y is the even part.
  r[n - 1] = y[0];
  r[n] = add_cc(y[1], x[0]);
  CUZK_UNROLL
  for (int j = 2; j < n; j++) r[n - 1 + j] = addc_cc(y[j], x[j - 1]);
  r[2 * n - 1] = addc_cc(x[n - 1], c.v[2 * n - 1]);
  return addc(0, 0);
}

// r = t / R, where t of 2n limbs includes Step<P>::initial. A negative t in two's complement gives such an r.
template <class P>
CUZK_HD void reduce_wide(u32* r, const u32* t) {
  constexpr int n = P::kLimbs;
  u32 x[n], y[n];
  CUZK_UNROLL
  for (int j = 0; j < n; j++) x[j] = t[j], y[j] = 0;
  CUZK_UNROLL
  for (int i = 0; i < n - 1; i++) step<P>(i % 2 ? y : x, i % 2 ? x : y, t[n + i]);
  finish<P>(r, y, x, t[2 * n - 1]);
}

// Row i of a square: a_i (a_i 2^(32i) + sum of 2 a_k 2^(32k) over k > i), where `doubled` has the limbs of 2a.
template <int n>
CUZK_HD void add_square_row(u32* even, u32* odd, const u32* a, const u32* doubled, int i) {
  u32 factor[n];
  CUZK_UNROLL
  for (int k = 0; k < n; k++) factor[k] = k == i ? a[k] : k == i + 1 ? a[k] << 1 : doubled[k];
  const int first_odd = i | 1, first_even = (i + 1) & ~1;
  u32 *o = odd + first_odd - 1, *e = even + first_even;
  mad_chain(o, o, factor + first_odd, a[i], (n - first_odd + 1) / 2);
  if (first_even == n) return;
  mad_chain(e, e, factor + first_even, a[i], (n - first_even) / 2);
  odd[n - 1] = addc(odd[n - 1], 0);
}

// r = a^2 / R, for a below 2^(32n-1)
template <class P>
CUZK_HD void sqr(u32* r, const u32* a) {
  static_assert(!Step<P>::by_q);
  constexpr int n = P::kLimbs;
  u32 x[n], y[n], doubled[n], factor[n];
  doubled[0] = doubled[1] = 0;  // not read
  CUZK_UNROLL
  for (int k = 2; k < n; k++) doubled[k] = a[k] << 1 | a[k - 1] >> 31;
  CUZK_UNROLL
  for (int k = 0; k < n; k++) factor[k] = k == 0 ? a[0] : k == 1 ? a[1] << 1 : doubled[k];
  first_row<P>(x, y, factor, a[0]);
  CUZK_UNROLL
  for (int i = 1; i < n; i++) {
    u32 *even = i % 2 ? x : y, *odd = i % 2 ? y : x;
    step<P>(even, odd);
    add_square_row<n>(odd, even, a, doubled, i);
  }
  finish<P>(r, y, x);
}

}  // namespace cuzk::chain
