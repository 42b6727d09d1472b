// Sums and differences of integers of 8 or 12 limbs, and their corrections by a constant: C is a type with a constexpr
// `value`.
#pragma once

#include <cstring>

#include "field/carry.h"
#include "field/moduli.h"

#if CUZK_DEVICE_CODE
#include "field/words_ptx.h"
#else

namespace cuzk::words {

CUZK_HD u64 word64(const u32* p) {
  u64 x;
  std::memcpy(&x, p, 8);
  return x;
}
CUZK_HD void put64(u32* p, u64 x) { std::memcpy(p, &x, 8); }

// r = a + b mod 2^(32N); returns whether there is a carry.
template <int N>
CUZK_HD bool add_carry(u32* r, const u32* a, const u32* b) {
#if CUZK_CARRY_CHAINS
  r[0] = chain::add_cc(a[0], b[0]);
  for (int i = 1; i < N; i++) r[i] = chain::addc_cc(a[i], b[i]);
  return chain::flag;
#else
  unsigned __int128 sum = 0;
  for (int i = 0; i < N; i += 2) {
    sum += (unsigned __int128)word64(a + i) + word64(b + i);
    put64(r + i, u64(sum));
    sum >>= 64;
  }
  return sum != 0;
#endif
}

// r = a - b mod 2^(32N); returns whether a is below b.
template <int N>
CUZK_HD bool sub_borrow(u32* r, const u32* a, const u32* b) {
#if CUZK_CARRY_CHAINS
  r[0] = chain::sub_cc(a[0], b[0]);
  for (int i = 1; i < N; i++) r[i] = chain::subc_cc(a[i], b[i]);
  return chain::flag;
#else
  u64 borrow = 0;
  for (int i = 0; i < N; i += 2) {
    const unsigned __int128 difference = (unsigned __int128)word64(a + i) - word64(b + i) - borrow;
    put64(r + i, u64(difference));
    borrow = u64(difference >> 64) & 1;
  }
  return borrow != 0;
#endif
}

// r = a - b, plus C if that is negative.
template <int N, class C>
CUZK_HD void sub_mod(u32* r, const u32* a, const u32* b) {
  if (sub_borrow<N>(r, a, b)) add_carry<N>(r, r, C::value.v);
}

// r = a + b, minus C if that is not negative, for a and b up to C.
template <int N, class C>
CUZK_HD void add_mod(u32* r, const u32* a, const u32* b) {
  u32 t[N];
  sub_borrow<N>(t, b, C::value.v);
  if (!add_carry<N>(r, a, t)) add_carry<N>(r, r, C::value.v);
}

// r = a - C if that is not negative, else a.
template <int N, class C>
CUZK_HD void subtract_once(u32* r, const u32* a) {
  u32 t[N];
  const bool below = sub_borrow<N>(t, a, C::value.v);
  for (int i = 0; i < N; i++) r[i] = below ? a[i] : t[i];
}

// r = a, plus C if a is negative in two's complement.
template <int N, class C>
CUZK_HD void make_positive(u32* r, const u32* a) {
  u32 t[N];
  add_carry<N>(t, a, C::value.v);
  const bool negative = a[N - 1] >> 31;
  for (int i = 0; i < N; i++) r[i] = negative ? t[i] : a[i];
}

}  // namespace cuzk::words

#endif
