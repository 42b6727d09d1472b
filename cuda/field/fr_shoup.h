// Products in a scalar field by a factor that is known beforehand (Shoup), as transforms want them. x may be any 256-bit
// integer, in Montgomery form or not: it keeps its form. The result is below p (1 + x / 2^256 + 2^-29), so below 2p where x
// is, and in any case below 2p + 2^226.
//
// Wide products: Fr of BLS12-381 87 and 14 narrow, Fr of BN254 99 and 16.
#pragma once

#include "field/field.h"

namespace cuzk {

// w, an integer below p, with q = floor(2^256 w / p).
template <class F>
struct alignas(16) Shoup {
  u32 w[F::kLimbs], q[F::kLimbs];
};

namespace chain {

// q = the limbs from 8 on of x w, from the columns 6 to 14: at most 1 too small, since what is left out is below 2^229.
CUZK_HD void high_half(u32* q, const u32* x, const u32* w) {
  u32 even[10], odd[9];  // even[i] is limb 6 + i, odd[i] is limb 7 + i
  mul_wide(even[0], even[1], x[0], w[6]);
  mul_wide(odd[0], odd[1], x[0], w[7]);
  even[2] = even[3] = 0;
  CUZK_UNROLL
  for (int j = 1; j < 8; j++) {
    const int from_even = j == 7 ? 1 : 6 - j, from_odd = 7 - j;  // the first limb of w
    u32 *e = even + j + from_even - 6, *o = odd + j + from_odd - 7;
    mad_chain(e, e, w + from_even, x[j], (9 - from_even) / 2);
    if (j % 2 == 0) even[j + 2] = addc(0, 0), even[j + 3] = 0;
    mad_chain(o, o, w + from_odd, x[j], (9 - from_odd) / 2);
    if (j % 2 == 1) odd[j + 1] = addc(0, 0);
    if (j % 2 == 1 && j < 7) odd[j + 2] = 0;
  }
  add_cc(even[1], odd[0]);
  CUZK_UNROLL
  for (int i = 0; i < 7; i++) q[i] = addc_cc(even[2 + i], odd[1 + i]);
  q[7] = addc(even[9], odd[8]);
}

// Adds x w mod 2^(32n) to even + 2^32 odd, of n and n - 1 limbs; n is even.
template <int n>
CUZK_HD void add_low_product(u32* even, u32* odd, const u32* x, const u32* w) {
  CUZK_UNROLL
  for (int j = 0; j < n; j++) {
    const int from_even = j % 2, from_odd = 1 - from_even;  // the first limb of w
    u32 *e = even + j + from_even, *o = odd + j + from_odd - 1, *top = odd + n - 2;
    mad_chain(e, e, w + from_even, x[j], (n - j) / 2);
    const int links = (n - 1 - j) / 2;
    mad_chain(o, o, w + from_odd, x[j], links);
    *top = links > 0 ? madc_lo(x[j], w[n - 1 - j], *top) : x[j] * w[n - 1 - j] + *top;
  }
}

// r = x w - q p with q from the high half of x `quotient`.
template <class P>
CUZK_HD void mul_shoup(u32* r, const u32* x, const u32* w, const u32* quotient) {
  constexpr Words<8> minus_p = P::kMinusModulus;
  u32 q[8], even[8], odd[7];
  high_half(q, x, quotient);
  CUZK_UNROLL
  for (int i = 0; i < 8; i++) even[i] = 0;
  CUZK_UNROLL
  for (int i = 0; i < 7; i++) odd[i] = Step<P>::by_q ? q[i] : 0;
  add_low_product<8>(even, odd, x, w);
  if constexpr (Step<P>::by_q) {  // -p = 2^64 (2^192 - Q) + 2^32 - 1
    add_low_product<6>(even + 2, odd + 2, q, minus_p.v + 2);
    even[0] = sub_cc(even[0], q[0]);
    CUZK_UNROLL
    for (int i = 1; i < 7; i++) even[i] = subc_cc(even[i], q[i]);
    even[7] = subc(even[7], q[7]);
  } else {
    add_low_product<8>(even, odd, q, minus_p.v);
  }
  r[0] = even[0];
  r[1] = add_cc(even[1], odd[0]);
  CUZK_UNROLL
  for (int i = 2; i < 7; i++) r[i] = addc_cc(even[i], odd[i - 1]);
  r[7] = addc(even[7], odd[6]);
}

}  // namespace chain

#if !CUZK_USE_CHAINS
namespace host {

// r = a b mod 2^256; `high` gets the upper half.
inline void mul_256(u64* low, u64* high, const u64* a, const u64* b) {
  u64 t[8] = {};
  for (int i = 0; i < 4; i++) {
    unsigned __int128 c = 0;
    for (int j = 0; j < 4; j++) {
      c += (unsigned __int128)a[j] * b[i] + t[i + j];
      t[i + j] = u64(c);
      c >>= 64;
    }
    t[i + 4] = u64(c);
  }
  std::memcpy(low, t, 32);
  if (high) std::memcpy(high, t + 4, 32);
}

template <class P>
inline void mul_shoup(u32* r, const u32* x32, const u32* w32, const u32* q32) {
  u64 x[4], w[4], q[4], p[4], quotient[4], product[4];
  constexpr auto modulus = P::kModulus;
  std::memcpy(x, x32, 32);
  std::memcpy(w, w32, 32);
  std::memcpy(q, q32, 32);
  std::memcpy(p, modulus.v, 32);
  mul_256(product, quotient, x, q);
  mul_256(product, nullptr, x, w);
  mul_256(quotient, nullptr, quotient, p);
  u32 a[8], b[8];
  std::memcpy(a, product, 32);
  std::memcpy(b, quotient, 32);
  words::sub_borrow<8>(r, a, b);
}

}  // namespace host
#endif

// x w mod p; below 2p for x below 2p.
template <class P>
CUZK_HD Field<P> mul_shoup(const Field<P>& x, const Shoup<Field<P>>& s) {
  static_assert(P::kLimbs == 8);
  Field<P> r;
#if CUZK_USE_CHAINS
  chain::mul_shoup<P>(r.limb, x.limb, s.w, s.q);
#else
  host::mul_shoup<P>(r.limb, x.limb, s.w, s.q);
#endif
  return r;
}

// a b / R mod p by Montgomery's reduction, for a canonical and b below 2p; below 2p.
template <class P>
CUZK_HD Field<P> mul_loose(const Field<P>& a, const Field<P>& b) {
  return detail::product(a, b);
}

// The canonical form of any 256-bit integer.
template <class P>
CUZK_HD Field<P> canonical(Field<P> a) {
  if constexpr (P::kSpareBits == 2) {  // up to 5.3 p
    a = detail::subtract_once<typename P::Twice>(a);
    a = detail::subtract_once<typename P::Twice>(a);
  } else {  // up to 2.2 p
    a = detail::subtract_once<typename P::Modulus>(a);
  }
  return reduce(a);
}

// The pair of an element in Montgomery form: 2^256 w = q p + c, where c is w in Montgomery form, so q = -c / p mod 2^256.
template <class P>
CUZK_HD Shoup<Field<P>> shoup(const Field<P>& c) {
  constexpr int n = P::kLimbs;
  constexpr Words<n> minus_inverse = P::kMinusInverse;
  Shoup<Field<P>> s;
  const Field<P> w = from_montgomery(c);
  CUZK_UNROLL
  for (int i = 0; i < n; i++) s.w[i] = w.limb[i], s.q[i] = 0;
  CUZK_UNROLL
  for (int i = 0; i < n; i++) {
    u64 carry = 0;
    CUZK_UNROLL
    for (int j = 0; i + j < n; j++) {
      carry += u64(c.limb[i]) * minus_inverse.v[j] + s.q[i + j];
      s.q[i + j] = u32(carry);
      carry >>= 32;
    }
  }
  return s;
}

}  // namespace cuzk
