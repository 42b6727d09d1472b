// Products by a square root of -1, which every transform of 4 or 8 values has one or two of.
//
// The scalar field of BLS12-381 has p = z^4 - z^2 + 1, so that z^3 is such a root: of 192 bits, the lowest limb zero. That
// spares 28 of the 101 products of limbs of mul_shoup. Other fields take the root as any factor.
#pragma once

#include "field/fr_shoup.h"

namespace cuzk::ntt {

template <class Fr>
using Quarter = Shoup<Fr>;

// Whether w is this root is for who makes the transform to see to: is_z_cubed.
template <class P>
constexpr bool kQuarterIsZCubed = false;
template <>
inline constexpr bool kQuarterIsZCubed<Bls12381FrParams> = true;

struct ZCubed {
  static constexpr Words<8> w = {{0, 0x00010000, 0x76030000, 0xec030002, 0x760304d0, 0x8d51ccce, 0, 0}};
  // floor(2^256 w / p) is 2^192 + q.
  static constexpr Words<6> q = {{0x5576304f, 0x61c5d9da, 0x3e76ec2a, 0x33cfcc0d, 0x56cd56b5, 0x381204ca}};
};

// Whether a factor is z^3.
template <class Fr>
bool is_z_cubed(const Shoup<Fr>& s) {
  for (int i = 0; i < 8; i++)
    if (s.w[i] != ZCubed::w.v[i]) return false;
  return true;
}

namespace z_cubed {

using namespace chain;

// The seven limbs from 8 on of x (2^192 + ZCubed::q), from the columns 6 to 12 and x: at most 1 too small.
CUZK_HD void quotient(u32* r, const u32* x) {
  constexpr Words<6> w = ZCubed::q;
  u32 even[8], odd[7];  // even[i] is limb 6 + i, odd[i] is limb 7 + i
  mul_wide(even[0], even[1], x[1], w.v[5]);
  mul_wide(odd[0], odd[1], x[2], w.v[5]);
  CUZK_UNROLL
  for (int j = 2; j < 8; j++) {
    const int from_even = j == 7 ? 1 : 6 - j, from_odd = 7 - j;  // the first limb of w
    u32 *e = even + j + from_even - 6, *o = odd + j + from_odd - 7;
    mad_chain(e, e, w.v + from_even, x[j], (7 - from_even) / 2);
    if (j % 2 == 0) even[j] = addc(0, 0), even[j + 1] = 0;
    if (j == 2) continue;
    mad_chain(o, o, w.v + from_odd, x[j], (7 - from_odd) / 2);
    if (j % 2 == 1) odd[j - 1] = addc(0, 0);
    if (j % 2 == 1 && j < 7) odd[j] = 0;
  }
  u32 t[7];  // from limb 7 on
  t[0] = add_cc(even[1], odd[0]);
  CUZK_UNROLL
  for (int i = 1; i < 6; i++) t[i] = addc_cc(even[i + 1], odd[i]);
  t[6] = addc(even[7], odd[6]);
  add_cc(even[0], x[0]);
  addc_cc(t[0], x[1]);
  CUZK_UNROLL
  for (int i = 0; i < 6; i++) r[i] = addc_cc(t[i + 1], x[i + 2]);
  r[6] = addc(0, 0);
}

// even + 2^32 odd (8 and 7 limbs) = low limbs of x z^3 + 2^32 q, q of seven limbs.
CUZK_HD void low_product(u32* even, u32* odd, const u32* x, const u32* q) {
  constexpr Words<8> w = ZCubed::w;
  even[0] = even[1] = even[6] = even[7] = 0;
  mul_wide(even[2], even[3], x[0], w.v[2]);
  mul_wide(even[4], even[5], x[0], w.v[4]);
  CUZK_UNROLL
  for (int k = 0; k < 7; k++) odd[k] = q[k];
  mad_chain(odd, odd, w.v + 1, x[0], 3);
  odd[6] = addc(odd[6], 0);
  CUZK_UNROLL
  for (int j = 1; j < 8; j++) {
    const int from_even = j % 2 ? 1 : 2, from_odd = 3 - from_even;  // the first limb of w
    u32 *e = even + j + from_even, *o = odd + j + from_odd - 1;
    mad_chain(e, e, w.v + from_even, x[j], (8 - j - from_even) / 2);
    mad_chain(o, o, w.v + from_odd, x[j], (7 - j - from_odd) / 2);
    if (j == 1) odd[6] = addc(odd[6], 0);
    else if (j + from_odd <= 5) odd[6] = madc_lo(x[j], w.v[7 - j], odd[6]);
    else if (j < 7) odd[6] = x[j] * w.v[7 - j] + odd[6];
  }
}

CUZK_HD void mul(u32* r, const u32* x) {
  // -p = 2^64 (2^192 - Q) + 2^32 - 1
  constexpr Words<8> minus_p = constants::minus(Words<8>{}, Bls12381FrParams::kModulus);
  u32 n[6], q[7], even[8], odd[7];
  CUZK_UNROLL
  for (int k = 0; k < 6; k++) n[k] = minus_p.v[k + 2];
  quotient(q, x);
  low_product(even, odd, x, q);
  add_low_product<6>(even + 2, odd + 2, q, n);
  even[0] = sub_cc(even[0], q[0]);
  CUZK_UNROLL
  for (int i = 1; i < 7; i++) even[i] = subc_cc(even[i], q[i]);
  even[7] = subc(even[7], 0);
  r[0] = even[0];
  r[1] = add_cc(even[1], odd[0]);
  CUZK_UNROLL
  for (int i = 2; i < 7; i++) r[i] = addc_cc(even[i], odd[i - 1]);
  r[7] = addc(even[7], odd[6]);
}

}  // namespace z_cubed

// x times the root, below 2p for x below 2p.
template <class P>
CUZK_HD Field<P> mul_quarter(const Field<P>& x, const Quarter<Field<P>>& root) {
#if CUZK_USE_CHAINS
  if constexpr (kQuarterIsZCubed<P>) {
    Field<P> r;
    z_cubed::mul(r.limb, x.limb);
    return r;
  }
#endif
  return mul_shoup(x, root);
}

}  // namespace cuzk::ntt
