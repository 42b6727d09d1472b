// Transforms of 2, 4 and 8 values in registers. Values are below 2p: exactly, since an
// operand above it would make a difference wrong (the loose sums of field/fr_shoup.h are not for here).
#pragma once

#include "ntt/quarter.h"

namespace cuzk::ntt {

// Constants of the transform of 8 values with root w. w^2 is a square root of -1.
template <class Fr>
struct RadixEight {
  Quarter<Fr> quarter;        // by w^2
  Shoup<Fr> cosine, sine;     // (w + 1/w) / 2, (w - 1/w) / 2
};

// (a, b) becomes (a + b, a - b).
template <class Fr>
CUZK_D void butterfly(Fr& a, Fr& b) {
  const Fr d = sub_lazy(a, b);
  a = add_lazy(a, b);
  b = d;
}

// What is left for the odd outputs of a transform of 8: yk = xk - x(k+4). Leaves outputs 1, 5, 7, 3. The products by w of
// y1 and y3 and those by w^3 = -1/w are made of two, by cosine and sine.
template <class Fr>
CUZK_D void odd_half(const RadixEight<Fr>& roots, Fr& y0, Fr& y1, Fr& y2, Fr& y3) {
  Fr c = mul_shoup(sub_lazy(y1, y3), roots.cosine);
  Fr s = mul_shoup(add_lazy(y1, y3), roots.sine);
  Fr q = mul_quarter(y2, roots.quarter);
  butterfly(c, s);   // w y1 - y3/w, y1/w - w y3
  butterfly(y0, q);  // y0 + w^2 y2, y0 - w^2 y2
  y1 = sub_lazy(y0, c);
  y0 = add_lazy(y0, c);
  y2 = add_lazy(q, s);
  y3 = sub_lazy(q, s);
}
CUZK_HD constexpr u32 odd_output(u32 k) { return k == 0 ? 1 : k == 1 ? 5 : k == 2 ? 7 : 3; }

// A transform of 4. Leaves outputs 0, 2, 1, 3.
template <class Fr>
CUZK_D void radix_four(const RadixEight<Fr>& roots, Fr& x0, Fr& x1, Fr& x2, Fr& x3) {
  butterfly(x0, x2);
  butterfly(x1, x3);
  x3 = mul_quarter(x3, roots.quarter);
  butterfly(x0, x1);
  butterfly(x2, x3);
}
CUZK_HD constexpr u32 four_output(u32 k) { return (k & 1) << 1 | k >> 1; }

}  // namespace cuzk::ntt
