// Sums and differences of integers of N limbs.
#pragma once

#include <cstring>

#include "field/carry.h"

namespace cuzk {

#if CUZK_USE_CHAINS

// r = a + b mod 2^(32N); returns the carry.
template <int N>
CUZK_HD u32 add_words(u32* r, const u32* a, const u32* b) {
  r[0] = chain::add_cc(a[0], b[0]);
  CUZK_UNROLL
  for (int i = 1; i < N; i++) r[i] = chain::addc_cc(a[i], b[i]);
  return chain::addc(0, 0);
}

// r = a - b mod 2^(32N); returns all ones if a < b, else 0.
template <int N>
CUZK_HD u32 sub_words(u32* r, const u32* a, const u32* b) {
  r[0] = chain::sub_cc(a[0], b[0]);
  CUZK_UNROLL
  for (int i = 1; i < N; i++) r[i] = chain::subc_cc(a[i], b[i]);
  return chain::subc(0, 0);
}

#else

template <int N>
CUZK_HD u32 add_words(u32* r, const u32* a, const u32* b) {
  unsigned __int128 t = 0;
  for (int i = 0; i < N; i += 2) {
    u64 x, y;
    std::memcpy(&x, a + i, 8);
    std::memcpy(&y, b + i, 8);
    t += (unsigned __int128)x + y;
    x = u64(t);
    std::memcpy(r + i, &x, 8);
    t >>= 64;
  }
  return u32(t);
}

template <int N>
CUZK_HD u32 sub_words(u32* r, const u32* a, const u32* b) {
  u64 borrow = 0;
  for (int i = 0; i < N; i += 2) {
    u64 x, y;
    std::memcpy(&x, a + i, 8);
    std::memcpy(&y, b + i, 8);
    const unsigned __int128 t = (unsigned __int128)x - y - borrow;
    borrow = u64(t >> 64) & 1;
    x = u64(t);
    std::memcpy(r + i, &x, 8);
  }
  return 0u - u32(borrow);
}

#endif

}  // namespace cuzk
