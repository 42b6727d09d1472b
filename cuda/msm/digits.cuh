// Signed digits of scalars.
//
// A scalar above r/2 is replaced by r - s with the other sign. Adding 2^(c-1) to every window of c bits makes the digit of
// a window its c bits less 2^(c-1), between -2^(c-1) and 2^(c-1) - 1, without carries from window to window.
//
// Bytes: 32 a scalar read for all windows together, 4 an entry written.
#pragma once

#include "base/device.h"
#include "field/field.h"
#include "msm/windows.h"

namespace cuzk::msm {

constexpr u32 kDigitThreads = 256;

// s or r - s, whichever is at most r/2, in the low eight words; tells whether it was the second.
template <class Fr>
CUZK_D bool fold(u32 (&s)[9], const u32* scalar) {
  constexpr auto r = Fr::Params::kModulus;
  const uint4 low = __ldg(reinterpret_cast<const uint4*>(scalar));
  const uint4 high = __ldg(reinterpret_cast<const uint4*>(scalar) + 1);
  const u32 v[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  u32 other[8];
  i64 borrow = 0;
  CUZK_UNROLL
  for (int i = 0; i < 8; i++) {
    borrow += i64(r.v[i]) - v[i];
    other[i] = u32(borrow);
    borrow >>= 32;
  }
  CUZK_UNROLL
  for (int i = 0; i < 8; i++) borrow = (borrow + other[i] - v[i]) >> 32;
  const bool negative = borrow < 0;
  CUZK_UNROLL
  for (int i = 0; i < 8; i++) s[i] = negative ? other[i] : v[i];
  s[8] = 0;
  return negative;
}

// Shifts right by less than 32 bits.
CUZK_D void shift_down(u32 (&s)[9], u32 by) {
  CUZK_UNROLL
  for (int i = 0; i < 8; i++) s[i] = __funnelshift_r(s[i], s[i + 1], by);
  s[8] >>= by;
}

// Digits of the windows, window by window and in a window copy by copy, and the number of entries of every partition.
template <class Fr>
__global__ void __launch_bounds__(kDigitThreads) digits_kernel(const u32* scalars, u32* digits, u32* entries, Windows w) {
  CUZK_DYNAMIC_SHARED(u32, counts);
  const u32 partitions = w.partitions(), half = w.per_window(), mask = 2 * half - 1;
  for (u32 i = threadIdx.x; i < partitions; i += blockDim.x) counts[i] = 0;
  __syncthreads();
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < w.scalars; i += gridDim.x * blockDim.x) {
    u32 s[9];
    const bool negative = fold<Fr>(s, scalars + 8 * std::size_t(i));
    u64 carry = 0;
    CUZK_UNROLL
    for (int j = 0; j < 9; j++) {
      carry += u64(s[j]) + w.add[j];
      s[j] = u32(carry);
      carry >>= 32;
    }
    u32 left = w.digits;
    for (u32 copy = 0; copy < w.copies; copy++) {
      u32* to = digits + std::size_t(copy) * w.scalars + i;
      for (u32 window = 0; window < w.windows; window++) {
        const u32 k = window - w.first;
        if (k < w.count) {
          const i32 d = left ? i32(s[0] & mask) - i32(half) : 0;
          u32 entry = kNoDigit;
          if (d != 0) {
            const u32 bucket = u32(d < 0 ? -d : d) - 1;
            entry = bucket | ((d < 0) != negative ? kSign : 0);
            atomicAdd(&counts[(k << w.partition_bits) + (bucket >> w.low_bits_of(k))], 1u);
          }
          to[std::size_t(k) * w.n] = entry;
        }
        shift_down(s, w.bits);
        if (left) left--;
      }
    }
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < partitions; i += blockDim.x)
    if (counts[i]) atomicAdd(&entries[i], counts[i]);
}

}  // namespace cuzk::msm
