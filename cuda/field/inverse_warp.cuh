// Inversion by a whole warp, where a block waits for one inverse: all lanes take the same steps, and of f, g, d and e every
// lane brings one up to date. About half the time of inverse(), which is for one lane.
#pragma once

#include "field/fp2.h"

namespace cuzk {

namespace divsteps {

template <class P>
CUZK_D Signed<P> from_lane(const Signed<P>& v, u32 lane) {
  Signed<P> r;
  CUZK_UNROLL
  for (int i = 0; i < kCount<P>; i++) r.v[i] = __shfl_sync(~0u, v.v[i], int(lane));
  return r;
}

// (a own + b other) / 2^30 after the multiple of p, if any, that makes it exact; tells whether it is zero.
template <class P>
CUZK_D bool apply_to_own(i32 a, i32 b, bool modulo, Signed<P>& own, const Signed<P>& other, const Signed<P>& p) {
  constexpr int n = kCount<P>;
  i64 c = i64(a) * own.v[0] + i64(b) * other.v[0];
  const i32 m = modulo ? multiple<P>(c) : 0;
  c += i64(m) * p.v[0];
  i32 any = 0;
  CUZK_UNROLL
  for (int i = 1; i < n; i++) {
    c = (c >> kBits) + (i64(a) * own.v[i] + i64(b) * other.v[i] + i64(m) * p.v[i]);
    any |= own.v[i - 1] = i32(c) & kMask;
  }
  any |= own.v[n - 1] = i32(c >> kBits);
  return any == 0;
}

}  // namespace divsteps

// 1/a for all lanes, and 0 for 0; all lanes give the same a. Takes a lazy value, gives a canonical one.
template <class P>
CUZK_NOINLINE __device__ Field<P> inverse_in_warp(Field<P> a) {
  using divsteps::Signed;
  enum Role : u32 { kF, kG, kD, kE };
  const u32 lane = threadIdx.x % kWarp, role = lane % 4;
  const bool first = role == kF || role == kD, modulo = role == kD || role == kE;
  constexpr Words<P::kLimbs> modulus = P::kModulus;
  const Signed<P> p = divsteps::split<P>(modulus.v);
  a = reduce(a);
  Signed<P> own{};
  if (role == kF) own = p;
  if (role == kG) own = divsteps::split<P>(a.limb);
  if (role == kE) own.v[0] = 1;
  i32 delta = 0;
  bool done = false;
  CUZK_NO_UNROLL
  while (!done) {
    const u32 low = divsteps::low(own);
    const divsteps::Matrix m = divsteps::steps(delta, __shfl_sync(~0u, low, kF), __shfl_sync(~0u, low, kG));
    const Signed<P> other = divsteps::from_lane(own, lane ^ 1);
    const bool zero = divsteps::apply_to_own(first ? m.u : m.r, first ? m.v : m.q, modulo, own, other, p);
    done = __shfl_sync(~0u, u32(zero), kG) != 0;
  }
  const bool negate = __shfl_sync(~0u, u32(divsteps::negative(own)), kF) != 0;
  Field<P> r;
  divsteps::finish<P>(r.limb, divsteps::from_lane(own, kD), negate, p);
  constexpr auto cube = P::kCube;
  return mul(r, Field<P>::of(cube));
}

template <class F>
CUZK_NOINLINE __device__ Fp2<F> inverse_in_warp(const Fp2<F>& a) {
  return inverse_by_norm(a, inverse_in_warp(norm(a)));
}

}  // namespace cuzk
