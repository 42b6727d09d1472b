// Multiples of fixed bases, for sums that are made again and again with other scalars.
//
// Copy k of the bases is 2^(k c w) times the first, for digits of c bits and w windows. Digit i of a scalar then belongs to
// window i mod w of copy i / w, so that w windows of buckets serve all digits, and can be larger than those of plain bases: fewer
// digits, and fewer buckets to reduce.
//
// Cost: c w doublings a copy of a base, at 2M + 5S, and the room of the copies.
#pragma once

#include <algorithm>

#include "curve/batch_affine.cuh"

namespace cuzk::msm {

namespace detail {

constexpr u32 kDoublingThreads = 128;
constexpr u64 kDoubledAtOnce = u64(1) << 18;

template <class F>
__global__ void __launch_bounds__(kDoublingThreads) double_kernel(const Affine<F>* bases, u32 n, u32 times, Xyzz<F>* out) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) store(out + i, times_power_of_two(Xyzz<F>::of(load(bases + i)), times));
}

// As it lies.
struct InOrder {
  CUZK_D u64 operator()(u64 i) const { return i; }
};

}  // namespace detail

// Makes the other copies of n bases behind the first.
template <class F>
void make_copies(cudaStream_t stream, Affine<F>* bases, u64 n, u32 copies, u32 copy_bits) {
  if (copies == 1 || n == 0) return;
  const u64 at_once = std::min(n, detail::kDoubledAtOnce);
  DeviceArray<Xyzz<F>> doubled(at_once);
  DeviceArray<F> prefix(at_once);
  // A copy comes from the one before it, which is n points back.
  for (u64 first = 0; first < n * (copies - 1); first += at_once) {
    const u32 part = u32(std::min(at_once, n * (copies - 1) - first));
    launch(detail::double_kernel<F>, (part + detail::kDoublingThreads - 1) / detail::kDoublingThreads, detail::kDoublingThreads, 0, stream,
           bases + first, part, copy_bits, doubled.get());
    to_affine(stream, doubled.get(), prefix.get(), n + first, part, detail::InOrder(), bases);
  }
  check(cudaStreamSynchronize(stream), "making multiples of bases");
}

}  // namespace cuzk::msm
