// The five sums of a proof: sections of a key times wires or the quotient's scalars.
//
// A section's sum with a witness is the sum of the points whose scalar is one, of which there are many and which cost an
// addition each, and a multi-scalar multiplication over those whose scalar is neither zero nor one.
#pragma once

#include "groth16/engine.h"
#include "groth16/scalars.h"
#include "groth16/section.cuh"
#include "groth16/timeline.h"
#include "msm/msm.cuh"

namespace cuzk::groth16 {

namespace detail {

constexpr u32 kGatherThreads = 256;
inline u32 gather_blocks(u64 n) { return u32((n + kGatherThreads - 1) / kGatherThreads); }

template <class T>
__global__ void __launch_bounds__(kGatherThreads) gather_kernel(const T* from, const u32* index, u32 n, T* to) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) store(to + i, load_ro(from + index[i]));
}

template <class T>
void gather(cudaStream_t stream, const T* from, const u32* index, u32 n, T* to) {
  launch(gather_kernel<T>, gather_blocks(n), kGatherThreads, 0, stream, from, index, n, to);
}

}  // namespace detail

// Members of a section's set with values of one kind, counted: the numbers before each block, on both sides.
struct Members {
  const u32* set;  // the wires with such a value
  const u32 *sums, *host_sums;
  u32 in(const Window& w) const { return host_sums[w.end_block] - host_sums[w.first_block]; }
};

template <class Fr>
struct WitnessPart {
  const Fr* values;
  Members ones, others;
};

// From this share on, one in so many, the other values are not picked out: the multiplication takes the whole section with
// its ones and zeros, which cost little.
constexpr u32 kDense = 4;

template <class Fr>
bool is_dense(const WitnessPart<Fr>& witness, const Window& w) {
  return u64(witness.others.in(w)) * kDense >= w.points.count;
}

// Scratch for the lists and copies that a section's sum needs beside the multiplication's own.
template <class G, class Fr>
std::size_t selection_bytes(u64 points) {
  Arena arena;
  arena.take<u32>(points);  // places of ones
  arena.release(0);
  arena.take<u32>(points), arena.take<u32>(points), arena.take<Fr>(points);  // dense
  arena.release(0);
  const u64 picked = points / kDense + 1;
  arena.take<u32>(picked), arena.take<u32>(picked), arena.take<G>(picked), arena.take<Fr>(picked);
  return arena.peak() + 4096;
}

// SumStream is where sums are enqueued one after the other, with scratch of its own.
template <class C>
struct SumStream {
  using Fr = typename C::Fr;
  msm::Msm<typename C::Fp, Fr> g1;
  msm::Msm<typename C::Fp2, Fr> g2;
  std::size_t scratch_bytes;

  // For sections of up to so many points.
  SumStream(u64 most_g1, u64 most_g2, u64 most_selected_g1, std::size_t limit, bool streamed)
      : g1(most_g1, limit), g2(most_g2, limit) {
    const std::size_t in_g1 = g1.scratch_bytes() + selection_bytes<typename C::G1, Fr>(most_selected_g1);
    const std::size_t in_g2 = g2.scratch_bytes() + selection_bytes<typename C::G2, Fr>(most_g2);
    const std::size_t window = std::max(kWindowPoints * sizeof(typename C::G2), kRangePoints * sizeof(typename C::G1));
    const std::size_t windows = streamed ? 2 * (window + 256) : 0;
    scratch_bytes = (std::max(in_g1, in_g2) + windows + 4096) / 4096 * 4096;
  }

  auto& of(const typename C::G1*) { return g1; }
  auto& of(const typename C::G2*) { return g2; }
};

// Where a sum runs: a stream of the engine, its scratch, and what tells that the proof is cancelled.
struct SumContext {
  cudaStream_t stream, key_copies;
  Arena& scratch;
  Timeline& timeline;
  const Poll& poll;
};

