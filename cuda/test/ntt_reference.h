// Plain transforms and quotients on the host, and inputs to try: what tests of cuda/ntt compare with.
#pragma once

#include <algorithm>
#include <thread>
#include <vector>

#include "ntt/quotient.cuh"
#include "ntt/roots.h"

namespace cuzk::reference {

CUZK_HD u64 mix(u64 z) {
  z += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

enum class Kind : u32 { kRandom, kZero, kOneHot, kLargest, kSparse };
struct Input {
  Kind kind;
  u64 seed;
};

// Element i of n, canonical limbs.
template <class Fr>
CUZK_HD Fr element(Input input, u64 i, u64 n) {
  constexpr auto modulus = Fr::Params::kModulus;
  Fr r = Fr::zero(), largest = Fr::of(modulus);
  largest.limb[0]--;
  const u64 dice = mix(input.seed * 0x1000003 + i);
  switch (input.kind) {
    case Kind::kZero: return r;
    case Kind::kOneHot: return i == n * 5 / 7 ? largest : r;
    case Kind::kLargest: return largest;
    case Kind::kSparse:
      if (dice % 4) return dice % 4 == 1 ? largest : r;
      break;
    case Kind::kRandom: break;
  }
  for (int k = 0; k < 8; k += 2) {
    const u64 v = mix(dice + u64(k));
    r.limb[k] = u32(v);
    r.limb[k + 1] = u32(v >> 32);
  }
  r.limb[7] &= 0x1fffffff;
  return r;
}

template <class Fr>
std::vector<Fr> elements(Input input, u64 n) {
  std::vector<Fr> v(n);
  for (u64 i = 0; i < n; i++) v[i] = element<Fr>(input, i, n);
  return v;
}

inline u64 reverse_bits(u64 i, int bits) {
  u64 r = 0;
  for (int b = 0; b < bits; b++) r |= (i >> b & 1) << (bits - 1 - b);
  return r;
}

// v[j] = sum of v[i] w^(i j), both in natural order; w is of order 2^log_n.
template <class Fr>
void transform(std::vector<Fr>& v, int log_n, const Fr& w) {
  const u64 n = v.size();
  for (u64 i = 0; i < n; i++)
    if (const u64 j = reverse_bits(i, log_n); i < j) std::swap(v[i], v[j]);
  std::vector<Fr> powers(n / 2);
  Fr x = Fr::one();
  for (auto& p : powers) p = x, x = mul(x, w);
  for (int level = 0; level < log_n; level++) {
    const u64 half = u64(1) << level;
    for (u64 i = 0; i < n / 2; i++) {
      const u64 j = i & (half - 1), at = 2 * i - j;
      const Fr t = mul(v[at + half], powers[j << (log_n - 1 - level)]);
      v[at + half] = sub(v[at], t);
      v[at] = add(v[at], t);
    }
  }
}

// v[i] *= constant base^i
template <class Fr>
void scale(std::vector<Fr>& v, Fr constant, const Fr& base) {
  for (auto& x : v) x = mul(x, constant), constant = mul(constant, base);
}

template <class Fr>
void interpolate(std::vector<Fr>& v, int log_n, const Fr& w) {
  transform(v, log_n, inverse(w));
  scale(v, inverse(ntt::from_integer<Fr>(v.size())), Fr::one());
}

template <class Fr>
u32 generator(Layout layout) {
  return std::is_same_v<Fr, Bls12381Fr> && layout != Layout::kSnarkjs ? 7 : 5;
}

// The scalars of section H in its order, as integers, from elements in Montgomery form.
template <class Fr>
std::vector<Fr> quotient(Layout layout, int log_n, std::vector<Fr> a, std::vector<Fr> b, std::vector<Fr> c) {
  const u64 n = u64(1) << log_n;
  const u32 g = generator<Fr>(layout);
  const Fr w = ntt::root_of_unity<Fr>(g, log_n);
  const Fr shift = layout == Layout::kSnarkjs ? ntt::snarkjs_shift<Fr>(log_n) : ntt::from_integer<Fr>(g);
  for (auto* v : {&a, &b, &c}) {
    v->resize(n, Fr::zero());
    interpolate(*v, log_n, w);
    scale(*v, Fr::one(), shift);
    transform(*v, log_n, w);
  }
  for (u64 i = 0; i < n; i++) a[i] = sub(mul(a[i], b[i]), c[i]);
  if (layout != Layout::kSnarkjs) {
    scale(a, inverse(sub(ntt::power(shift, n), Fr::one())), Fr::one());
    interpolate(a, log_n, w);
    scale(a, Fr::one(), inverse(shift));
  }
  if (layout == Layout::kGnark)
    for (u64 i = 0; i < n; i++)
      if (const u64 j = reverse_bits(i, log_n); i < j) std::swap(a[i], a[j]);
  for (auto& x : a) x = from_montgomery(x);
  return a;
}

// Sum of the coefficients times powers of x, over the machine's cores; coefficient(i) gives the i-th of n.
template <class Fr, class Coefficient>
Fr evaluate(u64 n, const Fr& x, Coefficient coefficient) {
  const u64 tasks = n < 4096 ? 1 : std::max(1u, std::thread::hardware_concurrency());
  std::vector<Fr> parts(tasks);
  std::vector<std::thread> threads;
  for (u64 t = 0; t < tasks; t++)
    threads.emplace_back([&, t] {
      const u64 from = n * t / tasks, to = n * (t + 1) / tasks;
      Fr r = Fr::zero();
      for (u64 i = to; i-- > from;) r = add(mul(r, x), coefficient(i));
      parts[t] = mul(r, ntt::power(x, from));
    });
  Fr r = Fr::zero();
  for (auto& t : threads) t.join();
  for (const auto& p : parts) r = add(r, p);
  return r;
}

}  // namespace cuzk::reference
