// The sums of msm.cuh. Included by the sources that instantiate them, one for every group.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "msm/bucket_points.cuh"
#include "msm/digits.cuh"
#include "msm/levels.h"
#include "msm/msm.cuh"
#include "msm/multiples.cuh"
#include "msm/ones.cuh"
#include "msm/pair_adder.h"
#include "msm/rows_columns.cuh"
#include "msm/sort.h"

namespace cuzk::msm {

// Points below which a sum of ones goes on without inversions: a level of pairs takes 0.1 ms at least.
template <class F>
constexpr u32 kAffineOnes = 1 << 20;
template <class F>
constexpr u32 kAffineOnes<Fp2<F>> = 1 << 17;

// Least number of buckets whose rows and columns are made by affine sums of pairs. Levels of pairs wait for inversions, sums in
// XYZZ coordinates cost more products.
template <class F>
constexpr u32 kHalvedBuckets = 1 << 21;
template <class F>
constexpr u32 kHalvedBuckets<Fp2<F>> = 1 << 14;

// How buckets are reduced: as they are, in one list a window, or as the lists of their rows and columns.
struct ReductionShape {
  enum class Way { kSegments, kParts, kHalving };

  Way way;
  Matrix matrix;
  u32 kinds = 2;  // of lists
  ListShape list;
  u32 segments;  // of all lists, or parts of rows and columns

  // Of a matrix of less than two columns there are no rows.
  ReductionShape(const Plan& p, bool by_threads, u32 wanted_segments) : matrix(p.bits - 1) {
    way = p.halve ? Way::kHalving : by_threads && matrix.column_bits > 0 ? Way::kParts : Way::kSegments;
    const u32 windows = p.windows;
    switch (way) {
      case Way::kSegments:
        kinds = 1;
        list = ListShape::of_segments(p.window_buckets(), windows, wanted_segments);
        break;
      case Way::kHalving: list = ListShape::of_segments(matrix.rows(), 2 * windows, wanted_segments); break;
      case Way::kParts: list = ListShape::of_points(matrix.rows()); break;
    }
    segments = lists(windows) * list.segments * (way == Way::kParts ? parts_of(matrix, windows) : 1);
  }
  u32 lists(u32 windows) const { return kinds * windows; }
  // log2 of the weight of a list.
  u32 weight(const Plan& p, u32 of_list) const {
    const bool rows = kinds == 2 && of_list < p.windows;
    return p.bits * (of_list % p.windows) + (rows ? matrix.column_bits : 0);
  }
};

template <class F>
ReductionShape reduction_shape(const Plan& p) {
  return ReductionShape(p, kSumsByThreads<F>, kWantedSegments<F>);
}

// Scratch of a sum, taken in the order in which it is used.
template <class F>
struct Scratch {
  SortScratch sort;
  Sorted sorted;
  Level level[2];
  u32* tile_sums;
  uint2* pairs;  // of a level
  PointPlanes<F> points;
  PairAdder<F> adder;
  ListScratch<F> lists;
  Xyzz<F>* sums;  // of lists

  Scratch(Arena& a, const Plan& p) {
    const u64 entries = p.entries(), group_buckets = u64(p.at_once) << (p.bits - 1);
    const u64 partitions = u64(p.at_once) << p.partition_bits;
    sort.digits = a.take<u32>(entries);
    sort.entry = a.take<u32>(entries);
    sort.low = a.take<u16>(entries);
    sort.partition = a.take<u32>(partitions + 1);
    sort.cursor = a.take<u32>(partitions);
    sort.shares = a.take<uint2>(p.segments() << p.low_bits());
    sorted.count = a.take<u32>(group_buckets);
    sorted.pair_start = a.take<u32>(group_buckets + 1);
    sorted.pairs = a.take<u32>(entries);
    sorted.odd = a.take<u32>(group_buckets);
    sorted.largest = a.take<u32>(1);
    level[0] = {sorted.pair_start, a.take<u32>(group_buckets), a.take<u32>(1)};
    level[1] = {a.take<u32>(group_buckets + 1), a.take<u32>(group_buckets), a.take<u32>(1)};
    tile_sums = a.take<u32>(scan_blocks(group_buckets));
    pairs = a.take<uint2>(entries / 3 + 1);  // three entries make one pair of the second level at most
    points.capacity = p.buckets() + std::max(entries, p.halve ? halving_points(p.buckets()) : 0);
    points.data = a.take<uint4>(points.capacity * PointPlanes<F>::kPlanes);
    adder.prefix = a.take<uint4>(prefix_vectors<F>(p.pairs_per_thread));
    adder.per_thread = p.pairs_per_thread;
    adder.exceptional = a.take<u32>(std::max(entries / 2 + 1, p.halve ? p.buckets() : 0));
    adder.counters = a.take<u32>(PairAdder<F>::kCounters);
    const ReductionShape r = reduction_shape<F>(p);
    const u64 n = r.lists(p.windows);
    lists.runs = a.take<Xyzz<F>>(r.segments);
    lists.weighted = a.take<Xyzz<F>>(n * r.list.segments);
    lists.blocks = a.take<Xyzz<F>>(n * r.list.blocks() * r.list.block_results());
    lists.results = a.take<Xyzz<F>>(n * r.list.results());
    sums = a.take<Xyzz<F>>(n);
  }

