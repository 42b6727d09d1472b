// Sums for transforms: of values below 2p, exactly. Then a difference needs one correction at most, whatever its operands
// are, and products by mul_shoup and mul_loose are below 2p again.
#pragma once

#include "field/fr_shoup.h"

namespace cuzk::ntt {

#if CUZK_DEVICE_CODE

// a -= b, plus 2p if that is negative. In one piece of assembly, since a predicated chain cannot be said otherwise, and
// masking 2p instead costs eight more instructions.
template <class P>
CUZK_D void subtract_wrapping(u32* a, const u32* b) {
  static_assert(P::kLimbs == 8);
  constexpr Words<8> m = P::kTwice;
  asm("{\n\t.reg .pred below;\n\t.reg .u32 borrow;\n\t"
      "sub.cc.u32 %0, %0, %8;\n\tsubc.cc.u32 %1, %1, %9;\n\tsubc.cc.u32 %2, %2, %10;\n\tsubc.cc.u32 %3, %3, %11;\n\t"
      "subc.cc.u32 %4, %4, %12;\n\tsubc.cc.u32 %5, %5, %13;\n\tsubc.cc.u32 %6, %6, %14;\n\tsubc.cc.u32 %7, %7, %15;\n\t"
      "subc.u32 borrow, 0, 0;\n\tsetp.ne.u32 below, borrow, 0;\n\t"
      "@below add.cc.u32 %0, %0, %16;\n\t@below addc.cc.u32 %1, %1, %17;\n\t@below addc.cc.u32 %2, %2, %18;\n\t"
      "@below addc.cc.u32 %3, %3, %19;\n\t@below addc.cc.u32 %4, %4, %20;\n\t@below addc.cc.u32 %5, %5, %21;\n\t"
      "@below addc.cc.u32 %6, %6, %22;\n\t@below addc.u32 %7, %7, %23;\n\t}"
      : "+r"(a[0]), "+r"(a[1]), "+r"(a[2]), "+r"(a[3]), "+r"(a[4]), "+r"(a[5]), "+r"(a[6]), "+r"(a[7])
      : "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]), "n"(m.v[0]), "n"(m.v[1]),
        "n"(m.v[2]), "n"(m.v[3]), "n"(m.v[4]), "n"(m.v[5]), "n"(m.v[6]), "n"(m.v[7]));
}

#endif

template <class P>
CUZK_HD Field<P> difference(const Field<P>& a, const Field<P>& b) {
#if CUZK_DEVICE_CODE
  Field<P> r = a;
  subtract_wrapping<P>(r.limb, b.limb);
  return r;
#else
  return sub_lazy(a, b);
#endif
}

// a + b = a - (2p - b)
template <class P>
CUZK_HD Field<P> sum(const Field<P>& a, const Field<P>& b) {
#if CUZK_DEVICE_CODE
  Field<P> negative;
  sub_words<P::kLimbs>(negative.limb, Field<P>::twice_modulus().limb, b.limb);
  return difference(a, negative);
#else
  return add_lazy(a, b);
#endif
}

}  // namespace cuzk::ntt
