// Carry chains: PTX on the device, the same with an emulated carry flag on the host. A chain of products is a chain of
// IMAD.WIDE.X on the device. Statements hold several instructions, since the compiler's time goes by statements; the flag
// lives on between volatile ones.
#pragma once

#include "base/platform.h"

// CUZK_CARRY_CHAINS set to 1 makes the host run the chains of the device; without it the host works on 64-bit words,
// which is several times faster.
#ifndef CUZK_CARRY_CHAINS
#define CUZK_CARRY_CHAINS 0
#endif
#define CUZK_USE_CHAINS (CUZK_DEVICE_CODE || CUZK_CARRY_CHAINS)

namespace cuzk::chain {

// Names: the `c` of addc, subc, madc reads the flag, _cc sets it. Subtractions set it to the borrow.
#if CUZK_DEVICE_CODE

#define CUZK_OP2(name, ptx)                                               \
  CUZK_D u32 name(u32 a, u32 b) {                                         \
    u32 r;                                                                \
    asm volatile(ptx ".u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));      \
    return r;                                                             \
  }
CUZK_OP2(add_cc, "add.cc")
CUZK_OP2(addc_cc, "addc.cc")
CUZK_OP2(addc, "addc")
CUZK_OP2(sub_cc, "sub.cc")
CUZK_OP2(subc_cc, "subc.cc")
CUZK_OP2(subc, "subc")
#undef CUZK_OP2

CUZK_D u32 madc_lo(u32 a, u32 b, u32 c) {
  u32 r;
  asm volatile("madc.lo.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}

// Two links: (r1, r0) = a0 b + (c1, c0), (r3, r2) = a2 b + (c3, c2).
#define CUZK_TWO_LINKS(name, first)                                                                        \
  CUZK_D void name(u32* r, const u32* c, u32 a0, u32 a2, u32 b) {                                          \
    u32 r0, r1, r2, r3;                                                                                    \
    asm volatile(first ".lo.cc.u32 %0, %4, %6, %7;\n\tmadc.hi.cc.u32 %1, %4, %6, %8;\n\t"                  \
                 "madc.lo.cc.u32 %2, %5, %6, %9;\n\tmadc.hi.cc.u32 %3, %5, %6, %10;"                       \
                 : "=&r"(r0), "=&r"(r1), "=&r"(r2), "=&r"(r3)                                              \
                 : "r"(a0), "r"(a2), "r"(b), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));                  \
    r[0] = r0, r[1] = r1, r[2] = r2, r[3] = r3;                                                            \
  }
#define CUZK_ONE_LINK(name, first)                                                                         \
  CUZK_D void name(u32* r, const u32* c, u32 a0, u32 b) {                                                  \
    u32 r0, r1;                                                                                            \
    asm volatile(first ".lo.cc.u32 %0, %2, %3, %4;\n\tmadc.hi.cc.u32 %1, %2, %3, %5;"                      \
                 : "=&r"(r0), "=&r"(r1)                                                                    \
                 : "r"(a0), "r"(b), "r"(c[0]), "r"(c[1]));                                                 \
    r[0] = r0, r[1] = r1;                                                                                  \
  }
CUZK_TWO_LINKS(two_first_links, "mad")
CUZK_TWO_LINKS(two_links, "madc")
CUZK_ONE_LINK(first_link, "mad")
CUZK_ONE_LINK(link, "madc")
#undef CUZK_TWO_LINKS
#undef CUZK_ONE_LINK

// Four limbs of a sum or difference.
#define CUZK_FOUR_LIMBS(name, first, next)                                                                    \
  CUZK_D void name(u32* r, const u32* a, const u32* b) {                                                      \
    u32 r0, r1, r2, r3;                                                                                       \
    asm volatile(first ".cc.u32 %0, %4, %8;\n\t" next ".cc.u32 %1, %5, %9;\n\t" next ".cc.u32 %2, %6, %10;\n\t" \
                 next ".cc.u32 %3, %7, %11;"                                                                  \
                 : "=&r"(r0), "=&r"(r1), "=&r"(r2), "=&r"(r3)                                                 \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]));   \
    r[0] = r0, r[1] = r1, r[2] = r2, r[3] = r3;                                                               \
  }
CUZK_FOUR_LIMBS(add_first_limbs, "add", "addc")
CUZK_FOUR_LIMBS(add_limbs, "addc", "addc")
CUZK_FOUR_LIMBS(sub_first_limbs, "sub", "subc")
CUZK_FOUR_LIMBS(sub_limbs, "subc", "subc")
#undef CUZK_FOUR_LIMBS

#else

inline thread_local u32 flag;

CUZK_HD u32 keep(u64 sum) {
  flag = u32(sum >> 32) & 1;
  return u32(sum);
}

CUZK_HD u32 add_cc(u32 a, u32 b) { return keep(u64(a) + b); }
CUZK_HD u32 addc_cc(u32 a, u32 b) { return keep(u64(a) + b + flag); }
CUZK_HD u32 addc(u32 a, u32 b) { return a + b + flag; }
CUZK_HD u32 sub_cc(u32 a, u32 b) { return keep(u64(a) - b); }
CUZK_HD u32 subc_cc(u32 a, u32 b) { return keep(u64(a) - b - flag); }
CUZK_HD u32 subc(u32 a, u32 b) { return a - b - flag; }
CUZK_HD u32 madc_lo(u32 a, u32 b, u32 c) { return a * b + c + flag; }

CUZK_HD void link(u32* r, const u32* c, u32 a, u32 b) {
  const u64 product = u64(a) * b;
  const u32 c1 = c[1];  // r and c may overlap
  r[0] = keep(u64(u32(product)) + c[0] + flag);
  r[1] = keep((product >> 32) + c1 + flag);
}
CUZK_HD void first_link(u32* r, const u32* c, u32 a, u32 b) {
  flag = 0;
  link(r, c, a, b);
}
CUZK_HD void two_links(u32* r, const u32* c, u32 a0, u32 a2, u32 b) {
  link(r, c, a0, b);
  link(r + 2, c + 2, a2, b);
}
CUZK_HD void two_first_links(u32* r, const u32* c, u32 a0, u32 a2, u32 b) {
  flag = 0;
  two_links(r, c, a0, a2, b);
}

CUZK_HD void add_limbs(u32* r, const u32* a, const u32* b) {
  for (int i = 0; i < 4; i++) r[i] = addc_cc(a[i], b[i]);
}
CUZK_HD void add_first_limbs(u32* r, const u32* a, const u32* b) {
  flag = 0;
  add_limbs(r, a, b);
}
CUZK_HD void sub_limbs(u32* r, const u32* a, const u32* b) {
  for (int i = 0; i < 4; i++) r[i] = subc_cc(a[i], b[i]);
}
CUZK_HD void sub_first_limbs(u32* r, const u32* a, const u32* b) {
  flag = 0;
  sub_limbs(r, a, b);
}

#endif

// (hi, lo) = a b
CUZK_HD void mul_wide(u32& lo, u32& hi, u32 a, u32 b) {
  const u64 t = u64(a) * b;
  lo = u32(t);
  hi = u32(t >> 32);
}

// r = c + b (a[0] + a[2] 2^64 + a[4] 2^128 + ...), `links` products of wide limbs. Takes the flag if it continues a chain,
// and leaves the carry there. r may be c, or c may be further down.
CUZK_HD void mad_chain(u32* r, const u32* c, const u32* a, u32 b, int links, bool continues = false) {
  CUZK_UNROLL
  for (int i = 0; i < links / 2; i++) {
    const u32 *ci = c + 4 * i, *ai = a + 4 * i;
    if (i == 0 && !continues) two_first_links(r, ci, ai[0], ai[2], b);
    else two_links(r + 4 * i, ci, ai[0], ai[2], b);
  }
  const int last = links - 1;
  if (links == 1 && !continues) first_link(r, c, a[0], b);
  else if (links % 2 == 1) link(r + 2 * last, c + 2 * last, a[2 * last], b);
}

// r = a + b and r = a - b, n limbs, n a multiple of 4.
template <int n>
CUZK_HD void add_chain(u32* r, const u32* a, const u32* b) {
  add_first_limbs(r, a, b);
  CUZK_UNROLL
  for (int i = 4; i < n; i += 4) add_limbs(r + i, a + i, b + i);
}
template <int n>
CUZK_HD void sub_chain(u32* r, const u32* a, const u32* b) {
  sub_first_limbs(r, a, b);
  CUZK_UNROLL
  for (int i = 4; i < n; i += 4) sub_limbs(r + i, a + i, b + i);
}

}  // namespace cuzk::chain
