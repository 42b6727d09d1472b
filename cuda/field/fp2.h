// Quadratic extensions F[u], u^2 = -1, with the functions of field.h. One thread holds an element.
#pragma once

#include "field/field.h"

namespace cuzk {

template <class F>
struct Fp2 {
  using Base = F;
  F c0, c1;

  static CUZK_HD Fp2 zero() { return {F::zero(), F::zero()}; }
  static CUZK_HD Fp2 one() { return {F::one(), F::zero()}; }
};

using Bls12381Fp2 = Fp2<Bls12381Fp>;
using Bn254Fp2 = Fp2<Bn254Fp>;

template <class F>
CUZK_HD bool equal(const Fp2<F>& a, const Fp2<F>& b) {
  return equal(a.c0, b.c0) && equal(a.c1, b.c1);
}
template <class F>
CUZK_HD bool is_zero(const Fp2<F>& a) {
  return is_zero(a.c0) && is_zero(a.c1);
}
template <class F>
CUZK_HD bool is_zero_lazy(const Fp2<F>& a) {
  return is_zero_lazy(a.c0) && is_zero_lazy(a.c1);
}
template <class F>
CUZK_HD Fp2<F> select(bool condition, const Fp2<F>& yes, const Fp2<F>& no) {
  return {select(condition, yes.c0, no.c0), select(condition, yes.c1, no.c1)};
}

// ---- sums, by component ----

template <class F>
CUZK_HD Fp2<F> reduce(const Fp2<F>& a) {
  return {reduce(a.c0), reduce(a.c1)};
}
template <class F>
CUZK_HD Fp2<F> add(const Fp2<F>& a, const Fp2<F>& b) {
  return {add(a.c0, b.c0), add(a.c1, b.c1)};
}
template <class F>
CUZK_HD Fp2<F> sub(const Fp2<F>& a, const Fp2<F>& b) {
  return {sub(a.c0, b.c0), sub(a.c1, b.c1)};
}
template <class F>
CUZK_HD Fp2<F> dbl(const Fp2<F>& a) {
  return {dbl(a.c0), dbl(a.c1)};
}
template <class F>
CUZK_HD Fp2<F> neg(const Fp2<F>& a) {
  return {neg(a.c0), neg(a.c1)};
}
template <class F>
CUZK_HD Fp2<F> add_lazy(const Fp2<F>& a, const Fp2<F>& b) {
  return {add_lazy(a.c0, b.c0), add_lazy(a.c1, b.c1)};
}
template <class F>
CUZK_HD Fp2<F> sub_lazy(const Fp2<F>& a, const Fp2<F>& b) {
  return {sub_lazy(a.c0, b.c0), sub_lazy(a.c1, b.c1)};
}
template <class F>
CUZK_HD Fp2<F> dbl_lazy(const Fp2<F>& a) {
  return {dbl_lazy(a.c0), dbl_lazy(a.c1)};
}
template <class F>
CUZK_HD Fp2<F> neg_lazy(const Fp2<F>& a) {
  return {neg_lazy(a.c0), neg_lazy(a.c1)};
}
template <class F>
CUZK_HD Fp2<F> neg_if(bool negative, const Fp2<F>& a) {
  return {neg_if(negative, a.c0), neg_if(negative, a.c1)};
}

// ---- products ----

namespace chain {

// A product before its reductions, in three products by Karatsuba; integers of 2n limbs in two's complement. Both components
// include what a reduction wants beforehand if with_initial is set.
template <class F, bool with_initial>
struct WideProduct {
  using P = typename F::Params;
  static constexpr int n = F::kLimbs;
  u32 real[2 * n], sum[2 * n];  // a0 b0 - a1 b1 and a0 b0 + a1 b1

