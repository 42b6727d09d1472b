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

// What is left for the odd outputs of a transform of 8: y[k] = x[k] - x[k+4]. Leaves outputs 1, 5, 7, 3. Twice w and
// twice w^3 = -1/w on two values are done by two products, with cosine and sine.
template <class Fr>
CUZK_D void odd_half(const RadixEight<Fr>& roots, Fr (&y)[4]) {
  Fr c = mul_shoup(sub_lazy(y[1], y[3]), roots.cosine);
  Fr s = mul_shoup(add_lazy(y[1], y[3]), roots.sine);
  Fr q = mul_quarter(y[2], roots.quarter);
  butterfly(c, s);     // w y1 - y3/w, y1/w - w y3
  butterfly(y[0], q);  // y0 + w^2 y2, y0 - w^2 y2
  y[1] = sub_lazy(y[0], c);
  y[0] = add_lazy(y[0], c);
  y[2] = add_lazy(q, s);
  y[3] = sub_lazy(q, s);
}
CUZK_HD constexpr u32 odd_output(u32 k) { return k == 0 ? 1 : k == 1 ? 5 : k == 2 ? 7 : 3; }

// A transform of 4. Leaves outputs 0, 2, 1, 3.
template <class Fr>
CUZK_D void radix_four(const RadixEight<Fr>& roots, Fr (&x)[4]) {
  butterfly(x[0], x[2]);
  butterfly(x[1], x[3]);
  x[3] = mul_quarter(x[3], roots.quarter);
  butterfly(x[0], x[1]);
  butterfly(x[2], x[3]);
}
CUZK_HD constexpr u32 four_output(u32 k) { return (k & 1) << 1 | k >> 1; }

}  // namespace cuzk::ntt