  static std::size_t bytes(const Plan& p) {
    Arena counting;
    Scratch s(counting, p);
    return counting.peak();
  }
};

template <class F, class Fr>
struct Msm<F, Fr>::State {
  static constexpr Words<8> kModulus = Fr::Params::kModulus;

  u64 max_n;
  Options options;
  Limits limits;
  PinnedArray<Xyzz<F>> results;
  PinnedArray<u32> largest{1};
  // Results 0 .. weights.size(), each to be multiplied by two to the weight.
  std::vector<u32> weights;
  Event done{false}, sorted{false};

  State(u64 n, std::size_t limit, const Options& o) : max_n(n), options(o) {
    if (options.halved_buckets == 0) options.halved_buckets = kHalvedBuckets<F>;
    limits = {limit, shared_memory_limit()};
    Arena ones;
    OnesScratch<F>(ones, n, pairs_per_thread());
    limits.scratch = std::max(Scratch<F>::bytes(plan(n)), ones.peak());
  }

  u32 pairs_per_thread() const { return options.pairs_per_thread ? options.pairs_per_thread : kPairsPerInversion; }

  Plan plan(u64 n) const { return make_plan(n, kModulus, limits, options, Scratch<F>::bytes); }

  void start(std::size_t expected_results) {
    weights.clear();
    if (results.size() < expected_results) results = PinnedArray<Xyzz<F>>(expected_results);
  }

  void fetch(cudaStream_t stream, const Xyzz<F>* from, u32 n) {
    check(cudaMemcpyAsync(results.get() + weights.size(), from, n * sizeof(Xyzz<F>), cudaMemcpyDeviceToHost, stream), "fetching the sums of windows");
  }

  void enqueue(cudaStream_t stream, const Affine<F>* bases, const u32* scalars, u64 n, Arena& arena, const Poll& poll) {
    const Plan p = plan(n);
    const u64 chunks = (n + p.chunk - 1) / p.chunk;
    const ReductionShape r = reduction_shape<F>(p);
    start(chunks * r.lists(p.windows));
    const std::size_t mark = arena.mark();
    Scratch<F> scratch(arena, p);
    for (u64 first = 0; first < n; first += p.chunk) {
      const u32 size = u32(std::min<u64>(p.chunk, n - first));
      for (u32 w = 0; w < p.windows; w += p.at_once) {
        const Windows windows = make_windows(p, kModulus, size, w, std::min(p.at_once, p.windows - w));
        accumulate(stream, bases + first, scalars + 8 * first, windows, p, scratch, poll);
      }
      reduce(stream, p, scratch);
    }
    arena.release(mark);
    done.record(stream);
  }

  // Makes the points of the windows' buckets.
  void accumulate(cudaStream_t stream, const Affine<F>* bases, const u32* scalars, const Windows& w, const Plan& p, Scratch<F>& s, const Poll& poll) {
    poll();
    const u32 sms = u32(multiprocessors()), first_bucket = w.first * p.window_buckets();
    const u32 partitions = w.partitions();
    check(cudaMemsetAsync(s.sort.partition, 0, partitions * sizeof(u32), stream), "clearing the sizes of partitions");
    launch(digits_kernel<Fr>, std::min((w.scalars + kDigitThreads - 1) / kDigitThreads, sms * 8), kDigitThreads, digits_shared_bytes(partitions), stream, scalars,
           s.sort.digits, s.sort.partition, w);
    partition(stream, w, s.sort);
    sort_partitions(stream, w, p.slice, s.sort, s.sorted, s.tile_sums);
    check(cudaMemcpyAsync(largest.get(), s.sorted.largest, sizeof(u32), cudaMemcpyDeviceToHost, stream), "fetching the largest bucket");
    sorted.record(stream);

    s.adder.reset(stream);
    Level* now = &s.level[0];
    Level* next = &s.level[1];
    const u32 blocks = (w.buckets + kBucketThreads - 1) / kBucketThreads;
    launch(lift_odd_kernel<F>, blocks, kBucketThreads, 0, stream, bases, s.sorted.count, s.sorted.odd, w.buckets, s.points, first_bucket, *now,
           u32(p.buckets()));
    const BasePairs<F> first{bases, reinterpret_cast<const uint2*>(s.sorted.pairs), now->start + w.buckets, 0};
    s.adder.add(stream, first, PairResults<F>{s.points, u32(p.buckets())});

    sorted.synchronize();  // the first level keeps the device busy meanwhile
    for (u32 left = (largest[0] + 1) / 2; left > 1; left = (left + 1) / 2) {
      poll();
      next_level(stream, w.buckets, *now, *next, s.pairs, s.tile_sums);
      const ListedPairs<F> pairs{s.points, s.pairs, next->start + w.buckets};
      s.adder.add(stream, pairs, PairResults<F>{s.points, 0, next->first});
      std::swap(now, next);
    }
    const u32 all = w.count * p.window_buckets();
    launch(settle_buckets_kernel<F>, (all + kBucketThreads - 1) / kBucketThreads, kBucketThreads, 0, stream, *now, w.buckets, all,
           s.points, first_bucket);
  }

