// Prime fields in Montgomery form, R = 2^(32 limbs): the bytes of gnark-crypto's elements.
//
// Canonical functions (add, sub, neg, dbl, mul, sqr, inverse) take and give values below p. Lazy ones take and give values
// below 2p, where p itself stands for zero too; they spare the last subtraction of a product. `reduce` leads back.
#pragma once

#include "field/inverse.h"
#include "field/montgomery.h"
#include "field/montgomery_host.h"
#include "field/words.h"

namespace cuzk {

template <class P>
struct alignas(16) Field {
  using Params = P;
  static constexpr int kLimbs = P::kLimbs;

  u32 limb[kLimbs];

  static CUZK_HD Field zero() {
    Field r;
    CUZK_UNROLL
    for (int i = 0; i < kLimbs; i++) r.limb[i] = 0;
    return r;
  }
  static CUZK_HD Field of(const Words<kLimbs>& w) {
    Field r;
    CUZK_UNROLL
    for (int i = 0; i < kLimbs; i++) r.limb[i] = w.v[i];
    return r;
  }
  static CUZK_HD Field one() {
    constexpr auto c = P::kOne;
    return of(c);
  }
  static CUZK_HD Field modulus() {
    constexpr auto c = P::kModulus;
    return of(c);
  }
};

using Bls12381Fp = Field<Bls12381FpParams>;
using Bls12381Fr = Field<Bls12381FrParams>;
using Bn254Fp = Field<Bn254FpParams>;
using Bn254Fr = Field<Bn254FrParams>;

// ---- comparison and choice ----

template <class P>
CUZK_HD bool equal(const Field<P>& a, const Field<P>& b) {
  u32 difference = 0;
  CUZK_UNROLL
  for (int i = 0; i < P::kLimbs; i++) difference |= a.limb[i] ^ b.limb[i];
  return difference == 0;
}

// Whether all limbs are zero: for canonical values, whether a is zero.
template <class P>
CUZK_HD bool is_zero(const Field<P>& a) {
  u32 any = 0;
  CUZK_UNROLL
  for (int i = 0; i < P::kLimbs; i++) any |= a.limb[i];
  return any == 0;
}

// Whether a value below 2p is 0 or p.
template <class P>
CUZK_HD bool is_zero_lazy(const Field<P>& a) {
  constexpr u32 p0 = P::kModulus.v[0];
  if (a.limb[0] != 0 && a.limb[0] != p0) return false;  // nearly always
  return is_zero(a) || equal(a, Field<P>::modulus());
}

template <class P>
CUZK_HD Field<P> select(bool condition, const Field<P>& yes, const Field<P>& no) {
  Field<P> r;
  CUZK_UNROLL
  for (int i = 0; i < P::kLimbs; i++) r.limb[i] = condition ? yes.limb[i] : no.limb[i];
  return r;
}

// ---- sums ----

namespace detail {

// a + b, minus C if that is not negative.
template <class C, class P>
CUZK_HD Field<P> plus(const Field<P>& a, const Field<P>& b) {
  Field<P> r;
  words::add_mod<P::kLimbs, C>(r.limb, a.limb, b.limb);
  return r;
}
// a - b, plus C if that is negative.
template <class C, class P>
CUZK_HD Field<P> minus(const Field<P>& a, const Field<P>& b) {
  Field<P> r;
  words::sub_mod<P::kLimbs, C>(r.limb, a.limb, b.limb);
  return r;
}
// a - C, or a if that is negative.
template <class C, class P>
CUZK_HD Field<P> subtract_once(const Field<P>& a) {
  Field<P> r;
  words::subtract_once<P::kLimbs, C>(r.limb, a.limb);
  return r;
}
// a, plus C if a is negative in two's complement.
template <class C, class P>
CUZK_HD Field<P> make_positive(const Field<P>& a) {
  Field<P> r;
  words::make_positive<P::kLimbs, C>(r.limb, a.limb);
  return r;
}

}  // namespace detail

// The canonical form of a value below 2p.
template <class P>
CUZK_HD Field<P> reduce(const Field<P>& a) {
  return detail::subtract_once<typename P::Modulus>(a);
}

template <class P>
CUZK_HD Field<P> add(const Field<P>& a, const Field<P>& b) {
  return detail::plus<typename P::Modulus>(a, b);
}
template <class P>
CUZK_HD Field<P> sub(const Field<P>& a, const Field<P>& b) {
  return detail::minus<typename P::Modulus>(a, b);
}
template <class P>
CUZK_HD Field<P> dbl(const Field<P>& a) {
  return add(a, a);
}
template <class P>
CUZK_HD Field<P> neg(const Field<P>& a) {
  return sub(Field<P>::zero(), a);
}

template <class P>
CUZK_HD Field<P> add_lazy(const Field<P>& a, const Field<P>& b) {
  return detail::plus<typename P::Twice>(a, b);
}
template <class P>
CUZK_HD Field<P> sub_lazy(const Field<P>& a, const Field<P>& b) {
  return detail::minus<typename P::Twice>(a, b);
}
template <class P>
CUZK_HD Field<P> dbl_lazy(const Field<P>& a) {
  return add_lazy(a, a);
}
template <class P>
CUZK_HD Field<P> neg_lazy(const Field<P>& a) {
  return sub_lazy(Field<P>::zero(), a);
}
// -a or a: signs of digits and points.
template <class P>
CUZK_HD Field<P> neg_if(bool negative, const Field<P>& a) {
  return select(negative, neg(a), a);
}

// ---- products ----

namespace detail {

// a b / R, below a b / R + 9p / 8.
template <class P>
CUZK_HD Field<P> product(const Field<P>& a, const Field<P>& b) {
  Field<P> r;
#if CUZK_USE_CHAINS
  chain::mul<P>(r.limb, a.limb, b.limb);
#else
  host::mul<P>(r.limb, a.limb, b.limb);
#endif
  return r;
}

template <class P>
CUZK_HD Field<P> square(const Field<P>& a) {
  Field<P> r;
#if CUZK_USE_CHAINS
  if constexpr (chain::Step<P>::by_q) chain::mul<P>(r.limb, a.limb, a.limb);
  else chain::sqr<P>(r.limb, a.limb);
#else
  host::mul<P>(r.limb, a.limb, a.limb);
#endif
  return r;
}

}  // namespace detail

template <class P>
CUZK_HD Field<P> mul(const Field<P>& a, const Field<P>& b) {
  return reduce(detail::product(a, b));
}
template <class P>
CUZK_HD Field<P> sqr(const Field<P>& a) {
  return reduce(detail::square(a));
}

// With one spare bit a factor is made canonical first; otherwise the product of values below 2p is below 2p.
template <class P>
CUZK_HD Field<P> mul_lazy(const Field<P>& a, const Field<P>& b) {
  if constexpr (P::kSpareBits == 1) return detail::product(reduce(a), b);
  return detail::product(a, b);
}
template <class P>
CUZK_HD Field<P> sqr_lazy(const Field<P>& a) {
  if constexpr (P::kSpareBits == 1) return detail::square(reduce(a));
  return detail::square(a);
}

// a b + c d. With spare bits it costs one reduction: three quarters of two products.
template <class P>
CUZK_HD Field<P> mul_add_lazy(const Field<P>& a, const Field<P>& b, const Field<P>& c, const Field<P>& d) {
#if CUZK_USE_CHAINS
  if constexpr (P::kSpareBits >= 2) {
    Field<P> r;
    chain::mul_add<P>(r.limb, a.limb, b.limb, c.limb, d.limb);
    if constexpr (P::kSpareBits == 2) return detail::subtract_once<typename P::Twice>(r);
    return r;
  }
#endif
  return add_lazy(mul_lazy(a, b), mul_lazy(c, d));
}

// a b - c d
template <class P>
CUZK_HD Field<P> mul_sub_lazy(const Field<P>& a, const Field<P>& b, const Field<P>& c, const Field<P>& d) {
  return mul_add_lazy(a, b, c, neg_lazy(d));
}

namespace detail {

// a + b as one factor of a product. With three spare bits it need not be reduced: (4p) (2p) / R + 9p/8 is below 2p.
template <class P>
CUZK_HD Field<P> sum_as_factor(const Field<P>& a, const Field<P>& b) {
  if constexpr (P::kSpareBits < 3) return add_lazy(a, b);
  Field<P> r;
#if CUZK_USE_CHAINS
  chain::add_chain<P::kLimbs>(r.limb, a.limb, b.limb);
#else
  words::add_carry<P::kLimbs>(r.limb, a.limb, b.limb);
#endif
  return r;
}

}  // namespace detail

// ---- forms ----

// The integer that a stands for; its limbs are then no longer an element in Montgomery form.
template <class P>
CUZK_HD Field<P> from_montgomery(const Field<P>& a) {
  constexpr Words<P::kLimbs> one = {{1}};
  return mul(a, Field<P>::of(one));
}
// The element of an integer below p.
template <class P>
CUZK_HD Field<P> to_montgomery(const Field<P>& a) {
  constexpr auto square = P::kSquare;
  return mul(a, Field<P>::of(square));
}

// ---- where speed does not matter ----

template <class P>
CUZK_NOINLINE __host__ __device__ Field<P> mul_call(Field<P> a, Field<P> b) {
  return mul_lazy(a, b);
}

// 1/a, and 0 for 0. Takes a lazy value, gives a canonical one. Division steps: one lane is enough.
template <class P>
CUZK_NOINLINE __host__ __device__ Field<P> inverse(Field<P> a) {
  a = reduce(a);
  Field<P> r;
  invert<P>(r.limb, a.limb);
  constexpr auto cube = P::kCube;
  return mul(r, Field<P>::of(cube));
}

// ---- memory ----

namespace detail {

template <class F>
constexpr int kVectors = sizeof(F) / sizeof(uint4);

template <class F>
CUZK_HD void unpack(F& r, int i, const uint4& v) {
  u32* limbs = reinterpret_cast<u32*>(&r) + 4 * i;
  limbs[0] = v.x, limbs[1] = v.y, limbs[2] = v.z, limbs[3] = v.w;
}
template <class F>
CUZK_HD uint4 pack(const F& r, int i) {
  const u32* limbs = reinterpret_cast<const u32*>(&r) + 4 * i;
  return make_uint4(limbs[0], limbs[1], limbs[2], limbs[3]);
}

}  // namespace detail

// 16-byte accesses to anything made of limbs: fields, Fp2, points. `_ro` is for what no kernel writes meanwhile, `_stream`
// for what is used once.
template <class F>
CUZK_HD F load(const F* p) {
  F r;
  CUZK_UNROLL
  for (int i = 0; i < detail::kVectors<F>; i++) detail::unpack(r, i, reinterpret_cast<const uint4*>(p)[i]);
  return r;
}
template <class F>
CUZK_D F load_ro(const F* p) {
  F r;
  CUZK_UNROLL
  for (int i = 0; i < detail::kVectors<F>; i++) detail::unpack(r, i, __ldg(reinterpret_cast<const uint4*>(p) + i));
  return r;
}
template <class F>
CUZK_D F load_stream(const F* p) {
  F r;
  CUZK_UNROLL
  for (int i = 0; i < detail::kVectors<F>; i++) detail::unpack(r, i, __ldcs(reinterpret_cast<const uint4*>(p) + i));
  return r;
}
template <class F>
CUZK_HD void store(F* p, const F& v) {
  CUZK_UNROLL
  for (int i = 0; i < detail::kVectors<F>; i++) reinterpret_cast<uint4*>(p)[i] = detail::pack(v, i);
}
template <class F>
CUZK_D void store_stream(F* p, const F& v) {
  CUZK_UNROLL
  for (int i = 0; i < detail::kVectors<F>; i++) __stcs(reinterpret_cast<uint4*>(p) + i, detail::pack(v, i));
}

}  // namespace cuzk
