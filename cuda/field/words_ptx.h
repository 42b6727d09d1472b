// words.h in PTX. Corrections are predicated, which is shorter than masks or choices. All is volatile: it must not come
// between the statements of another chain, whose flag it would change.
#pragma once

#define CUZK_OUT4(r, i) "=&r"(r[i]), "=&r"(r[i + 1]), "=&r"(r[i + 2]), "=&r"(r[i + 3])
#define CUZK_IN4(a, i) "r"(a[i]), "r"(a[i + 1]), "r"(a[i + 2]), "r"(a[i + 3])
#define CUZK_CONST4(c, i) "n"(c.v[i]), "n"(c.v[i + 1]), "n"(c.v[i + 2]), "n"(c.v[i + 3])
#define CUZK_OUT_8(r) CUZK_OUT4(r, 0), CUZK_OUT4(r, 4)
#define CUZK_OUT_12(r) CUZK_OUT4(r, 0), CUZK_OUT4(r, 4), CUZK_OUT4(r, 8)
#define CUZK_IN_8(a) CUZK_IN4(a, 0), CUZK_IN4(a, 4)
#define CUZK_IN_12(a) CUZK_IN4(a, 0), CUZK_IN4(a, 4), CUZK_IN4(a, 8)
#define CUZK_CONST_8(c) CUZK_CONST4(c, 0), CUZK_CONST4(c, 4)
#define CUZK_CONST_12(c) CUZK_CONST4(c, 0), CUZK_CONST4(c, 4), CUZK_CONST4(c, 8)

// Operands are numbered: the result from 0 on, then a, then b. `with` is a predicate or nothing.
#define CUZK_CHAIN_8(op, with)                                                                                    \
  with op ".cc.u32 %0, %8, %16;\n\t" with op "c.cc.u32 %1, %9, %17;\n\t" with op "c.cc.u32 %2, %10, %18;\n\t"     \
  with op "c.cc.u32 %3, %11, %19;\n\t" with op "c.cc.u32 %4, %12, %20;\n\t" with op "c.cc.u32 %5, %13, %21;\n\t"  \
  with op "c.cc.u32 %6, %14, %22;\n\t" with op "c.cc.u32 %7, %15, %23;\n\t"
#define CUZK_CHAIN_12(op, with)                                                                                       \
  with op ".cc.u32 %0, %12, %24;\n\t" with op "c.cc.u32 %1, %13, %25;\n\t" with op "c.cc.u32 %2, %14, %26;\n\t"       \
  with op "c.cc.u32 %3, %15, %27;\n\t" with op "c.cc.u32 %4, %16, %28;\n\t" with op "c.cc.u32 %5, %17, %29;\n\t"      \
  with op "c.cc.u32 %6, %18, %30;\n\t" with op "c.cc.u32 %7, %19, %31;\n\t" with op "c.cc.u32 %8, %20, %32;\n\t"      \
  with op "c.cc.u32 %9, %21, %33;\n\t" with op "c.cc.u32 %10, %22, %34;\n\t" with op "c.cc.u32 %11, %23, %35;\n\t"
// The result and the constants behind b.
#define CUZK_CORRECT_8(op, with)                                                                                \
  with op ".cc.u32 %0, %0, %24;\n\t" with op "c.cc.u32 %1, %1, %25;\n\t" with op "c.cc.u32 %2, %2, %26;\n\t"    \
  with op "c.cc.u32 %3, %3, %27;\n\t" with op "c.cc.u32 %4, %4, %28;\n\t" with op "c.cc.u32 %5, %5, %29;\n\t"   \
  with op "c.cc.u32 %6, %6, %30;\n\t" with op "c.u32 %7, %7, %31;\n\t"
#define CUZK_CORRECT_12(op, with)                                                                               \
  with op ".cc.u32 %0, %0, %36;\n\t" with op "c.cc.u32 %1, %1, %37;\n\t" with op "c.cc.u32 %2, %2, %38;\n\t"    \
  with op "c.cc.u32 %3, %3, %39;\n\t" with op "c.cc.u32 %4, %4, %40;\n\t" with op "c.cc.u32 %5, %5, %41;\n\t"   \
  with op "c.cc.u32 %6, %6, %42;\n\t" with op "c.cc.u32 %7, %7, %43;\n\t" with op "c.cc.u32 %8, %8, %44;\n\t"   \
  with op "c.cc.u32 %9, %9, %45;\n\t" with op "c.cc.u32 %10, %10, %46;\n\t" with op "c.u32 %11, %11, %47;\n\t"

// The top limb of a.
#define CUZK_TOP_8 "%15"
#define CUZK_TOP_12 "%23"
// The result becomes a.
#define CUZK_RESTORE_4(with, r0, a0, r1, a1, r2, a2, r3, a3) \
  with "mov.u32 %" r0 ", %" a0 ";\n\t" with "mov.u32 %" r1 ", %" a1 ";\n\t" with "mov.u32 %" r2 ", %" a2 ";\n\t" with "mov.u32 %" r3 ", %" a3 ";\n\t"
#define CUZK_RESTORE_8(with) \
  CUZK_RESTORE_4(with, "0", "8", "1", "9", "2", "10", "3", "11") CUZK_RESTORE_4(with, "4", "12", "5", "13", "6", "14", "7", "15")
