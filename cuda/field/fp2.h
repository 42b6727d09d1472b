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

template <class F>
CUZK_HD Fp2<F> mul_lazy(const Fp2<F>& a, const Fp2<F>& b) {
  return {mul_sub_lazy(a.c0, b.c0, a.c1, b.c1), mul_add_lazy(a.c0, b.c1, a.c1, b.c0)};
}
// (c0 + c1)(c0 - c1) + 2 c0 c1 u
template <class F>
CUZK_HD Fp2<F> sqr_lazy(const Fp2<F>& a) {
  return {mul_lazy(add_lazy(a.c0, a.c1), sub_lazy(a.c0, a.c1)), mul_lazy(dbl_lazy(a.c0), a.c1)};
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
  return sub_lazy(mul_lazy(a, b), mul_lazy(c, d));
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
// (c0 - c1 u) / (c0^2 + c1^2); 0 for 0.
template <class F>
CUZK_NOINLINE __host__ __device__ Fp2<F> inverse(const Fp2<F>& a) {
  const F n = inverse(mul_add_lazy(a.c0, a.c0, a.c1, a.c1));
  return {mul(reduce(a.c0), n), neg(mul(reduce(a.c1), n))};
}

}  // namespace cuzk
