// From sums to a proof, on the host: a few hundred microseconds.
#pragma once

#include "curve/point.h"
#include "groth16/scalars.h"

namespace cuzk::groth16 {

namespace detail {
template <class Fr>
bool bit(const Fr& integer, int i) {
  return integer.limb[i / 32] >> (i % 32) & 1;
}
}  // namespace detail

// k·p and k·p + l·q, for integers k and l.
template <class F, class Fr>
Xyzz<F> multiply(const Xyzz<F>& p, const Fr& k) {
  Xyzz<F> sum = Xyzz<F>::infinity();
  for (int i = 32 * Fr::kLimbs - 1; i >= 0; i--) {
    sum = dbl(sum);
    if (detail::bit(k, i)) add(sum, p);
  }
  return sum;
}
template <class F, class Fr>
Xyzz<F> multiply(const Affine<F>& p, const Fr& k) {
  return multiply(Xyzz<F>::of(p), k);
}
template <class F, class Fr>
Xyzz<F> multiply_both(const Xyzz<F>& p, const Fr& k, const Xyzz<F>& q, const Fr& l) {
  Xyzz<F> both = p, sum = Xyzz<F>::infinity();
  add(both, q);
  for (int i = 32 * Fr::kLimbs - 1; i >= 0; i--) {
    sum = dbl(sum);
    const bool with_p = detail::bit(k, i), with_q = detail::bit(l, i);
    if (with_p && with_q) {
      add(sum, both);
    } else if (with_p) {
      add(sum, p);
    } else if (with_q) {
      add(sum, q);
    }
  }
  return sum;
}

// Vertices are the single points of a key.
template <class C>
struct Vertices {
  typename C::G1 alpha, beta, delta;
  typename C::G2 beta2, delta2;
};

// Sums of a key's sections with a witness's and a quotient's scalars.
template <class C>
struct Sums {
  using InG1 = Xyzz<typename C::Fp>;
  using InG2 = Xyzz<typename C::Fp2>;
  InG1 a = InG1::infinity(), b1 = InG1::infinity(), l = InG1::infinity(), h = InG1::infinity();
  InG2 b2 = InG2::infinity();
};

// What blinds a proof, made while the sums are under way: r and s are integers.
template <class C>
struct Blinding {
  using Fr = typename C::Fr;

  Blinding(const Vertices<C>& key, const Fr& r_, const Fr& s_) : r(r_), s(s_) {
    a = multiply(key.delta, r);
    b1 = multiply(key.delta, s);
    b2 = multiply(key.delta2, s);
    const Fr rs = from_montgomery(mul(to_montgomery(r), to_montgomery(s)));
    c = multiply(key.delta, neg(rs));
    add_mixed(a, key.alpha);
    add_mixed(b1, key.beta);
    add_mixed(b2, key.beta2);
  }

  Fr r, s;
  Xyzz<typename C::Fp> a, b1, c;  // alpha + r·delta, beta + s·delta, -rs·delta
  Xyzz<typename C::Fp2> b2;       // beta + s·delta
};

template <class C>
struct ProofPoints {
  typename C::G1 a;
  typename C::G2 b;
  typename C::G1 c;
};

// A = alpha + Σ w·A + rδ, B = beta + Σ w·B + sδ, C = Σ w·L + Σ h·H + sA + rB₁ − rsδ.
template <class C>
ProofPoints<C> assemble(const Sums<C>& sums, const Blinding<C>& blinding) {
  auto a = sums.a, b1 = sums.b1, c = sums.l;
  auto b2 = sums.b2;
  add(a, blinding.a);
  add(b1, blinding.b1);
  add(b2, blinding.b2);
  add(c, sums.h);
  add(c, blinding.c);
  add(c, multiply_both(a, blinding.s, b1, blinding.r));
  return {to_affine(a), to_affine(b2), to_affine(c)};
}

}  // namespace cuzk::groth16