  // From the buckets of all windows to points on the host.
  void reduce(cudaStream_t stream, const Plan& p, Scratch<F>& s) {
    const ReductionShape r = reduction_shape<F>(p);
    const u32 lists = r.lists(p.windows);
    switch (r.way) {
      case ReductionShape::Way::kSegments:
        sum_segments(stream, Lists<F>{s.points, p.windows, {0, p.window_buckets(), 1}, {}}, lists, r.list, s.lists);
        break;
      case ReductionShape::Way::kHalving:
        s.adder.reset(stream);
        sum_segments(stream, halve_buckets(stream, s.points, p.windows, r.matrix, s.adder), lists, r.list, s.lists);
        break;
      case ReductionShape::Way::kParts:
        if constexpr (kSumsByThreads<F>) sum_rows_and_columns(stream, s.points, p.windows, r.matrix, s.lists);
        break;
    }
    reduce_segments(stream, lists, r.list, s.lists, s.sums);
    fetch(stream, s.sums, lists);
    for (u32 k = 0; k < lists; k++) weights.push_back(r.weight(p, k));
  }

  void enqueue_ones(cudaStream_t stream, const Affine<F>* bases, const u32* indices, u64 n, Arena& arena) {
    start(1);
    const std::size_t mark = arena.mark();
    OnesScratch<F> scratch(arena, n, pairs_per_thread());
    const u32 affine = options.affine_ones ? options.affine_ones : kAffineOnes<F>;
    const Xyzz<F>* sum = sum_ones(stream, bases, indices, u32(n), affine, scratch);
    arena.release(mark);
    fetch(stream, sum, 1);
    weights.assign(1, 0);
    done.record(stream);
  }

  Xyzz<F> finish() {
    if (weights.empty()) return Xyzz<F>::infinity();
    done.synchronize();
    std::vector<Xyzz<F>> by_weight(*std::max_element(weights.begin(), weights.end()) + 1, Xyzz<F>::infinity());
    for (std::size_t i = 0; i < weights.size(); i++) add(by_weight[weights[i]], results[i]);
    weights.clear();
    Xyzz<F> sum = Xyzz<F>::infinity();
    u32 doublings = 0;
    for (std::size_t i = by_weight.size(); i-- > 0; doublings++) {
      if (is_infinity(by_weight[i])) continue;
      sum = times_power_of_two(sum, doublings);
      add(sum, by_weight[i]);
      doublings = 0;
    }
    return times_power_of_two(sum, doublings - 1);
  }
};

template <class F, class Fr>
Msm<F, Fr>::Msm(u64 max_n, std::size_t limit, const Options& options) : state_(std::make_unique<State>(max_n, limit, options)) {}
template <class F, class Fr>
Msm<F, Fr>::~Msm() = default;
template <class F, class Fr>
Msm<F, Fr>::Msm(Msm&&) noexcept = default;
template <class F, class Fr>
Msm<F, Fr>& Msm<F, Fr>::operator=(Msm&&) noexcept = default;

template <class F, class Fr>
std::size_t Msm<F, Fr>::scratch_bytes() const {
  return state_->limits.scratch;
}
template <class F, class Fr>
u32 Msm<F, Fr>::table_copies() const {
  return plan(state_->max_n).copies;
}
template <class F, class Fr>
void Msm<F, Fr>::make_table(cudaStream_t stream, Affine<F>* bases) {
  const Plan p = plan(state_->max_n);
  make_copies(stream, bases, state_->max_n, p.copies, p.copy_bits());
}
template <class F, class Fr>
Plan Msm<F, Fr>::plan(u64 n) const {
  return state_->plan(n);
}

namespace detail {
inline void check_size(u64 n, u64 max_n) {
  if (n > max_n) throw std::invalid_argument("a sum of " + std::to_string(n) + " points was asked of an object made for " + std::to_string(max_n));
}
}  // namespace detail

template <class F, class Fr>
void Msm<F, Fr>::enqueue(cudaStream_t stream, const Affine<F>* bases, const u32* scalars, u64 n, Arena& scratch, const Poll& poll) {
  detail::check_size(n, state_->max_n);
  if (state_->options.copies > 1 && n != state_->max_n) throw std::invalid_argument("a sum with a table of multiples takes all of its bases");
  state_->enqueue(stream, bases, scalars, n, scratch, poll);
}
template <class F, class Fr>
void Msm<F, Fr>::enqueue_ones(cudaStream_t stream, const Affine<F>* bases, const u32* indices, u64 n, Arena& scratch) {
  detail::check_size(n, state_->max_n);
  if (n == 0) return state_->start(0);
  state_->enqueue_ones(stream, bases, indices, n, scratch);
}
template <class F, class Fr>
Xyzz<F> Msm<F, Fr>::finish() {
  return state_->finish();
}

}  // namespace cuzk::msm
