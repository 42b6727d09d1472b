// The block that transforms over one digit: sizes, and where values stand in its shared memory.
#pragma once

#include "base/platform.h"

namespace cuzk::ntt {

// A transform of 2^kLog points by eight values a thread: a first stage of radix 1, 2 or 4, after which that many
// transforms of 64 or 512 points are left, done by two or three stages of radix 8.
template <int kLog>
struct Shape {
  static_assert(kLog >= 6 && kLog <= 10, "a pass is over 64 to 1024 points");
  static constexpr u32 kSize = 1u << kLog;
  static constexpr int kStages = kLog >= 9 ? 3 : 2;
  static constexpr u32 kPart = kStages == 3 ? 512 : 64;
  static constexpr u32 kParts = kSize / kPart;  // radix of the first stage
  static constexpr u32 kLanes = kSize / 8;      // threads of a transform
  static constexpr u32 kPartLanes = kPart / 8;
  // A block does several transforms side by side, so that it touches whole sectors of memory. Smaller ones are in
  // smaller blocks: their sizes occur where there are few blocks to spread over the device.
  static constexpr u32 kThreads = kLog >= 9 ? 256 : 128;
  static constexpr u32 kPoints = 8 * kThreads;
  static constexpr u32 kColumns = kPoints / kSize;
  static constexpr u32 kBlocksPerMultiprocessor = 768 / kThreads;
  static constexpr std::size_t kSharedBytes = kPoints * 32;
};

// Index, in the transform of kPart points, of the j-th value of thread t in a stage: stage s is over the s-th digit to
// the base 8, from the highest.
template <int kStages>
CUZK_HD u32 stage_index(int stage, u32 t, u32 j) {
  if constexpr (kStages == 2) {
    return stage == 0 ? j * 8 + t : t * 8 + j;
  } else {
    const u32 high = stage == 0 ? j : stage == 1 ? t >> 3 : t & 7;
    const u32 middle = stage == 1 ? j : t >> 3;
    const u32 low = stage == 2 ? j : t & 7;
    return high * 64 + middle * 8 + low;
  }
}

// Values of a transform stand in shared memory with the lowest digit mixed with the highest: otherwise the last stage,
// whose threads differ in the highest digit, would have them all in the same banks.
template <int kStages>
CUZK_HD u32 swizzle(u32 index) {
  const u32 highest = kStages == 3 ? index >> 6 & 7 : index >> 3 & 7;
  return index ^ highest;
}

}  // namespace cuzk::ntt
