// Affine forms of many points, which share inversions.
#pragma once

#include "base/device.h"
#include "curve/point.h"

namespace cuzk {

constexpr u64 kNowhere = ~u64(0);

namespace detail {

constexpr u32 kAffineThreads = 128;
constexpr u32 kPointsPerInversion = 16;

// The points i, i + threads, i + 2·threads, …, by one inversion of the product of their ZZZ.
template <class F, class Place>
__global__ void __launch_bounds__(kAffineThreads) to_affine_kernel(const Xyzz<F>* points, F* prefix, u64 first, u32 n, Place place, Affine<F>* out) {
  const u32 thread = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  F product = F::one();
  u32 last = thread;
  for (u32 i = thread; i < n; i += step) {
    const F z = load(&points[i].zzz);
    store(prefix + i, product);
    if (!is_zero(z)) product = mul_lazy(product, z);
    last = i;
  }
  if (thread >= n) return;
  F rest = inverse(product);
  for (u32 i = last;; i -= step) {
    const Xyzz<F> p = load(points + i);
    Affine<F> a = Affine<F>::infinity();
    if (!is_infinity(p)) {
      const F inverted = mul_lazy(rest, load(prefix + i)), z = mul_lazy(inverted, p.zz);
      rest = mul_lazy(rest, p.zzz);
      a = {reduce(mul_lazy(p.x, sqr_lazy(z))), reduce(mul_lazy(p.y, inverted))};
    }
    const u64 at = place(first + i);
    if (at != kNowhere) store(out + at, a);
    if (i == thread) return;
  }
}

}  // namespace detail

// Affine forms of n points, on the device. prefix is scratch of their number. They go to out[place(first + i)], unless that is
// kNowhere; place is a function on the device.
template <class F, class Place>
void to_affine(cudaStream_t stream, const Xyzz<F>* points, F* prefix, u64 first, u32 n, Place place, Affine<F>* out) {
  const u32 per_block = detail::kAffineThreads * detail::kPointsPerInversion;
  launch(detail::to_affine_kernel<F, Place>, (n + per_block - 1) / per_block, detail::kAffineThreads, 0, stream, points, prefix, first, n, place, out);
}

}  // namespace cuzk
