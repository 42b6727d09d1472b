// The entries of the sort: signed digits of some windows, numbered as the kernels see them.
#pragma once

#include "base/platform.h"

namespace cuzk::msm {

// An entry is a base, of any copy, with a sign in the top bit. A digit d puts the base into bucket |d| - 1 of its window; the digit of
// an entry is stored as that bucket with the sign in the top bit, or kNoDigit for zero.
constexpr u32 kSign = 0x80000000u;
constexpr u32 kNoDigit = 0xffffffffu;
constexpr u32 kNone = 0xffffffffu;  // no point

// Bytes of shared memory in which a block counts the entries of every partition.
constexpr std::size_t digits_shared_bytes(u64 partitions) { return sizeof(u32) * partitions; }

// The windows first, first + 1, ... that are sorted together, and how their buckets lie in partitions: partition k of a
// window holds its buckets from k << low_bits on. The last window of a scalar has fewer buckets in use, unless other copies use them;
// they are spread over the partitions all the same.
struct Windows {
  u32 n;               // entries of a window: scalars times copies
  u32 scalars;
  u32 digits, copies;  // of a scalar; of the bases
  u32 bits;            // of a window
  u32 windows;         // of the plan, these among them
  u32 first, count;
  u32 partition_bits;
  u32 low_bits, last_low_bits;  // of all windows but the last of these, and of that one
  u32 buckets;         // in use, all windows together
  u32 add[9];          // half a window's range in every window of the scalar: makes digits signed without carries

  CUZK_HD u32 per_window() const { return 1u << (bits - 1); }
  CUZK_HD u32 low_bits_of(u32 window) const { return window + 1 == count ? last_low_bits : low_bits; }
  CUZK_HD u32 partitions() const { return count << partition_bits; }
  // First bucket of a partition.
  CUZK_HD u32 bucket_of(u32 partition) const {
    const u32 window = partition >> partition_bits;
    return window * per_window() + ((partition & ((1u << partition_bits) - 1)) << low_bits_of(window));
  }
  CUZK_HD u32 low_bits_in(u32 partition) const { return low_bits_of(partition >> partition_bits); }
};

}  // namespace cuzk::msm
