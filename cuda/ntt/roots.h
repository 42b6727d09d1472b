// Roots of unity and powers, on the host.
#pragma once

#include <stdexcept>
#include <string>

#include "field/field.h"

namespace cuzk::ntt {

template <class P>
Field<P> power(Field<P> base, u64 exponent) {
  Field<P> r = Field<P>::one();
  for (; exponent; exponent >>= 1, base = sqr(base))
    if (exponent & 1) r = mul(r, base);
  return r;
}

template <class P>
Field<P> power(const Field<P>& base, const Words<P::kLimbs>& exponent) {
  Field<P> r = Field<P>::one();
  for (int bit = 32 * P::kLimbs - 1; bit >= 0; bit--) {
    r = sqr(r);
    if (exponent.v[bit / 32] >> (bit % 32) & 1) r = mul(r, base);
  }
  return r;
}

template <class Fr>
Fr from_integer(u64 v) {
  Fr r = Fr::zero();
  r.limb[0] = u32(v);
  r.limb[1] = u32(v >> 32);
  return to_montgomery(r);
}

// The largest k for which the field has a root of unity of order 2^k.
template <class Fr>
constexpr int two_adicity() {
  constexpr auto p = Fr::Params::kModulus;
  int k = 1;
  while (!(p.v[k / 32] >> (k % 32) & 1)) k++;
  return k;
}

// generator^((p - 1) / 2^k), of order 2^k if the generator is no square.
template <class Fr>
Fr root_of_unity(u32 generator, int k) {
  if (k < 0 || k > two_adicity<Fr>()) throw std::invalid_argument("the field has no root of unity of order 2^" + std::to_string(k));
  Words<Fr::kLimbs> e = Fr::Params::kModulus;  // p - 1 and p differ in the lowest bit, which is shifted out
  if (k == 0) return Fr::one();
  for (int s = 0; s < k; s++)
    for (int i = 0; i < Fr::kLimbs; i++) e.v[i] = e.v[i] >> 1 | (i + 1 < Fr::kLimbs ? e.v[i + 1] << 31 : 0);
  return power(from_integer<Fr>(generator), e);
}

// snarkjs evaluates the quotient on the odd points of the doubled domain or, where the field has none, on the domain
// times the square of the generator.
template <class Fr>
Fr snarkjs_shift(int log_n) {
  constexpr u32 kGenerator = 5;
  if (log_n == two_adicity<Fr>()) return from_integer<Fr>(kGenerator * kGenerator);
  return root_of_unity<Fr>(kGenerator, log_n + 1);
}

}  // namespace cuzk::ntt