namespace detail {

// Lists the members within a window: their points, counted from the window's first, and wires.
inline void list(cudaStream_t stream, const RankedSet& section, const u32* set, const u32* sums, const Window& w, u32* place, u32* wire) {
  list_members(stream, set, section.words(), section.rank(), sums, w.first_block, w.end_block - w.first_block, u32(w.points.first), place, wire);
}

template <class G, class Msm>
auto sum_of_ones(SumContext& c, Msm& msm, const RankedSet& section, const G* points, const Members& ones, const Window& w) {
  const u32 n = ones.in(w);
  u32* place = c.scratch.take<u32>(n);
  list(c.stream, section, ones.set, ones.sums, w, place, nullptr);
  msm.enqueue_ones(c.stream, points, place, n, c.scratch);
  return msm.finish();
}

template <class G, class Fr, class Msm>
auto sum_of_others(SumContext& c, Msm& msm, const RankedSet& section, const G* points, const WitnessPart<Fr>& witness, const Window& w) {
  const u32 n = witness.others.in(w);
  u32 *place = c.scratch.take<u32>(n), *wire = c.scratch.take<u32>(n);
  G* picked = c.scratch.take<G>(n);
  Fr* scalars = c.scratch.take<Fr>(n);
  list(c.stream, section, witness.others.set, witness.others.sums, w, place, wire);
  gather(c.stream, points, place, n, picked);
  gather(c.stream, witness.values, wire, n, scalars);
  msm.enqueue(c.stream, picked, reinterpret_cast<const u32*>(scalars), n, c.scratch, c.poll);
  return msm.finish();
}

template <class G, class Fr, class Msm>
auto sum_of_all(SumContext& c, Msm& msm, const RankedSet& section, const G* points, const WitnessPart<Fr>& witness, const Window& w) {
  const u32 n = u32(w.points.count);
  u32 *place = c.scratch.take<u32>(n), *wire = c.scratch.take<u32>(n);
  Fr* scalars = c.scratch.take<Fr>(n);
  list(c.stream, section, section.words(), section.sums(), w, place, wire);
  gather(c.stream, witness.values, wire, n, scalars);
  msm.enqueue(c.stream, points, reinterpret_cast<const u32*>(scalars), n, c.scratch, c.poll);
  return msm.finish();
}

}  // namespace detail

// The sum of a section with a witness.
template <class C, class G>
Xyzz<typename G::Coordinate> sum_section(SumContext& c, SumStream<C>& sums, const Section<G>& section,
                                         const WitnessPart<typename C::Fr>& witness, Family tail) {
  auto& msm = sums.of(static_cast<const G*>(nullptr));
  auto sum = Xyzz<typename G::Coordinate>::infinity();
  const std::vector<Window> windows = windows_of(section);
  std::vector<Range> ranges;
  for (const Window& w : windows) ranges.push_back(w.points);
  const std::size_t start = c.scratch.mark();
  PointReader<G> reader(section.points, ranges, c.scratch, c.stream, c.key_copies);
  for (std::size_t i = 0; i < windows.size(); i++) {
    const Window& w = windows[i];
    const G* points = reader.range(i, c.stream);
    const std::size_t mark = c.scratch.mark();
    const auto part = [&](Family family, auto sum_of) {
      c.poll();
      Timeline::Span span(c.timeline, family, c.stream);
      add(sum, sum_of());
      c.scratch.release(mark);
    };
    if (is_dense(witness, w)) {
      part(tail, [&] { return detail::sum_of_all(c, msm, section.set, points, witness, w); });
    } else {
      if (witness.ones.in(w)) part(Family::kOnes, [&] { return detail::sum_of_ones(c, msm, section.set, points, witness.ones, w); });
      if (witness.others.in(w)) part(tail, [&] { return detail::sum_of_others(c, msm, section.set, points, witness, w); });
    }
    reader.done(i, c.stream);
  }
  c.scratch.release(start);
  return sum;
}

// The sum of all of a run of points with scalars, on the device, in the same order.
template <class C, class G>
Xyzz<typename G::Coordinate> sum_run(SumContext& c, SumStream<C>& sums, const Points<G>& points, const typename C::Fr* scalars, Family family) {
  auto& msm = sums.of(static_cast<const G*>(nullptr));
  auto sum = Xyzz<typename G::Coordinate>::infinity();
  const std::vector<Range> ranges = ranges_of(points);
  const std::size_t start = c.scratch.mark();
  PointReader<G> reader(points, ranges, c.scratch, c.stream, c.key_copies);
  Timeline::Span span(c.timeline, family, c.stream);
  for (std::size_t i = 0; i < ranges.size(); i++) {
    c.poll();
    const G* bases = reader.range(i, c.stream);
    const std::size_t mark = c.scratch.mark();
    msm.enqueue(c.stream, bases, reinterpret_cast<const u32*>(scalars + ranges[i].first), ranges[i].count, c.scratch, c.poll);
    add(sum, msm.finish());
    c.scratch.release(mark);
    reader.done(i, c.stream);
  }
  c.scratch.release(start);
  return sum;
}

}  // namespace cuzk::groth16
