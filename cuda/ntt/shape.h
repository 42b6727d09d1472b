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

// Where the eight values of a thread stand in shared memory in one stage, in bytes. The transform of kPart points has its
// index cut into digits to the base 8, and stage s is over the s-th from the highest. The lowest digit is mixed with the
// highest: otherwise the last stage, whose threads differ in the highest digit, would have them all in the same banks.
// kUnit is the distance of neighbours.
template <int kStages, u32 kUnit>
class StageSlots {
 public:
  CUZK_HD StageSlots(int stage, u32 part, u32 t) {
    const u32 high = t >> 3, low = t & 7;
    const bool first = stage == 0, last = stage == kStages - 1;
    if constexpr (kStages == 2) {
      origin_ = first ? 0 : low * 8 * kUnit;
      low_ = low * kUnit;
    } else {
      origin_ = (first ? high * 8 : last ? low * 64 + high * 8 : high * 64) * kUnit;
      low_ = (first || last ? low : low ^ high) * kUnit;
    }
    origin_ += of_part(part);
    step_ = last ? 0 : kStages == 3 && first ? 64 * kUnit : 8 * kUnit;
    mix_ = first || last ? ~0u : 0;
  }
  CUZK_HD u32 at(u32 j) const { return origin_ + j * step_ + (low_ ^ (j * kUnit & mix_)); }
  static CUZK_HD u32 of_part(u32 part) { return part * (kStages == 3 ? 512 : 64) * kUnit; }
  // Of a value of a part by its index instead of its digit in a stage.
  static CUZK_HD u32 of_index(u32 index) {
    const u32 highest = kStages == 3 ? index >> 6 & 7 : index >> 3 & 7;
    return (index ^ highest) * kUnit;
  }

 private:
  u32 origin_, step_, low_, mix_;
};

}  // namespace cuzk::ntt
