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
#include "msm/ones.cuh"
#include "msm/pair_adder.h"
#include "msm/reduce.cuh"
#include "msm/sort.h"

namespace cuzk::msm {

// Points below which a sum of ones goes on without inversions: a level of pairs takes 0.1 ms at least.
constexpr u32 kAffineOnes = 1 << 20;

// Least number of buckets whose reduction begins with rows and columns. Levels of pairs wait for inversions, sums in XYZZ
// coordinates cost twice the products; over Fp2 their code is also larger than the instruction cache.
template <class F>
constexpr u32 kHalvedBuckets = 1 << 21;
template <class F>
constexpr u32 kHalvedBuckets<Fp2<F>> = 1 << 14;

// The lists that are left of the buckets: of rows and columns, or the buckets themselves.
struct ReductionShape {
  u32 lists;
  ListShape shape[2];
  u32 shift[2];         // log2 of the weight of list weights
  u32 first_weight[2];

  explicit ReductionShape(const Plan& p) : lists(p.halve ? 2 : 1), shape{ListShape(1, 1), ListShape(1, 1)}, shift{}, first_weight{1, 1} {
    const u32 bucket_bits = p.bits - 1;
    if (!p.halve) {
      shape[0] = ListShape(1u << bucket_bits, p.windows);
      return;
    }
    const u32 column_bits = MatrixShape::column_bits_of(bucket_bits);
    shape[0] = ListShape(1u << (bucket_bits - column_bits), p.windows);  // rows: weights high 2^column_bits
    shift[0] = column_bits;
    first_weight[0] = 0;
    shape[1] = ListShape(1u << column_bits, p.windows);  // columns: weights low + 1
  }
  u32 results(u32 windows) const { return windows * (shape[0].results() + (lists > 1 ? shape[1].results() : 0)); }
};

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
  Xyzz<F>*runs, *weighted, *blocks, *results;

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
    points.capacity = p.buckets() + std::max(entries, p.halve ? MatrixShape::extra_points(p.buckets()) : 0);
    points.data = a.take<uint4>(points.capacity * PointPlanes<F>::kPlanes);
    adder.prefix = a.take<uint4>(prefix_vectors<F>(p.pairs_per_thread));
    adder.per_thread = p.pairs_per_thread;
    adder.exceptional = a.take<u32>(std::max(entries / 2 + 1, p.halve ? p.buckets() : 0));
    adder.counters = a.take<u32>(PairAdder<F>::kCounters);
    const ReductionShape r(p);
    u64 segments = 0, block_results = 0;
    for (u32 i = 0; i < r.lists; i++) {
      segments = std::max<u64>(segments, u64(p.windows) * r.shape[i].segments);
      block_results = std::max<u64>(block_results, u64(p.windows) * r.shape[i].blocks() * r.shape[i].block_results());
    }
    runs = a.take<Xyzz<F>>(segments);
    weighted = a.take<Xyzz<F>>(segments);
    blocks = a.take<Xyzz<F>>(block_results);
    results = a.take<Xyzz<F>>(r.results(p.windows));
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
  std::size_t scratch_bytes;
  PinnedArray<Xyzz<F>> results;
  PinnedArray<u32> largest{1};
  // Results 0 .. weights.size(), each to be multiplied by two to the weight.
  std::vector<u32> weights;
  Event done{false}, sorted{false};

  State(u64 n, std::size_t limit, const Options& o) : max_n(n), options(o) {
    if (options.halved_buckets == 0) options.halved_buckets = kHalvedBuckets<F>;
    const Plan p = make_plan(n, kModulus, limit, options, Scratch<F>::bytes);
    Arena ones;
    OnesScratch<F>(ones, n, pairs_per_thread());
    scratch_bytes = std::max(Scratch<F>::bytes(p), ones.peak());
  }

  u32 pairs_per_thread() const { return options.pairs_per_thread ? options.pairs_per_thread : kPairsPerInversion; }

  Plan plan(u64 n) const { return make_plan(n, kModulus, scratch_bytes, options, Scratch<F>::bytes); }

  void start(std::size_t expected_results) {
    weights.clear();
    if (results.size() < expected_results) results = PinnedArray<Xyzz<F>>(expected_results);
  }

