#include "msm/sort.h"

#include "msm/levels.h"
#include "msm/scan.cuh"

namespace cuzk::msm {
namespace {

constexpr u32 kPartitionThreads = 512;
constexpr u32 kPerThread = kTile / kPartitionThreads;
constexpr u32 kSliceThreads = 1024;
constexpr u32 kUnroll = 4;

// entries of each partition -> where it begins, and a cursor there.
__global__ void __launch_bounds__(1024) begin_partitions_kernel(u32* partition, u32* cursor, u32 n) {
  __shared__ u32 shared[32];
  u32 before = 0;
  for (u32 start = 0; start < n; start += blockDim.x) {
    const u32 i = start + threadIdx.x;
    u32 total;
    const u32 own = before + exclusive_in_block(i < n ? partition[i] : 0, shared, total);
    if (i < n) partition[i] = cursor[i] = own;
    before += total;
  }
  if (threadIdx.x == 0) partition[n] = before;
}

// One tile of one window: counted, ordered by partition in shared memory, and written in runs.
__global__ void __launch_bounds__(kPartitionThreads) partition_kernel(SortScratch s, Windows w) {
  CUZK_DYNAMIC_SHARED(u32, shared);
  __shared__ u32 sums[32];
  const u32 window = blockIdx.y, bins = 1u << w.partition_bits, low_bits = w.low_bits_of(window);
  u32* count = shared;          // then where a bin begins in the tile
  u32* offset = count + bins;   // from there to where it goes
  u32* entry = offset + bins;
  u32* key = entry + kTile;     // bin and bucket within it
  for (u32 i = threadIdx.x; i < bins; i += blockDim.x) count[i] = 0;
  __syncthreads();

  const u32 first = blockIdx.x * kTile + threadIdx.x;
  const u32* digits = s.digits + std::size_t(window) * w.n;
  u32 digit[kPerThread], rank[kPerThread];
  CUZK_UNROLL
  for (u32 j = 0; j < kPerThread; j++) {
    const u32 i = first + j * kPartitionThreads;
    digit[j] = i < w.n ? __ldcs(digits + i) : kNoDigit;
  }
  CUZK_UNROLL
  for (u32 j = 0; j < kPerThread; j++)
    rank[j] = digit[j] == kNoDigit ? 0 : atomicAdd(&count[(digit[j] & ~kSign) >> low_bits], 1u);
  __syncthreads();

  u32 total = 0;
  for (u32 start = 0; start < bins; start += blockDim.x) {
    const u32 i = start + threadIdx.x, n = i < bins ? count[i] : 0;
    u32 all;
    const u32 own = total + exclusive_in_block(n, sums, all);
    if (n) offset[i] = atomicAdd(&s.cursor[window * bins + i], n) - own;
    if (i < bins) count[i] = own;
    total += all;
  }
  __syncthreads();

  CUZK_UNROLL
  for (u32 j = 0; j < kPerThread; j++) {
    if (digit[j] == kNoDigit) continue;
    const u32 bucket = digit[j] & ~kSign, bin = bucket >> low_bits, at = count[bin] + rank[j];
    entry[at] = (first + j * kPartitionThreads) | (digit[j] & kSign);
    key[at] = bin << 16 | (bucket & ((1u << low_bits) - 1));
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < total; i += blockDim.x) {
    const u32 to = i + offset[key[i] >> 16];
    s.entry[to] = entry[i];
    s.low[to] = u16(key[i]);
  }
}

// The partition that entry i lies in: the last one that begins at or before it and is not empty.
CUZK_D u32 partition_at(const u32* partition, u32 n, u32 i) {
  u32 low = 0, high = n - 1;
  while (low < high) {
    const u32 middle = (low + high + 1) / 2;
    if (partition[middle] <= i) low = middle;
    else high = middle - 1;
  }
  return low;
}

// Calls visit(segment, partition, first, end) for the parts of the block's slice, one partition each.
template <class Visit>
CUZK_D void for_segments(const u32* partition, u32 partitions, u32 slice, Visit visit) {
  const u64 from = u64(blockIdx.x) * slice;
  const u32 all = partition[partitions];
  if (from >= all) return;
  const u32 to = u32(min(from + slice, u64(all)));
  u32 k = partition_at(partition, partitions, u32(from));
  for (u32 first = u32(from); first < to; k++) {
    const u32 end = min(to, partition[k + 1]);
    if (end > first) visit(blockIdx.x + k, k, first, end);
    first = max(first, end);
  }
}

// Adds one to counter[key] for every lane with a key, together where all lanes have the same one; gives the old value.
CUZK_D u32 take(u32* counter, u32 key, bool valid) {
  const u32 lane = threadIdx.x % kWarp, leader_key = __shfl_sync(~0u, key, 0);
  if (__all_sync(~0u, valid && key == leader_key)) {
    u32 old = 0;
    if (lane == 0) old = atomicAdd(&counter[key], kWarp);
    return __shfl_sync(~0u, old, 0) + lane;
  }
  return valid ? atomicAdd(&counter[key], 1u) : 0;
}

// Counts a slice's entries by bucket, and notes each segment's share of a bucket.
__global__ void __launch_bounds__(kSliceThreads, 2) count_kernel(SortScratch s, Windows w, u32 slice, u32* count) {
  CUZK_DYNAMIC_SHARED(u32, bins);
  for_segments(s.partition, w.partitions(), slice, [&](u32 segment, u32 partition, u32 first, u32 end) {
    const u32 n = 1u << w.low_bits_in(partition), bucket = w.bucket_of(partition);
    for (u32 i = threadIdx.x; i < n; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    for (u32 start = first; start < end; start += blockDim.x * kUnroll) {
      u32 key[kUnroll];
      CUZK_UNROLL
      for (u32 j = 0; j < kUnroll; j++) {
        const u32 i = start + j * blockDim.x + threadIdx.x;
        key[j] = i < end ? s.low[i] : kNone;
      }
      CUZK_UNROLL
      for (u32 j = 0; j < kUnroll; j++) take(bins, key[j], key[j] != kNone);
    }
    __syncthreads();
    uint2* shares = s.shares + (std::size_t(segment) << w.low_bits);
    for (u32 i = threadIdx.x; i < n; i += blockDim.x) {
      const u32 share = bins[i];
      shares[i] = make_uint2(share ? atomicAdd(&count[bucket + i], share) : 0, share);
    }
    __syncthreads();
  });
}

// Puts a slice's entries where they belong: orders each segment by bucket in shared memory, then writes it in runs.
__global__ void __launch_bounds__(kSliceThreads, 2) place_kernel(SortScratch s, Windows w, u32 slice, Sorted out) {
  CUZK_DYNAMIC_SHARED(u32, shared);
  __shared__ u32 sums[32];
  const u32 bins = 1u << max(w.low_bits, w.last_low_bits);
  u32* next = shared;           // of a bucket, in the segment's order
  u32* offset = next + bins;    // from there to where it goes
  u32* pairs_end = offset + bins;
  u32* entry = pairs_end + bins;
  u16* key = reinterpret_cast<u16*>(entry + slice);
  for_segments(s.partition, w.partitions(), slice, [&](u32 segment, u32 partition, u32 first, u32 end) {
    const u32 n = 1u << w.low_bits_in(partition), bucket = w.bucket_of(partition);
    const uint2* shares = s.shares + (std::size_t(segment) << w.low_bits);
    u32 before = 0;
    for (u32 start = 0; start < n; start += blockDim.x) {
      const u32 i = start + threadIdx.x;
      const uint2 share = i < n ? shares[i] : make_uint2(0, 0);
      u32 total;
      const u32 own = before + exclusive_in_block(share.y, sums, total);
      if (i < n) {
        next[i] = own;
        offset[i] = 2 * out.pair_start[bucket + i] + share.x - own;
        pairs_end[i] = 2 * out.pair_start[bucket + i + 1];
      }
      before += total;
    }
    __syncthreads();
    for (u32 start = first; start < end; start += blockDim.x * kUnroll) {
      u32 k[kUnroll], v[kUnroll];
      CUZK_UNROLL
      for (u32 j = 0; j < kUnroll; j++) {
        const u32 i = start + j * blockDim.x + threadIdx.x;
        k[j] = i < end ? s.low[i] : kNone;
        v[j] = i < end ? __ldcs(s.entry + i) : 0;
      }
      CUZK_UNROLL
      for (u32 j = 0; j < kUnroll; j++) {
        const u32 at = take(next, k[j], k[j] != kNone);
        if (k[j] == kNone) continue;
        entry[at] = v[j];
        key[at] = u16(k[j]);
      }
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < end - first; i += blockDim.x) {
      const u32 k = key[i], to = i + offset[k];
      if (to < pairs_end[k]) out.pairs[to] = entry[i];
      else out.odd[bucket + k] = entry[i];
    }
    __syncthreads();
  });
}

}  // namespace

void partition(cudaStream_t stream, const Windows& w, const SortScratch& s) {
  launch(begin_partitions_kernel, 1, 1024, 0, stream, s.partition, s.cursor, w.partitions());
  launch(partition_kernel, dim3((w.n + kTile - 1) / kTile, w.count), kPartitionThreads, partition_shared_bytes(w.partition_bits), stream, s, w);
}

void sort_partitions(cudaStream_t stream, const Windows& w, u32 slice, const SortScratch& s, const Sorted& out, u32* sums) {
  const u32 slices = u32((u64(w.n) * w.count + slice - 1) / slice);
  const u32 low_bits = std::max(w.low_bits, w.last_low_bits);
  check(cudaMemsetAsync(out.count, 0, sizeof(u32) * w.buckets, stream), "clearing the counts of buckets");
  check(cudaMemsetAsync(out.largest, 0, sizeof(u32), stream), "clearing the largest count");
  launch(count_kernel, slices, kSliceThreads, count_shared_bytes(low_bits), stream, s, w, slice, out.count);
  scan_counts(stream, out.count, w.buckets, out.pair_start, out.largest, sums);
  launch(place_kernel, slices, kSliceThreads, place_shared_bytes(low_bits, slice), stream, s, w, slice, out);
}

}  // namespace cuzk::msm
