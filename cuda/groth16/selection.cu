#include "groth16/selection.h"

namespace cuzk::groth16 {

namespace {

// Sum of v over the lanes before this one, and over all of the block in *total. Shared: 33 words.
__device__ u32 exclusive_in_block(u32 v, u32* shared, u32* total) {
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

__global__ void __launch_bounds__(kWordsPerBlock) rank_kernel(const u32* set, const u32* sums, u32* rank) {
  __shared__ u32 shared[33];
  const std::size_t word = std::size_t(blockIdx.x) * kWordsPerBlock + threadIdx.x;
  u32 total;
  rank[word] = sums[blockIdx.x] + exclusive_in_block(__popc(set[word]), shared, &total);
}

// A warp writes the members of its 32 words together, so that stores are contiguous.
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

__global__ void __launch_bounds__(kWordsPerBlock) complement_kernel(const u32* set, u64 wires, u32* out) {
  const u64 word = u64(blockIdx.x) * kWordsPerBlock + threadIdx.x;
  const u64 left = wires > 32 * word ? wires - 32 * word : 0;
  const u32 mask = left >= 32 ? ~0u : (1u << left) - 1;
  out[word] = mask ? ~set[word] & mask : 0;  // words beyond the last wire need not be set
}

}  // namespace

void count_members(cudaStream_t stream, const Intersections& sets, u32 n, u32 blocks, u32* sums) {
  launch(count_members_kernel, dim3(blocks, n), kWordsPerBlock, 0, stream, sets, sums);
  launch(sum_counts_kernel, n, 1024, 0, stream, sums, blocks);
}

void rank_members(cudaStream_t stream, const u32* set, const u32* sums, u32 blocks, u32* rank) {
  launch(rank_kernel, blocks, kWordsPerBlock, 0, stream, set, sums, rank);
}

void list_members(cudaStream_t stream, const u32* set, const u32* within, const u32* rank, const u32* sums, u32 first, u32 blocks, u32 base,
                  u32* place, u32* wire) {
  launch(list_members_kernel, blocks, kWordsPerBlock, 0, stream, set, within, rank, sums, first, base, place, wire);
}

void complement(cudaStream_t stream, const u32* set, u64 wires, u32* out) {
  launch(complement_kernel, selection_blocks(wires), kWordsPerBlock, 0, stream, set, wires, out);
}

}  // namespace cuzk::groth16