  void fetch(cudaStream_t stream, const Xyzz<F>* from, u32 n) {
    check(cudaMemcpyAsync(results.get() + weights.size(), from, n * sizeof(Xyzz<F>), cudaMemcpyDeviceToHost, stream), "fetching the sums of windows");
  }

  void enqueue(cudaStream_t stream, const Affine<F>* bases, const u32* scalars, u64 n, Arena& arena) {
    const Plan p = plan(n);
    const u64 chunks = (n + p.chunk - 1) / p.chunk;
    start(chunks * ReductionShape(p).results(p.windows));
    const std::size_t mark = arena.mark();
    Scratch<F> scratch(arena, p);
    for (u64 first = 0; first < n; first += p.chunk) {
      const u32 size = u32(std::min<u64>(p.chunk, n - first));
      for (u32 w = 0; w < p.windows; w += p.at_once) {
        const Windows windows = make_windows(p, kModulus, size, w, std::min(p.at_once, p.windows - w));
        accumulate(stream, bases + first, scalars + 8 * first, windows, p, scratch);
      }
      reduce(stream, p, scratch);
    }
    arena.release(mark);
    done.record(stream);
  }

  // Makes the points of the windows' buckets.
  void accumulate(cudaStream_t stream, const Affine<F>* bases, const u32* scalars, const Windows& w, const Plan& p, Scratch<F>& s) {
    const u32 sms = u32(multiprocessors()), first_bucket = w.first * p.window_buckets();
    const u32 partitions = w.partitions();
    check(cudaMemsetAsync(s.sort.partition, 0, partitions * sizeof(u32), stream), "clearing the sizes of partitions");
    launch(digits_kernel<Fr>, std::min((w.n + kDigitThreads - 1) / kDigitThreads, sms * 8), kDigitThreads, partitions * sizeof(u32), stream, scalars,
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
    const ReductionShape r(p);
    u32 from[2] = {};
    if (p.halve) {
      s.adder.reset(stream);
      const MatrixShape m = halve_buckets(stream, s.points, p.windows, p.bits - 1, s.adder);
      from[0] = m.rows;
      from[1] = m.columns;
    }
    for (u32 i = 0; i < r.lists; i++) {
      const ListShape& shape = r.shape[i];
      reduce_lists(stream, Lists<F>{s.points, from[i], r.first_weight[i]}, p.windows, shape, s.runs, s.weighted, s.blocks, s.results);
      fetch(stream, s.results, p.windows * shape.results());
      for (u32 w = 0; w < p.windows; w++)
        for (u32 k = 0; k < shape.results(); k++) weights.push_back(p.bits * w + r.shift[i] + shape.weight(k));
    }
  }

  void enqueue_ones(cudaStream_t stream, const Affine<F>* bases, const u32* indices, u64 n, Arena& arena) {
    start(kMaxListBlocks);
    const std::size_t mark = arena.mark();
    OnesScratch<F> scratch(arena, n, pairs_per_thread());
    const u32 sums = sum_ones(stream, bases, indices, u32(n), options.affine_ones ? options.affine_ones : kAffineOnes, scratch);
    arena.release(mark);
    fetch(stream, scratch.sums, sums);
    weights.assign(sums, 0);
    done.record(stream);
  }

  Xyzz<F> finish() {
    if (weights.empty()) return Xyzz<F>::infinity();
    done.synchronize();
    std::vector<Xyzz<F>> by_weight(*std::max_element(weights.begin(), weights.end()) + 1, Xyzz<F>::infinity());
    for (std::size_t i = 0; i < weights.size(); i++) add(by_weight[weights[i]], results[i]);
    weights.clear();
    Xyzz<F> sum = Xyzz<F>::infinity();
    for (std::size_t i = by_weight.size(); i-- > 0;) {
      sum = dbl(sum);
      add(sum, by_weight[i]);
    }
    return sum;
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
  return state_->scratch_bytes;
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
void Msm<F, Fr>::enqueue(cudaStream_t stream, const Affine<F>* bases, const u32* scalars, u64 n, Arena& scratch) {
  detail::check_size(n, state_->max_n);
  state_->enqueue(stream, bases, scalars, n, scratch);
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
