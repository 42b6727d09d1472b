// Sets of wires as bitmaps on the device, and lists of their members.
//
// Cost: a count or a list reads a few bits a wire and writes 4 or 8 bytes a member: 2^27 wires in about 0.1 ms.
#pragma once

#include "base/device.h"

namespace cuzk::groth16 {

// Wires that one block of threads looks at, a word of 32 a thread. Bitmaps are padded with zeros to whole blocks.
constexpr u32 kWordsPerBlock = 256;
constexpr u32 kWiresPerBlock = 32 * kWordsPerBlock;

inline u32 selection_blocks(u64 wires) { return u32((wires + kWiresPerBlock - 1) / kWiresPerBlock); }
inline std::size_t bitmap_words(u64 wires) { return std::size_t(selection_blocks(wires)) * kWordsPerBlock; }

// Intersections are pairs of bitmaps.
constexpr int kMaxIntersections = 8;
struct Intersections {
  const u32 *set[kMaxIntersections], *within[kMaxIntersections];
};

namespace detail {

// Sum of v over the lanes before this one, and over all of the block in *total. Shared: 33 words.
CUZK_D u32 exclusive_in_block(u32 v, u32* shared, u32* total) {
  const u32 lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
  u32 sum = v;
  for (u32 d = 1; d < kWarp; d <<= 1) {
    const u32 below = __shfl_up_sync(~0u, sum, d);
    if (lane >= d) sum += below;
  }
  if (lane == kWarp - 1) shared[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    u32 w = lane < warps ? shared[lane] : 0;
    for (u32 d = 1; d < kWarp; d <<= 1) {
      const u32 below = __shfl_up_sync(~0u, w, d);
      if (lane >= d) w += below;
    }
    if (lane < warps) shared[lane] = w;
    if (lane == warps - 1) shared[32] = w;
  }
  __syncthreads();
  *total = shared[32];
  const u32 before = warp == 0 ? 0 : shared[warp - 1];
  __syncthreads();
  return before + sum - v;
}

// Counts the members of each intersection in every block; a list of counts has an entry more than blocks.
__global__ void __launch_bounds__(kWordsPerBlock) count_members_kernel(Intersections sets, u32* counts) {
  __shared__ u32 shared[33];
  const u32 k = blockIdx.y;
  const std::size_t word = std::size_t(blockIdx.x) * kWordsPerBlock + threadIdx.x;
  u32 total;
  exclusive_in_block(__popc(sets.set[k][word] & sets.within[k][word]), shared, &total);
  if (threadIdx.x == 0) counts[k * (gridDim.x + 1) + blockIdx.x] = total;
}

// Turns each list's counts into sums of those before; the entry after the last is the sum of all.
__global__ void __launch_bounds__(1024) sum_counts_kernel(u32* counts, u32 n) {
  __shared__ u32 shared[33];
  u32* list = counts + std::size_t(blockIdx.x) * (n + 1);
  u32 before = 0;
  for (u32 start = 0; start < n; start += blockDim.x) {
    const u32 i = start + threadIdx.x;
    const u32 v = i < n ? list[i] : 0;
    u32 total;
    const u32 own = exclusive_in_block(v, shared, &total);
    if (i < n) list[i] = before + own;
    before += total;
  }
  if (threadIdx.x == 0) list[n] = before;
}

// rank[word] = members of the set before the word, from the sums of the blocks.
__global__ void __launch_bounds__(kWordsPerBlock) rank_kernel(const u32* set, const u32* sums, u32* rank) {
  __shared__ u32 shared[33];
  const std::size_t word = std::size_t(blockIdx.x) * kWordsPerBlock + threadIdx.x;
  u32 total;
  rank[word] = sums[blockIdx.x] + exclusive_in_block(__popc(set[word]), shared, &total);
}

// Lists the members of set ∩ within from block first on: place[i] is the rank in `within` of the i-th, less base, and
// wire[i], where wanted, its wire. A warp writes the members of its 32 words together, so that stores are contiguous.
__global__ void __launch_bounds__(kWordsPerBlock)
    list_members_kernel(const u32* set, const u32* within, const u32* rank, const u32* sums, u32 first, u32 base, u32* place, u32* wire) {
  __shared__ u32 shared[33];
  const u32 block = first + blockIdx.x;
  const u32 word = block * kWordsPerBlock + threadIdx.x;
  const u32 all = within[word], members = set[word] & all, start = rank[word] - base;
  u32 total;
  const u32 own = sums[block] - sums[first] + exclusive_in_block(__popc(members), shared, &total);
  const u32 lane = threadIdx.x % kWarp, below = (1u << lane) - 1;
  for (u32 k = 0; k < kWarp; k++) {
    const u32 m = __shfl_sync(~0u, members, int(k)), w = __shfl_sync(~0u, all, int(k));
    const u32 at = __shfl_sync(~0u, own, int(k)), from = __shfl_sync(~0u, start, int(k));
    if (!(m >> lane & 1)) continue;
    const u32 i = at + __popc(m & below);
    place[i] = from + __popc(w & below);
    if (wire) wire[i] = (word - lane + k) * kWarp + lane;
  }
}

}  // namespace detail

// For each of n intersections, the numbers of members before each block, and of all at the end: n lists of blocks + 1.
inline void count_members(cudaStream_t stream, const Intersections& sets, u32 n, u32 blocks, u32* sums) {
  launch(detail::count_members_kernel, dim3(blocks, n), kWordsPerBlock, 0, stream, sets, sums);
  launch(detail::sum_counts_kernel, n, 1024, 0, stream, sums, blocks);
}

// Bitmap of wires with the number of members before each word, so that a member's place among them is two loads.
class RankedSet {
 public:
  RankedSet() = default;
  // words are those of the bitmap on the host, for this many wires.
  RankedSet(const u32* words, u64 wires, cudaStream_t stream)
      : blocks_(selection_blocks(wires)), words_(bitmap_words(wires)), rank_(bitmap_words(wires)), sums_(blocks_ + 1) {
    if (blocks_ == 0) return;
    words_.clear(stream);
    words_.upload(words, (wires + 31) / 32, stream);
    count_members(stream, {{words_.get()}, {words_.get()}}, 1, blocks_, sums_.get());
    launch(detail::rank_kernel, blocks_, kWordsPerBlock, 0, stream, words_.get(), sums_.get(), rank_.get());
    host_sums_.resize(blocks_ + 1);
    sums_.download(host_sums_.data(), blocks_ + 1, stream);
    check(cudaStreamSynchronize(stream), "ranking a set of wires");
  }

  u32 blocks() const { return blocks_; }
  const u32* words() const { return words_.get(); }
  const u32* rank() const { return rank_.get(); }
  // The numbers before each block, and of all.
  const u32* sums() const { return sums_.get(); }
  // Members before a block; that of blocks() is their number.
  u32 before(u32 block) const { return host_sums_.empty() ? 0 : host_sums_[block]; }
  u32 size() const { return before(blocks_); }
  std::size_t bytes() const { return words_.bytes() + rank_.bytes() + sums_.bytes(); }
  static std::size_t bytes_for(u64 wires) { return 8 * bitmap_words(wires) + 4 * (std::size_t(selection_blocks(wires)) + 1); }

 private:
  u32 blocks_ = 0;
  DeviceArray<u32> words_, rank_, sums_;
  std::vector<u32> host_sums_;
};

}  // namespace cuzk::groth16
