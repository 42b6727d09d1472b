// Montgomery products on 64-bit words, for the host.
#pragma once

#include <cstring>

#include "field/moduli.h"

namespace cuzk::host {

// r = a b / R mod p, below a b / R + p, which must be below R.
template <class P>
inline void mul(u32* r, const u32* a32, const u32* b32) {
  constexpr int n = P::kLimbs / 2;
  using u128 = unsigned __int128;
  u64 a[n], b[n], p[n], t[n + 1] = {};
  std::memcpy(a, a32, sizeof a);
  std::memcpy(b, b32, sizeof b);
  constexpr auto modulus = P::kModulus;
  std::memcpy(p, modulus.v, sizeof p);
  constexpr u64 inverse = u64(P::kInverse.v[1]) << 32 | P::kInverse.v[0];
  for (int i = 0; i < n; i++) {
    u128 c = 0;
    for (int j = 0; j < n; j++) {
      c += u128(a[j]) * b[i] + t[j];
      t[j] = u64(c);
      c >>= 64;
    }
    const u128 top = u128(t[n]) + u64(c);
    const u64 m = 0 - t[0] * inverse;
    c = (u128(m) * p[0] + t[0]) >> 64;
    for (int j = 1; j < n; j++) {
      c += u128(m) * p[j] + t[j];
      t[j - 1] = u64(c);
      c >>= 64;
    }
    c += top;
    t[n - 1] = u64(c);
    t[n] = u64(c >> 64);
  }
  std::memcpy(r, t, n * 8);
}

}  // namespace cuzk::host
