// Montgomery products on 64-bit words, for the host.
#pragma once

#include <cstring>
#include <utility>

#include "field/moduli.h"

namespace cuzk::host {

// step(0), step(1), ... step(n - 1), with constants.
template <class Step, int... i>
inline void unrolled(const Step& step, std::integer_sequence<int, i...>) {
  (step(std::integral_constant<int, i>()), ...);
}
template <int n, class Step>
inline void unrolled(const Step& step) {
  unrolled(step, std::make_integer_sequence<int, n>());
}

// r = a b / R mod p, below a b / R + p, which must be below R. Not inlined and unrolled, a row of the product together with that
// of the multiple of p: compilers otherwise make twice the instructions of it.
template <class P>
CUZK_NOINLINE void mul(u32* r, const u32* a32, const u32* b32) {
  constexpr int n = P::kLimbs / 2;
  using u128 = unsigned __int128;
  u64 a[n], b[n], p[n], t[n + 1] = {};
  constexpr auto modulus = P::kModulus;
  constexpr u64 inverse = u64(P::kInverse.v[1]) << 32 | P::kInverse.v[0];
  std::memcpy(a, a32, sizeof a);
  std::memcpy(b, b32, sizeof b);
  std::memcpy(p, modulus.v, sizeof p);
  unrolled<n>([&](auto i) {
    u128 c = u128(a[0]) * b[i] + t[0];
    const u64 m = 0 - u64(c) * inverse;
    u128 d = u128(m) * p[0] + u64(c);
    unrolled<n - 1>([&](auto k) {
      constexpr int j = k + 1;
      c = u128(a[j]) * b[i] + t[j] + u64(c >> 64);
      d = u128(m) * p[j] + u64(c) + u64(d >> 64);
      t[j - 1] = u64(d);
    });
    d = u128(t[n]) + u64(c >> 64) + u64(d >> 64);
    t[n - 1] = u64(d);
    t[n] = u64(d >> 64);
  });
  std::memcpy(r, t, n * 8);
}

}  // namespace cuzk::host
