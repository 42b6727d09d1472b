// Inversion by division steps (Bernstein and Yang, "Fast constant-time gcd computation and modular inversion", 2019, in the
// variant that starts at delta = 1/2), thirty at a time on signed limbs of 30 bits. The time depends on the input; what we
// invert is public or a random combination.
#pragma once

#include "field/moduli.h"

namespace cuzk {
namespace divsteps {

constexpr int kBits = 30;
constexpr i32 kMask = (1 << kBits) - 1;

// Limbs of 30 bits that hold values between -2p and 2p.
template <class P>
constexpr int kCount = (32 * P::kLimbs + kBits - 1) / kBits;

template <class P>
struct Signed {
  i32 v[kCount<P>];
};

template <class P>
CUZK_HD constexpr Signed<P> split(const u32* w) {
  Signed<P> r{};
  CUZK_UNROLL
  for (int i = 0; i < kCount<P>; i++) {
    const int bit = kBits * i, at = bit / 32, shift = bit % 32;
    u32 x = w[at] >> shift;
    if (shift > 32 - kBits && at + 1 < P::kLimbs) x |= w[at + 1] << (32 - shift);
    r.v[i] = i32(x & u32(kMask));
  }
  return r;
}

template <class P>
CUZK_HD void join(u32* w, const Signed<P>& s) {
  CUZK_UNROLL
  for (int i = 0; i < P::kLimbs; i++) {
    const int bit = 32 * i, at = bit / kBits, shift = bit % kBits;
    u64 x = u64(u32(s.v[at])) >> shift;
    if (at + 1 < kCount<P>) x |= u64(u32(s.v[at + 1])) << (kBits - shift);
    w[i] = u32(x);
  }
}

template <class P>
CUZK_HD u32 low(const Signed<P>& x) {
  return u32(x.v[0]) | u32(x.v[1]) << kBits;
}

CUZK_HD int trailing_zeros(u32 x) {
#if CUZK_DEVICE_CODE
  return __ffs(int(x)) - 1;
#else
  return __builtin_ctz(x);
#endif
}

// 2^30 times the transition of thirty steps: (f, g) becomes (u f + v g, q f + r g) / 2^30.
struct Matrix {
  i32 u, v, q, r;
};

// Thirty steps on the low bits of f (odd) and g.
CUZK_HD Matrix steps(i32& delta, u32 f, u32 g) {
  Matrix m{1, 0, 0, 1};
  int left = kBits;
  const auto halve = [&] {  // all the steps in which g is even
    const int z = trailing_zeros(g | 1u << left);
    g >>= z;
    m.u = i32(u32(m.u) << z);
    m.v = i32(u32(m.v) << z);
    delta += z;
    left -= z;
  };
  halve();
  CUZK_NO_UNROLL
  while (left > 0) {
    if (delta >= 0) {  // delta is one half more than this
      const u32 old_f = f;
      const i32 old_u = m.u, old_v = m.v;
      f = g;
      m.u = m.q;
      m.v = m.r;
      g = 0 - old_f;
      m.q = -old_u;
      m.r = -old_v;
      delta = -delta - 1;
    }
    // f stays for -delta steps more: as many low bits of g vanish by one multiple of f. f (f^2 - 2) is -1/f mod 64.
    const int bits = min(min(-delta, left), 6);
    const i32 w = i32(g * f * (f * f - 2) & ((1u << bits) - 1));
    g += f * u32(w);
    m.q += m.u * w;
    m.r += m.v * w;
    halve();
  }
  return m;
}

// (f, g) = m (f, g) / 2^30, exactly; tells whether g is zero.
template <class P>
CUZK_HD bool apply(const Matrix& m, Signed<P>& f, Signed<P>& g) {
  constexpr int n = kCount<P>;
  i64 cf = i64(m.u) * f.v[0] + i64(m.v) * g.v[0];
  i64 cg = i64(m.q) * f.v[0] + i64(m.r) * g.v[0];
  i32 any = 0;
  CUZK_UNROLL
  for (int i = 1; i < n; i++) {
    cf = (cf >> kBits) + i64(m.u) * f.v[i] + i64(m.v) * g.v[i];
    cg = (cg >> kBits) + i64(m.q) * f.v[i] + i64(m.r) * g.v[i];
    f.v[i - 1] = i32(cf) & kMask;
    any |= g.v[i - 1] = i32(cg) & kMask;
  }
  f.v[n - 1] = i32(cf >> kBits);
  any |= g.v[n - 1] = i32(cg >> kBits);
  return any == 0;
}

// The multiple of p that makes a value divisible by 2^30, between -2^29 and 2^29.
template <class P>
CUZK_HD i32 multiple(i64 value) {
  constexpr u32 inverse = P::kInverse.v[0];
  return i32((0u - u32(value) * inverse) << (32 - kBits)) >> (32 - kBits);
}

// (d, e) = m (d, e) / 2^30 mod p, by adding multiples of p: they grow by p/2 at most.
template <class P>
CUZK_HD void apply_mod(const Matrix& m, Signed<P>& d, Signed<P>& e, const Signed<P>& p) {
  constexpr int n = kCount<P>;
  i64 cd = i64(m.u) * d.v[0] + i64(m.v) * e.v[0];
  i64 ce = i64(m.q) * d.v[0] + i64(m.r) * e.v[0];
  const i32 md = multiple<P>(cd), me = multiple<P>(ce);
  cd += i64(md) * p.v[0];
  ce += i64(me) * p.v[0];
  CUZK_UNROLL
  for (int i = 1; i < n; i++) {
    cd = (cd >> kBits) + i64(m.u) * d.v[i] + i64(m.v) * e.v[i] + i64(md) * p.v[i];
    ce = (ce >> kBits) + i64(m.q) * d.v[i] + i64(m.r) * e.v[i] + i64(me) * p.v[i];
    d.v[i - 1] = i32(cd) & kMask;
    e.v[i - 1] = i32(ce) & kMask;
  }
  d.v[n - 1] = i32(cd >> kBits);
  e.v[n - 1] = i32(ce >> kBits);
}

// a + factor b
template <class P>
CUZK_HD Signed<P> plus(const Signed<P>& a, const Signed<P>& b, i32 factor) {
  constexpr int n = kCount<P>;
  Signed<P> r;
  i32 c = 0;
  CUZK_UNROLL
  for (int i = 0; i < n - 1; i++) {
    c += a.v[i] + factor * b.v[i];
    r.v[i] = c & kMask;
    c >>= kBits;
  }
  r.v[n - 1] = a.v[n - 1] + factor * b.v[n - 1] + c;
  return r;
}

template <class P>
CUZK_HD bool negative(const Signed<P>& a) {
  return a.v[kCount<P> - 1] < 0;
}

// The canonical form of d, or of -d.
template <class P>
CUZK_HD void finish(u32* r, Signed<P> d, bool negate, const Signed<P>& p) {
  const Signed<P> zero{};
  if (negate) d = plus(zero, d, -1);
  CUZK_NO_UNROLL
  while (negative(d)) d = plus(d, p, 1);
  for (;;) {
    const Signed<P> next = plus(d, p, -1);
    if (negative(next)) break;
    d = next;
  }
  join<P>(r, d);
}

}  // namespace divsteps

// r = 1/a mod p for integers, 0 for 0; a below p.
template <class P>
CUZK_HD void invert(u32* r, const u32* a) {
  using divsteps::Signed;
  constexpr Words<P::kLimbs> modulus = P::kModulus;
  const Signed<P> p = divsteps::split<P>(modulus.v);
  Signed<P> f = p, g = divsteps::split<P>(a), d{}, e{{1}};
  // d a = f and e a = g mod p, up to the powers of two that apply_mod divides out on both sides.
  i32 delta = 0;
  bool done = false;
  CUZK_NO_UNROLL
  while (!done) {
    const divsteps::Matrix m = divsteps::steps(delta, divsteps::low(f), divsteps::low(g));
    done = divsteps::apply(m, f, g);
    divsteps::apply_mod(m, d, e, p);
  }
  // f is 1 or -1 (p when a is zero, with d = 0).
  divsteps::finish<P>(r, d, divsteps::negative(f), p);
}

}  // namespace cuzk
