// Sums of pairs, as the rest of cuda/msm asks for them. The kernels are in pair_sums.cuh, and in objects of their own.
#pragma once

#include "base/device.h"
#include "msm/pair_sources.cuh"

namespace cuzk::msm {

// Threads of a block and blocks of a multiprocessor. For 381 bits, 128 registers a thread and 16 warps: measured on an H200,
// smaller blocks are up to 3 % slower (two inversions at a time take the time of one), more registers do not help.
template <class F>
struct PairShape {
  static constexpr u32 kThreads = 512, kBlocks = 1;
};
template <class F>
struct PairShape<Fp2<F>> {
  static constexpr u32 kThreads = 256, kBlocks = 1;
};

// Prefix products of all blocks.
template <class F>
std::size_t prefix_vectors(u32 pairs_per_thread) {
  return std::size_t(multiprocessors()) * PairShape<F>::kBlocks * PairShape<F>::kThreads * pairs_per_thread * (sizeof(F) / sizeof(uint4));
}

// Where the sum of pair t goes: to point first + t, where first is known or told by a word in device memory.
template <class F>
struct PairResults {
  PointPlanes<F> points;
  u32 known;
  const u32* told = nullptr;

  CUZK_D u32 first() const { return told ? *told : known; }
};

// What the pair kernels of one sum share: prefix products, and a list of exceptions with a counter for every launch.
template <class F>
struct PairAdder {
  static constexpr u32 kCounters = 32;  // a level halves what there is, and numbers have 32 bits

  uint4* prefix;
  u32 per_thread;
  u32* exceptional;  // as many as there may be pairs at a time
  u32* counters;
  u32 used;

  // Before up to kCounters launches.
  void reset(cudaStream_t stream) {
    used = 0;
    check(cudaMemsetAsync(counters, 0, kCounters * sizeof(u32), stream), "clearing the counts of exceptions");
  }

  // Enqueues the sums of all pairs of the source. Several launches, and the longest wait for one inversion: 0.1 ms at least.
  void add(cudaStream_t stream, const BasePairs<F>& source, const PairResults<F>& out);
  void add(cudaStream_t stream, const ListedPairs<F>& source, const PairResults<F>& out);
  void add(cudaStream_t stream, const HalvedPairs<F>& source, const PairResults<F>& out);

 private:
  template <class Source>
  void launch_sums(cudaStream_t stream, const Source& source, const PairResults<F>& out);
};

extern template struct PairAdder<Bls12381::Fp>;
extern template struct PairAdder<Bls12381::Fp2>;
extern template struct PairAdder<Bn254::Fp>;
extern template struct PairAdder<Bn254::Fp2>;

}  // namespace cuzk::msm
