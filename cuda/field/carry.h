// The instructions of carry chains: PTX on the device, the same with an emulated carry flag on the host. A pair
// mad_lo, mad_hi of one product becomes a single IMAD.WIDE.
#pragma once

#include "base/platform.h"

// CUZK_CARRY_CHAINS set to 1 makes the host run the chains of the device; without it the host works on 64-bit words,
// which is several times faster.
#ifndef CUZK_CARRY_CHAINS
#define CUZK_CARRY_CHAINS 0
#endif
#define CUZK_USE_CHAINS (CUZK_DEVICE_CODE || CUZK_CARRY_CHAINS)

namespace cuzk::chain {

// Names: a leading `c` of addc, subc, madc reads the flag, a trailing _cc sets it.
#if CUZK_DEVICE_CODE

#define CUZK_OP2(name, ptx)                                                    \
  CUZK_HD u32 name(u32 a, u32 b) {                                             \
    u32 r;                                                                     \
    asm volatile(ptx ".u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));           \
    return r;                                                                  \
  }
#define CUZK_OP3(name, ptx)                                                            \
  CUZK_HD u32 name(u32 a, u32 b, u32 c) {                                              \
    u32 r;                                                                             \
    asm volatile(ptx ".u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));       \
    return r;                                                                          \
  }
CUZK_OP2(add_cc, "add.cc")
CUZK_OP2(addc_cc, "addc.cc")
CUZK_OP2(addc, "addc")
CUZK_OP2(sub_cc, "sub.cc")
CUZK_OP2(subc_cc, "subc.cc")
CUZK_OP2(subc, "subc")
CUZK_OP3(mad_lo_cc, "mad.lo.cc")
CUZK_OP3(madc_lo_cc, "madc.lo.cc")
CUZK_OP3(madc_lo, "madc.lo")
CUZK_OP3(madc_hi_cc, "madc.hi.cc")
CUZK_OP3(madc_hi, "madc.hi")
#undef CUZK_OP2
#undef CUZK_OP3

#else

inline thread_local u32 flag;

inline u32 keep(u64 sum) {
  flag = u32(sum >> 32) & 1;
  return u32(sum);
}
inline u32 lo(u32 a, u32 b) { return a * b; }
inline u32 hi(u32 a, u32 b) { return u32(u64(a) * b >> 32); }

CUZK_HD u32 add_cc(u32 a, u32 b) { return keep(u64(a) + b); }
CUZK_HD u32 addc_cc(u32 a, u32 b) { return keep(u64(a) + b + flag); }
CUZK_HD u32 addc(u32 a, u32 b) { return a + b + flag; }
CUZK_HD u32 sub_cc(u32 a, u32 b) { return keep(u64(a) - b); }
CUZK_HD u32 subc_cc(u32 a, u32 b) { return keep(u64(a) - b - flag); }
CUZK_HD u32 subc(u32 a, u32 b) { return a - b - flag; }
CUZK_HD u32 mad_lo_cc(u32 a, u32 b, u32 c) { return keep(u64(lo(a, b)) + c); }
CUZK_HD u32 madc_lo_cc(u32 a, u32 b, u32 c) { return keep(u64(lo(a, b)) + c + flag); }
CUZK_HD u32 madc_lo(u32 a, u32 b, u32 c) { return lo(a, b) + c + flag; }
CUZK_HD u32 madc_hi_cc(u32 a, u32 b, u32 c) { return keep(u64(hi(a, b)) + c + flag); }
CUZK_HD u32 madc_hi(u32 a, u32 b, u32 c) { return hi(a, b) + c + flag; }

#endif

// (hi, lo) = a b
CUZK_HD void mul_wide(u32& lo, u32& hi, u32 a, u32 b) {
  const u64 t = u64(a) * b;
  lo = u32(t);
  hi = u32(t >> 32);
}

// One link of a chain of products: (hi, lo) = a b + (c_hi, c_lo), with the carry of the link before unless it is the
// first. Whether a carry comes out is for the bounds to say; the flag holds it.
CUZK_HD void mad_wide_cc(u32& lo, u32& hi, u32 a, u32 b, u32 c_lo, u32 c_hi, bool first) {
  lo = first ? mad_lo_cc(a, b, c_lo) : madc_lo_cc(a, b, c_lo);
  hi = madc_hi_cc(a, b, c_hi);
}

}  // namespace cuzk::chain
