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

// For each of n intersections, the numbers of members before each block, and of all at the end: n lists of blocks + 1.
void count_members(cudaStream_t stream, const Intersections& sets, u32 n, u32 blocks, u32* sums);
// rank[word] = members of a set before the word, from the numbers before the blocks.
void rank_members(cudaStream_t stream, const u32* set, const u32* sums, u32 blocks, u32* rank);
// Lists the members of set ∩ within in `blocks` blocks from the first on: place[i] is the rank in `within` of the i-th, less
// base, and wire[i], unless null, its wire. sums are the numbers before the blocks, of set ∩ within.
void list_members(cudaStream_t stream, const u32* set, const u32* within, const u32* rank, const u32* sums, u32 first, u32 blocks, u32 base,
                  u32* place, u32* wire);
// The wires, of so many, that are not in a set.
void complement(cudaStream_t stream, const u32* set, u64 wires, u32* out);

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
    rank_members(stream, words_.get(), sums_.get(), blocks_, rank_.get());
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
