#include "msm/levels.h"

#include "msm/scan.cuh"

namespace cuzk::msm {
namespace {

constexpr u32 kThreads = 512;
constexpr u32 kPerThread = kScanTile / kThreads;
constexpr u32 kPairTile = 4096;  // pairs that a block lists at a time
constexpr u32 kPairsPerThread = kPairTile / kThreads;

// Level 0: pairs among a bucket's entries.
struct EntryPairs {
  const u32* count;
  u32* largest;

  CUZK_D u32 pairs(u32 b) const { return count[b] / 2; }
  CUZK_D void visit_first(u32 b, u32& top) const { top = max(top, count[b]); }
  CUZK_D void finish_first(u32 top) const {
    top = __reduce_max_sync(~0u, top);
    if (threadIdx.x % kWarp == 0 && top) atomicMax(largest, top);
  }
  CUZK_D void visit_second(u32) const {}
  CUZK_D void finish_second(u32) const {}
};

// Later levels: pairs among the sums of the level before and the single point.
struct PointPairs {
  Level from, to;

  CUZK_D u32 sums(u32 b) const { return from.start[b + 1] - from.start[b]; }
  CUZK_D u32 left(u32 b) const { return sums(b) + (from.single[b] != kNone); }
  CUZK_D u32 pairs(u32 b) const { return left(b) / 2; }
  CUZK_D void visit_first(u32, u32&) const {}
  CUZK_D void finish_first(u32) const {}
  // The point without a partner: the single one if the sums are even in number, else the last sum.
  CUZK_D void visit_second(u32 b) const {
    const u32 k = sums(b), single = from.single[b];
    const bool odd = left(b) & 1;
    to.single[b] = !odd ? kNone : k & 1 ? *from.first + from.start[b] + k - 1 : single;
  }
  CUZK_D void finish_second(u32 buckets) const { *to.first = *from.first + from.start[buckets]; }
};

// Prefix sums in two passes: the sum of every tile, then the tiles with what is before them.
template <class Values>
__global__ void __launch_bounds__(kThreads) tile_sums_kernel(Values values, u32 n, u32* sums) {
  __shared__ u32 shared[32];
  const u32 first = blockIdx.x * kScanTile + threadIdx.x;
  u32 own = 0, top = 0, total;
  CUZK_UNROLL
  for (u32 j = 0; j < kPerThread; j++) {
    const u32 b = first + j * kThreads;
    if (b >= n) continue;
    own += values.pairs(b);
    values.visit_first(b, top);
  }
  values.finish_first(top);
  exclusive_in_block(own, shared, total);
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

template <class Values>
__global__ void __launch_bounds__(kThreads) tile_scan_kernel(Values values, u32 n, const u32* sums, u32* start) {
  __shared__ u32 shared[32];
  u32 part = 0, before;
  for (u32 i = threadIdx.x; i < blockIdx.x; i += kThreads) part += sums[i];
  exclusive_in_block(part, shared, before);
  const u32 first = blockIdx.x * kScanTile + threadIdx.x;
  for (u32 j = 0; j < kPerThread; j++) {
    const u32 b = first + j * kThreads;
    u32 total;
    const u32 own = exclusive_in_block(b < n ? values.pairs(b) : 0, shared, total);
    if (b < n) {
      start[b] = before + own;
      values.visit_second(b);
    }
    before += total;
  }
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) {
    start[n] = before;
    values.finish_second(n);
  }
}

template <class Values>
void scan(cudaStream_t stream, const Values& values, u32 n, u32* start, u32* sums) {
  launch(tile_sums_kernel<Values>, scan_blocks(n), kThreads, 0, stream, values, n, sums);
  launch(tile_scan_kernel<Values>, scan_blocks(n), kThreads, 0, stream, values, n, sums, start);
}

// The last bucket whose pairs begin at or before pair t; found by a warp, 32 at a time.
CUZK_D u32 bucket_at(const u32* start, u32 buckets, u32 t) {
  const u32 lane = threadIdx.x % kWarp;
  u32 low = 0, high = buckets - 1;
  while (low < high) {
    const u32 step = (high - low) / kWarp + 1, at = low + step * lane;
    const u32 fits = __ballot_sync(~0u, at <= high && start[at] <= t);
    low += step * u32(31 - __clz(int(fits)));
    high = min(high, low + step - 1);
  }
  return low;
}

// Operands of the pairs. A block marks where the buckets of a tile begin and spreads the marks by a prefix maximum.
__global__ void __launch_bounds__(kThreads) list_pairs_kernel(Level from, Level to, u32 buckets, uint2* pairs) {
  __shared__ u32 mark[kPairTile];
  __shared__ u32 top[kThreads / kWarp], range[2];
  const u32 all = to.start[buckets], first_sum = *from.first, lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  for (u32 first = blockIdx.x * kPairTile; first < all; first += gridDim.x * kPairTile) {
    const u32 end = min(first + kPairTile, all);
    if (warp < 2) {
      const u32 b = bucket_at(to.start, buckets, warp == 0 ? first : end - 1);
      if (lane == 0) range[warp] = b;
    }
    for (u32 i = threadIdx.x; i < kPairTile; i += kThreads) mark[i] = 0;
    __syncthreads();
    const u32 b0 = range[0], b1 = range[1];
    for (u32 b = b0 + threadIdx.x; b <= b1; b += kThreads) {
      const u32 s = to.start[b];
      if (to.start[b + 1] > s) mark[max(s, first) - first] = b - b0;
    }
    __syncthreads();
    // A warp takes consecutive pairs, so that the maxima run over lanes, rounds and warps in turn.
    u32 owner[kPairsPerThread], before = 0;
    const u32 own = warp * (kPairTile / (kThreads / kWarp)) + lane;
    CUZK_UNROLL
    for (u32 j = 0; j < kPairsPerThread; j++) {
      owner[j] = max(before, inclusive_max_in_warp(mark[own + j * kWarp]));
      before = __shfl_sync(~0u, owner[j], kWarp - 1);
    }
    if (lane == 0) top[warp] = before;
    __syncthreads();
    u32 earlier = 0;
    for (u32 w = 0; w < warp; w++) earlier = max(earlier, top[w]);
    CUZK_UNROLL
    for (u32 j = 0; j < kPairsPerThread; j++) {
      const u32 t = first + own + j * kWarp;
      if (t >= end) continue;
      const u32 b = b0 + max(earlier, owner[j]);
      const u32 start = from.start[b], i = start + 2 * (t - to.start[b]);
      const u32 second = i + 1 < from.start[b + 1] ? first_sum + i + 1 : from.single[b];
      pairs[t] = make_uint2(first_sum + i, second);
    }
    __syncthreads();
  }
}

}  // namespace

void scan_counts(cudaStream_t stream, const u32* count, u32 buckets, u32* start, u32* largest, u32* sums) {
  scan(stream, EntryPairs{count, largest}, buckets, start, sums);
}

void next_level(cudaStream_t stream, u32 buckets, const Level& from, const Level& to, uint2* pairs, u32* sums) {
  scan(stream, PointPairs{from, to}, buckets, to.start, sums);
  launch(list_pairs_kernel, u32(multiprocessors()) * 4, kThreads, 0, stream, from, to, buckets, pairs);
}

}  // namespace cuzk::msm
