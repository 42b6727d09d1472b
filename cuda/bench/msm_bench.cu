// Figures of cuda/msm: milliseconds by size, group and distribution of the scalars, beside the card's own rate of products and
// its copy bandwidth. Every timed sum is checked against known exponents.
//
//   msm_bench [--group bls12381-g1|bls12381-g2|bn254-g1|bn254-g2|all] [--from LOG_N] [--to LOG_N] [--runs N] [--limit GB]
//             [--scalars all] [--ones] [--copies N] [--bits C] [--at-once W] [--pairs K] [--partition-bits H] [--halved BUCKETS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "msm/msm.cuh"
#include "test/msm_reference.h"

using namespace cuzk;
using namespace cuzk::reference;

namespace {

struct Settings {
  std::string group = "all";
  u32 from = 16, to = 27, runs = 5;
  std::size_t limit = std::size_t(40) << 30;
  bool all_scalars = false, ones = false;
  msm::Options options;
};

bool all_good = true;

// ---- the card ----

template <class F>
__global__ void __launch_bounds__(512) products_kernel(F* v, u32 rounds) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  F a = load(&v[i]);
  const F b = a;
  CUZK_NO_UNROLL
  for (u32 k = 0; k < rounds; k++) a = mul_lazy(a, b);
  store(&v[i], a);
}

__global__ void __launch_bounds__(512) copy_kernel(const uint4* from, uint4* to, u64 n) {
  for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < n; i += u64(gridDim.x) * blockDim.x) to[i] = from[i];
}

template <class Run>
float best_ms(u32 runs, const Run& run) {
  Event start, end;
  float best = 1e30f;
  for (u32 i = 0; i < runs; i++) {
    start.record(nullptr);
    run();
    end.record(nullptr);
    end.synchronize();
    best = std::min(best, end.since(start));
  }
  return best;
}

template <class F>
double products_per_second() {
  const u32 blocks = u32(multiprocessors()) * 2, rounds = 2000;
  DeviceArray<F> v(blocks * 512);
  v.clear(nullptr);
  const float ms = best_ms(5, [&] { launch(products_kernel<F>, blocks, 512, 0, nullptr, v.get(), rounds); });
  return double(v.size()) * rounds / ms * 1e3;
}

double copied_bytes_per_second() {
  const u64 n = u64(1) << 27;
  DeviceArray<uint4> a(n), b(n);
  a.clear(nullptr);
  const float ms = best_ms(5, [&] { launch(copy_kernel, u32(multiprocessors()) * 16, 512, 0, nullptr, a.get(), b.get(), n); });
  return 2.0 * 16 * n / ms * 1e3;
}

void print_card() {
  cudaDeviceProp p;
  check(cudaGetDeviceProperties(&p, 0), "asking for the device's properties");
  std::printf("%s, %d multiprocessors; Fp products: BLS12-381 %.2f G/s, BN254 %.2f G/s; copy kernel %.0f GB/s read and written\n\n", p.name,
              p.multiProcessorCount, products_per_second<Bls12381::Fp>() / 1e9, products_per_second<Bn254::Fp>() / 1e9, copied_bytes_per_second() / 1e9);
}

// ---- sums ----

struct Times {
  double median, least, most;
};

