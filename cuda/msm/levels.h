// Bookkeeping of the bucket tree. A level adds pairs of points within every bucket and so halves what is left of it, until
// every bucket is one point.
//
// Points are numbered; see PointPlanes. After a level, what is left of bucket b is the level's sums from *first + start[b] to
// *first + start[b + 1], and perhaps one point of an earlier level that had no partner, single[b]. All sums of a level lie in
// the order of the buckets, so the number of a sum is that of its pair, and only the operands of a pair need a list. Levels
// follow each other without gaps, since every entry but one a bucket is added once.
#pragma once

#include "base/device.h"
#include "msm/windows.h"

namespace cuzk::msm {

struct Level {
  u32* start;   // buckets + 1
  u32* single;  // buckets; kNone where there is none
  u32* first;   // one word: number of the level's first sum
};

constexpr u32 kScanTile = 4096;  // values of a prefix sum that a block takes
inline u32 scan_blocks(u64 n) { return u32((n + kScanTile - 1) / kScanTile); }

// start[b] = sum of count / 2 over the buckets before b; largest = the largest count, at least what it was before. sums:
// scan_blocks words.
void scan_counts(cudaStream_t stream, const u32* count, u32 buckets, u32* start, u32* largest, u32* sums);
// What is left after the next level, and the two operands of each of its pairs.
void next_level(cudaStream_t stream, u32 buckets, const Level& from, const Level& to, uint2* pairs, u32* sums);

}  // namespace cuzk::msm