  CUZK_HD Token begin(const Fp2<F>& a, const Fp2<F>& b, Token token) {
    constexpr Words<2 * n> none = Step<P>::wide_none, initial = with_initial ? Step<P>::wide_initial : none;
    u32 t0[2 * n], t1[2 * n];
    token = mul_wide<n>(t0, a.c0.limb, b.c0.limb, initial, token);
    token = mul_wide<n>(t1, a.c1.limb, b.c1.limb, none, token);
    t0[0] += token;
    sub_chain<2 * n>(real, t0, t1);
    add_chain<2 * n>(sum, t0, t1);
    return token;
  }
  // imaginary = a0 b1 + a1 b0 = (a0 + a1)(b0 + b1) - sum
  CUZK_HD Token end(u32* imaginary, const Fp2<F>& a, const Fp2<F>& b, Token token) const {
    constexpr Words<2 * n> twice = with_initial ? Step<P>::wide_twice_initial : Step<P>::wide_none;
    u32 a01[n], b01[n], t[2 * n];
    add_chain<n>(a01, a.c0.limb, a.c1.limb);
    add_chain<n>(b01, b.c0.limb, b.c1.limb);
    token = mul_wide<n>(t, a01, b01, twice, token);
    t[0] += token;
    sub_chain<2 * n>(imaginary, t, sum);
    return token;
  }
};

// t / R below 2p, for a t whose quotient by R lies between -2p and p.
template <class F>
CUZK_HD F reduce_signed(const u32* t) {
  F r;
  reduce_wide<typename F::Params>(r.limb, t);
  return detail::make_positive<typename F::Params::Twice>(r);
}
// The same from below 2p.
template <class F>
CUZK_HD F reduce_large(const F& r) {
  if constexpr (F::Params::kSpareBits == 2) return detail::subtract_once<typename F::Params::Twice>(r);
  return r;
}
// Values below 2p do not reach their top bit.
template <class F>
CUZK_HD Token behind(const F& r) {
  return r.limb[F::kLimbs - 1] >> 31;
}

// Components of a product are below 2 (2p)^2 / R + 9p/8 after reduction: 1.8p for BLS12-381, 2.7p for BN254.
template <class F>
CUZK_HD Fp2<F> mul(const Fp2<F>& a, const Fp2<F>& b) {
  WideProduct<F, true> t;
  u32 imaginary[2 * F::kLimbs];
  Fp2<F> r;
  t.begin(a, b, 0);
  r.c0 = reduce_signed<F>(t.real);
  t.end(imaginary, a, b, behind(r.c0));
  reduce_wide<typename F::Params>(r.c1.limb, imaginary);
  r.c1 = reduce_large(r.c1);
  return r;
}

template <class F>
CUZK_HD Fp2<F> mul_sub(const Fp2<F>& a, const Fp2<F>& b, const Fp2<F>& c, const Fp2<F>& d) {
  constexpr int n = F::kLimbs;
  WideProduct<F, true> t;
  WideProduct<F, false> s;
  u32 imaginary[2 * n], subtrahend[2 * n];
  Fp2<F> r;
  Token token = t.begin(a, b, 0);
  token = t.end(imaginary, a, b, token);
  s.begin(c, d, token);
  sub_chain<2 * n>(t.real, t.real, s.real);
  r.c0 = reduce_large(reduce_signed<F>(t.real));
  s.end(subtrahend, c, d, behind(r.c0));
  sub_chain<2 * n>(imaginary, imaginary, subtrahend);
  r.c1 = reduce_large(reduce_signed<F>(imaginary));
  return r;
}

}  // namespace chain

template <class F>
CUZK_HD Fp2<F> mul_lazy(const Fp2<F>& a, const Fp2<F>& b) {
#if CUZK_USE_CHAINS
  return chain::mul(a, b);
#else
  return {mul_sub_lazy(a.c0, b.c0, a.c1, b.c1), mul_add_lazy(a.c0, b.c1, a.c1, b.c0)};
#endif
}
// (c0 + c1)(c0 - c1) + 2 c0 c1 u
template <class F>
CUZK_HD Fp2<F> sqr_lazy(const Fp2<F>& a) {
  return {mul_lazy(detail::sum_as_factor(a.c0, a.c1), sub_lazy(a.c0, a.c1)), mul_lazy(detail::sum_as_factor(a.c0, a.c0), a.c1)};
}
template <class F>
CUZK_HD Fp2<F> mul(const Fp2<F>& a, const Fp2<F>& b) {
  return reduce(mul_lazy(a, b));
}
template <class F>
CUZK_HD Fp2<F> sqr(const Fp2<F>& a) {
  return reduce(sqr_lazy(a));
}
template <class F>
CUZK_HD Fp2<F> mul_add_lazy(const Fp2<F>& a, const Fp2<F>& b, const Fp2<F>& c, const Fp2<F>& d) {
  return add_lazy(mul_lazy(a, b), mul_lazy(c, d));
}
template <class F>
CUZK_HD Fp2<F> mul_sub_lazy(const Fp2<F>& a, const Fp2<F>& b, const Fp2<F>& c, const Fp2<F>& d) {
#if CUZK_USE_CHAINS
  return chain::mul_sub(a, b, c, d);
#else
  return sub_lazy(mul_lazy(a, b), mul_lazy(c, d));
#endif
}

template <class F>
CUZK_HD Fp2<F> from_montgomery(const Fp2<F>& a) {
  return {from_montgomery(a.c0), from_montgomery(a.c1)};
}
template <class F>
CUZK_HD Fp2<F> to_montgomery(const Fp2<F>& a) {
  return {to_montgomery(a.c0), to_montgomery(a.c1)};
}

template <class F>
CUZK_NOINLINE __host__ __device__ Fp2<F> mul_call(const Fp2<F>& a, const Fp2<F>& b) {
  return mul_lazy(a, b);
}
// c0^2 + c1^2
template <class F>
CUZK_HD F norm(const Fp2<F>& a) {
  return mul_add_lazy(a.c0, a.c0, a.c1, a.c1);
}
// (c0 - c1 u) / norm, by the norm's inverse.
template <class F>
CUZK_HD Fp2<F> inverse_by_norm(const Fp2<F>& a, const F& inverse) {
  return {mul(reduce(a.c0), inverse), neg(mul(reduce(a.c1), inverse))};
}
// 0 for 0.
template <class F>
CUZK_NOINLINE __host__ __device__ Fp2<F> inverse(const Fp2<F>& a) {
  return inverse_by_norm(a, inverse(norm(a)));
}

}  // namespace cuzk