// Wall time of what the caller waits for.
template <class Run>
Times measure(u32 runs, const Run& run) {
  run();
  std::vector<double> ms;
  for (u32 i = 0; i < runs; i++) {
    check(cudaDeviceSynchronize(), "waiting");
    const auto start = std::chrono::steady_clock::now();
    run();
    ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(ms.begin(), ms.end());
  return {ms[ms.size() / 2], ms.front(), ms.back()};
}

template <class Group>
class Bench {
 public:
  using F = typename Group::F;
  using Fr = typename Group::Fr;

  Bench(const char* name, const Settings& s, u32 largest)
      : name_(name), settings_(s), bases_(1 << 14, 1 << 13, 1), points_(u64(1) << largest), scalars_(u64(8) << largest) {
    bases_.make(points_.get(), u32(points_.size()), Signs::kPlain);
    check(cudaDeviceSynchronize(), "making bases");
  }

  void sum(u32 log_n, Scalars kind) {
    const u32 n = 1u << log_n;
    launch(make_scalars_kernel<Fr>, Bases<Group>::blocks(n, 256), 256, 0, stream_, scalars_.get(), n, kind, 7);
    const Affine<F> want = bases_.sum(n, kind, 7, Signs::kPlain);
    msm::Msm<F, Fr> msm(n, settings_.limit, settings_.options);
    DeviceArray<u8> scratch(msm.scratch_bytes());
    const Table table(*this, msm, n);
    Affine<F> got;
    const Times t = measure(settings_.runs, [&] {
      Arena arena(scratch.get(), scratch.size());
      msm.enqueue(stream_, table.bases, scalars_.get(), n, arena);
      const Xyzz<F> sum = msm.finish();
      got = to_affine(sum);
    });
    const msm::Plan p = msm.plan(n);
    char cut[64];
    std::snprintf(cut, sizeof cut, "%u x %u (%u)", p.bits, p.digits, p.at_once);
    print(log_n, kScalarNames[u32(kind)], cut, t, scratch.bytes(), same(got, want), n);
  }

  // Half of n bases, each once.
  void ones(u32 log_n) {
    const u32 n = 1u << log_n;
    std::vector<u32> list;
    for (u32 k = 0; k < n; k++)
      if (mix(k) & 1) list.push_back(k);
    const u32 m = u32(list.size());
    DeviceArray<u32> indices(m);
    indices.upload(list.data(), m, stream_);
    stream_.synchronize();
    const Affine<F> want = bases_.sum(indices.get(), m, Signs::kPlain);
    msm::Msm<F, Fr> msm(m, settings_.limit, settings_.options);
    DeviceArray<u8> scratch(msm.scratch_bytes());
    Affine<F> got;
    const Times t = measure(settings_.runs, [&] {
      Arena arena(scratch.get(), scratch.size());
      msm.enqueue_ones(stream_, points_.get(), indices.get(), m, arena);
      got = to_affine(msm.finish());
    });
    print(log_n, "sum of ones (half)", "", t, scratch.bytes(), same(got, want), m);
  }

 private:
  // The bases, or a table of them with their multiples.
  struct Table {
    DeviceArray<Affine<F>> copies;
    const Affine<F>* bases;

    Table(const Bench& b, msm::Msm<F, Fr>& msm, u32 n) : bases(b.points_.get()) {
      if (msm.table_copies() == 1) return;
      copies = DeviceArray<Affine<F>>(u64(n) * msm.table_copies());
      check(cudaMemcpy(copies.get(), bases, n * sizeof(Affine<F>), cudaMemcpyDeviceToDevice), "copying bases");
      check(cudaDeviceSynchronize(), "copying bases");
      const auto start = std::chrono::steady_clock::now();
      msm.make_table(b.stream_, copies.get());
      const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
      std::printf("table of %u copies, %.2f GB, made in %.1f ms\n", msm.table_copies(), copies.bytes() / 1e9, ms);
      bases = copies.get();
    }
  };

  void print(u32 log_n, const char* what, const char* cut, const Times& t, std::size_t scratch, bool good, u32 n) {
    all_good &= good;
    std::printf("%-13s 2^%-2u %-18s %-13s %9.3f ms (%.3f .. %.3f)  %7.1f M/s  scratch %5.2f GB  %s\n", name_, log_n, what, cut, t.median, t.least, t.most,
                n / t.median / 1e3, scratch / 1e9, good ? "ok" : "WRONG");
    std::fflush(stdout);
  }

  const char* name_;
  const Settings& settings_;
  Bases<Group> bases_;
  Stream stream_;
  DeviceArray<Affine<F>> points_;
  DeviceArray<u32> scalars_;
};

template <class Group>
void bench_group(const char* name, const Settings& s, u32 largest) {
  if (s.group != "all" && s.group != name) return;
  largest = std::min(largest, s.to);
  if (largest < s.from) return;
  Bench<Group> bench(name, s, largest);
  for (u32 log_n = s.from; log_n <= largest; log_n++) {
    bench.sum(log_n, Scalars::kUniform);
    if (s.all_scalars && (log_n % 4 == 0 || log_n == largest))
      for (Scalars kind : {Scalars::kEqual, Scalars::kZeroOne, Scalars::kTiny, Scalars::kLargest, Scalars::kWitness}) bench.sum(log_n, kind);
    if (s.ones && (log_n % 4 == 0 || log_n == largest)) bench.ones(log_n);
  }
}

[[noreturn]] void usage() {
  std::fprintf(stderr,
               "usage: msm_bench [--group bls12381-g1|bls12381-g2|bn254-g1|bn254-g2|all] [--from LOG_N] [--to LOG_N] [--runs N]\n"
               "                 [--limit GB] [--scalars all] [--ones] [--copies N] [--bits C] [--at-once W] [--pairs K] [--partition-bits H] [--halved BUCKETS]\n");
  std::exit(2);
}

Settings parse(int argc, char** argv) {
  Settings s;
  for (int i = 1; i < argc; i++) {
    const std::string a = argv[i];
    if (a == "--ones") {
      s.ones = true;
      continue;
    }
    if (++i >= argc) usage();
    const u32 v = u32(std::atoi(argv[i]));
    if (a == "--group") s.group = argv[i];
    else if (a == "--from") s.from = v;
    else if (a == "--to") s.to = v;
    else if (a == "--runs") s.runs = v;
    else if (a == "--limit") s.limit = std::size_t(v) << 30;
    else if (a == "--scalars") s.all_scalars = std::strcmp(argv[i], "all") == 0;
    else if (a == "--copies") s.options.copies = std::max(v, 1u);
    else if (a == "--bits") s.options.window_bits = v;
    else if (a == "--at-once") s.options.windows_at_once = v;
    else if (a == "--pairs") s.options.pairs_per_thread = v;
    else if (a == "--partition-bits") s.options.partition_bits = v;
    else if (a == "--halved") s.options.halved_buckets = v;
    else usage();
  }
  return s;
}

}  // namespace

int main(int argc, char** argv) {
  const Settings s = parse(argc, argv);
  print_card();
  bench_group<Group1<Bls12381>>("bls12381-g1", s, 27);
  bench_group<Group1<Bn254>>("bn254-g1", s, 27);
  bench_group<Group2<Bls12381>>("bls12381-g2", s, 24);
  bench_group<Group2<Bn254>>("bn254-g2", s, 24);
  std::printf("\n%s\n", all_good ? "all sums right" : "SOME SUMS WRONG");
  return !all_good;
}
