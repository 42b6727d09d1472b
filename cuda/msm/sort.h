// Counting sort of entries into buckets, in two steps: tiles of entries into partitions, partitions into buckets. Nothing
// here depends on field or curve.
//
// A block of the second step takes a slice of the partitioned entries, whichever partitions it meets, so that a partition
// of any size is spread over as many blocks as it needs: equal digits cost no more than random ones. The part of a slice
// that lies in one partition is a segment; that of slice i in partition k has number i + k.
//
// Bytes an entry: 4 read and 6 written by the first step; 2 read by the counting, 6 read and 4 written by the placing.
#pragma once

#include "base/device.h"
#include "msm/windows.h"

namespace cuzk::msm {

constexpr u32 kTile = 8192;  // entries of a window that a block partitions at a time

// Bytes of shared memory that a block takes: plans choose by it what launches ask for.
constexpr std::size_t partition_shared_bytes(u32 partition_bits) { return sizeof(u32) * ((std::size_t(2) << partition_bits) + 2 * kTile); }
constexpr std::size_t count_shared_bytes(u32 low_bits) { return sizeof(u32) << low_bits; }
constexpr std::size_t kPlacedEntryBytes = sizeof(u32) + sizeof(u16);
constexpr std::size_t place_shared_bytes(u32 low_bits, u32 slice) { return 3 * count_shared_bytes(low_bits) + kPlacedEntryBytes * slice; }

// Scratch of the sort. Entries: n for every window.
struct SortScratch {
  u32* digits;      // entries
  u32* entry;       // entries, partitioned: base and sign
  u16* low;         // entries, partitioned: the bucket within its partition
  u32* partition;   // partitions + 1: entries of each, then where each begins
  u32* cursor;      // partitions
  uint2* shares;    // segments << low_bits: what a segment has of a bucket, where that begins in the bucket and how much it is
};

// What the sort gives. The entries of bucket b, but for the last one of an odd number, are in pairs from
// 2 pair_start[b] on; the last one of an odd number is odd[b].
struct Sorted {
  u32* count;       // buckets
  u32* pair_start;  // buckets + 1
  u32* pairs;       // entries
  u32* odd;         // buckets
  u32* largest;     // one word: the largest count
};

// Partitions the digits; partition[] holds the number of entries of each.
void partition(cudaStream_t stream, const Windows& w, const SortScratch& s);
// Sorts the partitioned entries into buckets. sums: scratch of scan_counts.
void sort_partitions(cudaStream_t stream, const Windows& w, u32 slice, const SortScratch& s, const Sorted& out, u32* sums);

}  // namespace cuzk::msm
