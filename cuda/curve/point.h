// Points of short Weierstrass curves y^2 = x^3 + b, generic over the coordinate field F.
//
// Affine<F>: canonical coordinates; infinity is (0, 0), as gnark-crypto and snarkjs have it. Xyzz<F>: x = X/ZZ, y = Y/ZZZ,
// ZZ^3 = ZZZ^2, lazy coordinates; infinity has ZZ all zero words. The sums are complete: equal, opposite and infinite
// operands give the right point. (Formulas: EFD, "XYZZ coordinates", madd-2008-s, add-2008-s, dbl-2008-s-1. None of our
// groups has a point of order two.)
#pragma once

#include "field/fp2.h"

namespace cuzk {

template <class F>
struct Affine {
  using Coordinate = F;
  F x, y;
  static CUZK_HD Affine infinity() { return {F::zero(), F::zero()}; }
};

template <class F>
struct Xyzz {
  using Coordinate = F;
  F x, y, zz, zzz;
  static CUZK_HD Xyzz infinity() { return {F::zero(), F::zero(), F::zero(), F::zero()}; }
  static CUZK_HD Xyzz of(const Affine<F>& a);
};

template <class F>
CUZK_HD bool is_infinity(const Affine<F>& a) {
  return is_zero(a.x) && is_zero(a.y);
}
template <class F>
CUZK_HD bool is_infinity(const Xyzz<F>& a) {
  return is_zero(a.zz);
}

template <class F>
CUZK_HD Xyzz<F> Xyzz<F>::of(const Affine<F>& a) {
  if (cuzk::is_infinity(a)) return infinity();
  return {a.x, a.y, F::one(), F::one()};
}

template <class F>
CUZK_HD Affine<F> neg(const Affine<F>& a) {
  return {a.x, neg(a.y)};
}
template <class F>
CUZK_HD Affine<F> neg_if(bool negative, const Affine<F>& a) {
  return {a.x, neg_if(negative, a.y)};
}
template <class F>
CUZK_HD Xyzz<F> neg(const Xyzz<F>& a) {
  return {a.x, neg_lazy(a.y), a.zz, a.zzz};
}

namespace detail {

// X3 and Y3 of both sums: p and r are the differences of the coordinates over a common denominator, x1 and y1 the first
// operand's coordinates over it, pp and ppp the powers of p.
template <class F>
CUZK_HD void finish_sum(Xyzz<F>& a, const F& r, const F& x1, const F& y1, const F& pp, const F& ppp) {
  const F q = mul_lazy(x1, pp);
  a.x = sub_lazy(sub_lazy(sub_lazy(sqr_lazy(r), ppp), q), q);
  a.y = mul_sub_lazy(r, sub_lazy(q, a.x), y1, ppp);
}

}  // namespace detail

// 2a
template <class F>
CUZK_HD Xyzz<F> dbl(const Xyzz<F>& a) {
  if (is_infinity(a)) return a;
  const F u = dbl_lazy(a.y), v = sqr_lazy(u), w = mul_lazy(u, v), s = mul_lazy(a.x, v);
  const F xx = sqr_lazy(a.x), m = add_lazy(dbl_lazy(xx), xx);
  Xyzz<F> r;
  r.x = sub_lazy(sub_lazy(sqr_lazy(m), s), s);
  r.y = mul_sub_lazy(m, sub_lazy(s, r.x), w, a.y);
  r.zz = mul_lazy(v, a.zz);
  r.zzz = mul_lazy(w, a.zzz);
  return r;
}

// 2^bits a: doublings in Jacobian coordinates, of 2M + 5S instead of 6M + 3S and a difference of two products. (EFD: dbl-2009-l.)
template <class F>
CUZK_HD Xyzz<F> times_power_of_two(const Xyzz<F>& a, u32 bits) {
  if (is_infinity(a) || bits == 0) return a;
  // Over ZZZ as Z: x = X ZZ^2 / ZZZ^2 and y = Y ZZZ^2 / ZZZ^3.
  F x = mul_lazy(a.x, sqr_lazy(a.zz)), y = mul_lazy(a.y, sqr_lazy(a.zzz)), z = a.zzz;
  CUZK_NO_UNROLL
  for (u32 i = 0; i < bits; i++) {
    const F xx = sqr_lazy(x), yy = sqr_lazy(y), yyyy = sqr_lazy(yy);
    const F s = dbl_lazy(sub_lazy(sub_lazy(sqr_lazy(add_lazy(x, yy)), xx), yyyy)), m = add_lazy(dbl_lazy(xx), xx);
    z = dbl_lazy(mul_lazy(y, z));
    x = sub_lazy(sqr_lazy(m), dbl_lazy(s));
    y = sub_lazy(mul_lazy(m, sub_lazy(s, x)), dbl_lazy(dbl_lazy(dbl_lazy(yyyy))));
  }
  const F zz = sqr_lazy(z);
  return {x, y, zz, mul_lazy(zz, z)};
}

namespace detail {

// Not inlined: sums double rarely, and it would cost them registers and code.
template <class F>
CUZK_NOINLINE __host__ __device__ void dbl_call(Xyzz<F>& a) {
  a = dbl(a);
}

// The sum of b and either itself or its opposite.
template <class F>
CUZK_HD Xyzz<F> sum_of_same_x(bool same_y, Xyzz<F> b) {
  if (!same_y) return Xyzz<F>::infinity();
  dbl_call(b);
  return b;
}

}  // namespace detail

// a += b: 6M + 2S and a difference of two products.
template <class F>
CUZK_HD void add_mixed(Xyzz<F>& a, const Affine<F>& b) {
  if (is_infinity(b)) return;
  if (is_infinity(a)) {
    a = Xyzz<F>::of(b);
    return;
  }
  const F p = sub_lazy(mul_lazy(b.x, a.zz), a.x), r = sub_lazy(mul_lazy(b.y, a.zzz), a.y);
  if (is_zero_lazy(p)) {
    a = detail::sum_of_same_x(is_zero_lazy(r), Xyzz<F>::of(b));
    return;
  }
  const F pp = sqr_lazy(p), ppp = mul_lazy(p, pp);
  a.zz = mul_lazy(a.zz, pp);
  a.zzz = mul_lazy(a.zzz, ppp);
  detail::finish_sum(a, r, a.x, a.y, pp, ppp);
}

// a += b: 10M + 2S and a difference of two products.
template <class F>
CUZK_HD void add(Xyzz<F>& a, const Xyzz<F>& b) {
  if (is_infinity(b)) return;
  if (is_infinity(a)) {
    a = b;
    return;
  }
  const F u = mul_lazy(a.x, b.zz), s = mul_lazy(a.y, b.zzz);
  const F p = sub_lazy(mul_lazy(b.x, a.zz), u), r = sub_lazy(mul_lazy(b.y, a.zzz), s);
  if (is_zero_lazy(p)) {
    a = detail::sum_of_same_x(is_zero_lazy(r), b);
    return;
  }
  const F pp = sqr_lazy(p), ppp = mul_lazy(p, pp);
  a.zz = mul_lazy(mul_lazy(a.zz, b.zz), pp);
  a.zzz = mul_lazy(mul_lazy(a.zzz, b.zzz), ppp);
  detail::finish_sum(a, r, u, s, pp, ppp);
}

// 1/ZZ = (ZZ/ZZZ)^2
template <class F>
CUZK_HD Affine<F> to_affine(const Xyzz<F>& a) {
  if (is_infinity(a)) return Affine<F>::infinity();
  const F i = inverse(a.zzz), z = mul_lazy(i, a.zz);
  return {reduce(mul_lazy(a.x, sqr_lazy(z))), reduce(mul_lazy(a.y, i))};
}

struct Bls12381 {
  using Fp = Bls12381Fp;
  using Fp2 = Bls12381Fp2;
  using Fr = Bls12381Fr;
  using G1 = Affine<Fp>;
  using G2 = Affine<Fp2>;
};

struct Bn254 {
  using Fp = Bn254Fp;
  using Fp2 = Bn254Fp2;
  using Fr = Bn254Fr;
  using G1 = Affine<Fp>;
  using G2 = Affine<Fp2>;
};

}  // namespace cuzk