#define CUZK_RESTORE_12(with)                                                                                         \
  CUZK_RESTORE_4(with, "0", "12", "1", "13", "2", "14", "3", "15") CUZK_RESTORE_4(with, "4", "16", "5", "17", "6", "18", "7", "19") \
  CUZK_RESTORE_4(with, "8", "20", "9", "21", "10", "22", "11", "23")

namespace cuzk::words {

template <int N>
struct Ptx;

#define CUZK_WORDS(N)                                                                                                 \
  template <>                                                                                                         \
  struct Ptx<N> {                                                                                                     \
    template <class C>                                                                                                \
    static CUZK_D void sub_mod(u32* r, const u32* a, const u32* b) {                                                  \
      constexpr Words<N> c = C::value;                                                                                \
      asm volatile("{\n\t.reg .pred negative;\n\t.reg .u32 borrow;\n\t" CUZK_CHAIN_##N("sub", "")                              \
          "subc.u32 borrow, 0, 0;\n\tsetp.ne.u32 negative, borrow, 0;\n\t" CUZK_CORRECT_##N("add", "@negative ") "}"  \
          : CUZK_OUT_##N(r)                                                                                           \
          : CUZK_IN_##N(a), CUZK_IN_##N(b), CUZK_CONST_##N(c));                                                       \
    }                                                                                                                 \
    template <class C>                                                                                                \
    static CUZK_D void add_mod(u32* r, const u32* a, const u32* b) {                                                  \
      constexpr Words<N> c = C::value, minus_c = C::negative;                                                         \
      u32 t[N];                                                                                                       \
      asm volatile(CUZK_CHAIN_##N("add", "") : CUZK_OUT_##N(t) : CUZK_IN_##N(b), CUZK_CONST_##N(minus_c));                     \
      asm volatile("{\n\t.reg .pred negative;\n\t.reg .u32 carry;\n\t" CUZK_CHAIN_##N("add", "")                               \
          "addc.u32 carry, 0, 0;\n\tsetp.eq.u32 negative, carry, 0;\n\t" CUZK_CORRECT_##N("add", "@negative ") "}"    \
          : CUZK_OUT_##N(r)                                                                                           \
          : CUZK_IN_##N(a), CUZK_IN_##N(t), CUZK_CONST_##N(c));                                                       \
    }                                                                                                                 \
    template <class C>                                                                                                \
    static CUZK_D void subtract_once(u32* r, const u32* a) {                                                          \
      constexpr Words<N> c = C::value;                                                                                \
      asm volatile("{\n\t.reg .pred negative;\n\t.reg .u32 borrow;\n\t" CUZK_CHAIN_##N("sub", "")                              \
          "subc.u32 borrow, 0, 0;\n\tsetp.ne.u32 negative, borrow, 0;\n\t" CUZK_RESTORE_##N("@negative ") "}"         \
          : CUZK_OUT_##N(r)                                                                                           \
          : CUZK_IN_##N(a), CUZK_CONST_##N(c));                                                                       \
    }                                                                                                                 \
    template <class C>                                                                                                \
    static CUZK_D void make_positive(u32* r, const u32* a) {                                                          \
      constexpr Words<N> c = C::value;                                                                                \
      asm volatile("{\n\t.reg .pred negative;\n\t" CUZK_RESTORE_##N("") "setp.lt.s32 negative, " CUZK_TOP_##N ", 0;\n\t"       \
          CUZK_CHAIN_##N("add", "@negative ") "}"                                                                     \
          : CUZK_OUT_##N(r)                                                                                           \
          : CUZK_IN_##N(a), CUZK_CONST_##N(c));                                                                       \
    }                                                                                                                 \
  };
CUZK_WORDS(8)
CUZK_WORDS(12)

template <int N, class C>
CUZK_D void sub_mod(u32* r, const u32* a, const u32* b) {
  Ptx<N>::template sub_mod<C>(r, a, b);
}
template <int N, class C>
CUZK_D void add_mod(u32* r, const u32* a, const u32* b) {
  Ptx<N>::template add_mod<C>(r, a, b);
}
template <int N, class C>
CUZK_D void subtract_once(u32* r, const u32* a) {
  Ptx<N>::template subtract_once<C>(r, a);
}
template <int N, class C>
CUZK_D void make_positive(u32* r, const u32* a) {
  Ptx<N>::template make_positive<C>(r, a);
}

}  // namespace cuzk::words

#undef CUZK_OUT4
#undef CUZK_IN4
#undef CUZK_CONST4
#undef CUZK_OUT_8
#undef CUZK_OUT_12
#undef CUZK_IN_8
#undef CUZK_IN_12
#undef CUZK_CONST_8
#undef CUZK_CONST_12
#undef CUZK_CHAIN_8
#undef CUZK_CHAIN_12
#undef CUZK_CORRECT_8
#undef CUZK_CORRECT_12
#undef CUZK_TOP_8
#undef CUZK_TOP_12
#undef CUZK_RESTORE_4
#undef CUZK_RESTORE_8
#undef CUZK_RESTORE_12
#undef CUZK_WORDS
