// Whole proofs with keys of known exponents, on a device: every timed proof is checked, H included.
//
//   groth16_bench [case ...]   without one, all cases; they are listed at the end of this file
//
// a, b and c are dense, and come with the witness from page-locked or from pageable host memory; a packed assignment is the
// witness alone with its bits apart, and a circuit on the device. Printed are medians, with the shares of the kernels, and the
// card's limits measured in the same run.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "bench/assignments.cuh"
#include "groth16/generate.cuh"
#include "groth16/proof_impl.cuh"

using namespace cuzk;
using namespace cuzk::groth16;
using cuzk::bench::Assignment;
using cuzk::bench::PackedCircuit;

namespace {

using Clock = std::chrono::steady_clock;
double milliseconds_since(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

int failures = 0;

// ---- limits ----

template <class F>
__global__ void __launch_bounds__(256) products_kernel(F* out, u32 rounds) {
  F x = F::one(), y = add(F::one(), F::one());
  x.limb[0] ^= threadIdx.x;
  for (u32 i = 0; i < rounds; i++) {
    x = mul_lazy(x, y);
    y = mul_lazy(y, x);
  }
  if (is_zero(x) && is_zero(y)) store(out, x);  // never: keeps the loop
}

// Products a second, in 10^9.
template <class F>
double product_rate() {
  const Stream stream;
  DeviceArray<F> out(1);
  const u32 blocks = u32(multiprocessors()) * 4, rounds = CUZK_EMULATED ? 1 : 20000;
  Event start, end;
  for (int warm = 0; warm < 2; warm++) {
    start.record(stream);
    launch(products_kernel<F>, blocks, 256, 0, stream, out.get(), rounds);
    end.record(stream);
    stream.synchronize();
  }
  return 2.0 * rounds * blocks * 256 / end.since(start) / 1e6;
}

// Bytes read and written a second by a copy on the device, in 10^9.
double copy_rate() {
  const Stream stream;
  const std::size_t n = CUZK_EMULATED ? 1 << 16 : std::size_t(1) << 30;
  DeviceArray<char> from(n), to(n);
  Event start, end;
  for (int warm = 0; warm < 2; warm++) {
    start.record(stream);
    check(cudaMemcpyAsync(to.get(), from.get(), n, cudaMemcpyDeviceToDevice, stream), "copying on the device");
    end.record(stream);
    stream.synchronize();
  }
  return 2.0 * double(n) / end.since(start) / 1e6;
}

// ---- what is measured ----

struct Case {
  const char* name;
  void (*run)(const Case&);
  Layout layout;
  int log_n;
  u64 wires, constraints;
  u32 zeros_a, zeros_b;  // of 256 wires those without a point in A, and in B
  u32 full_size;         // of 200 values of the witness
  int proofs;
  bool more, packed;     // two in flight and pageable memory as well; the witness alone
  u64 device_budget;     // for the key; 0: no bound

  KeyShape shape() const { return {layout, wires, 31, u64(1) << log_n, log_n}; }
};

// How the proofs of a series are handed over.
struct Manner {
  const char* name;
  const void* data[4];  // the witness, a, b, c
};

struct Timed {
  double wall = 0;
  cuzk_proof_timings timings = {};
};

// A key with an assignment, ready to be proved.
template <class C>
class Bench {
 public:
  using Fr = typename C::Fr;

  explicit Bench(const Case& c)
      : case_(c), trapdoor_(u64(c.log_n), c.zeros_a, c.zeros_b, 0), assignment_(c.shape(), trapdoor_, c.constraints, c.full_size, c.packed), engine_(options()) {
    const auto start = Clock::now();
    key_ = generate_key<C>(engine_, c.shape(), trapdoor_, c.device_budget);
    const cuzk_key_info info = key_->info();
    std::printf("%s: domain 2^%d, %.1f M constraints, %.1f M wires; points in A %.1f M, B %.1f M, L %.1f M; %.1f %% of the witness full-size\n", c.name, c.log_n,
                double(c.constraints) / 1e6, double(c.wires) / 1e6, double(key_->a.set.size()) / 1e6, double(key_->b2.set.size()) / 1e6,
                double(key_->l.set.size()) / 1e6, double(c.full_size) / 2);
    std::printf("%s: key %.2f GB%s, lane %.2f GB, scratch %.2f GB%s; made in %.1f s\n", c.name, double(info.device_bytes) / 1e9,
                info.streamed ? (" and " + std::to_string(info.host_bytes / 1000000) + " MB on the host").c_str() : "", double(info.proof_device_bytes) / 1e9,
                double(info.scratch_bytes) / 1e9, key_->side_by_side() ? " (sums side by side)" : "", milliseconds_since(start) / 1e3);
    if (!c.packed) return;
    HostThreads threads(std::thread::hardware_concurrency());
    packed_ = std::make_unique<PackedCircuit<Fr>>(c.shape(), assignment_, threads);
    structure_ = load_structure(engine_, packed_->source(info.curve), [] {});
    std::printf("%s: structure %.2f GB\n", c.name, double(structure_->bytes()) / 1e9);
  }

  void run() {
    const auto& v = assignment_.vector;
    const Manner locked{case_.packed ? "one, packed" : "one, page-locked", {v[0].get(), v[1].get(), v[2].get(), v[3].get()}};
    time(locked);
    if (!case_.more) return;
    time_two({"two, page-locked", {v[0].get(), v[1].get(), v[2].get(), v[3].get()}});
    HostThreads threads(std::thread::hardware_concurrency());
    std::unique_ptr<Fr[]> copies[4];
    Manner pageable{"one, pageable", {}};
    for (int i = 0; i < 4; i++) {
      copies[i].reset(new Fr[v[i].size()]);
      threads.copy(copies[i].get(), v[i].get(), v[i].size() * sizeof(Fr));
      pageable.data[i] = copies[i].get();
    }
    time(pageable);
  }

 private:
  EngineOptions options() const {
    EngineOptions o;
    o.lanes = case_.more ? 2 : 1;
    return o;
  }
  Timed prove(const Manner& manner) const {
    const DeviceGuard guard(engine_.device());
    cuzk_proof_options o = {};
    o.size = sizeof o;
    o.bits = case_.packed;
    o.constraints = case_.packed ? 0 : case_.constraints;
    o.witness = case_.packed ? packed_->others.size() : case_.wires;
    Timed t;
    const auto start = Clock::now();
    const std::unique_ptr<AnyProof> proof = key_->begin(key_, structure_, o);
    const auto write = [&](u32 vector, u64 n, const void* data) { proof->write(vector, CUZK_CANONICAL, 0, n, data); };
    if (case_.packed) {
      write(CUZK_VECTOR_BITS, packed_->bits.size(), packed_->bits.data());
      write(CUZK_VECTOR_VALUES, packed_->values.size(), packed_->values.data());
      write(CUZK_VECTOR_WITNESS, packed_->others.size(), packed_->others.data());
    } else {
      constexpr u32 kVectors[] = {CUZK_VECTOR_WITNESS, CUZK_VECTOR_A, CUZK_VECTOR_B, CUZK_VECTOR_C};
      for (int i = 0; i < 4; i++) write(kVectors[i], assignment_.vector[i].size(), manner.data[i]);
    }
    cuzk_proof_result result = {};
    proof->compute(&assignment_.r, &assignment_.s, result, t.timings);
    t.wall = milliseconds_since(start);
    check_proof(result);
    return t;
  }

  void check_proof(const cuzk_proof_result& result) const {
    ProofPoints<C> points;
    std::memcpy(&points.a, result.a, sizeof points.a);
    std::memcpy(&points.b, result.b, sizeof points.b);
    std::memcpy(&points.c, result.c, sizeof points.c);
    const std::string differs = compare<C>(points, assignment_.want);
    if (differs.empty()) return;
    std::printf("WRONG proof: %s\n", differs.c_str());
    failures++;
  }

  // One after the other; the wall time is the median of the proofs'.
  void time(const Manner& manner) const {
    prove(manner);  // loads kernels, fills caches
    std::vector<Timed> all;
    std::vector<double> walls;
    for (int i = 0; i < case_.proofs; i++) {
      all.push_back(prove(manner));
      walls.push_back(all.back().wall);
    }
    print_row(manner, median(walls), all);
  }

  // From two threads; the wall time is that of all proofs by their number.
  void time_two(const Manner& manner) const {
    const int proofs = 2 * case_.proofs;
    std::vector<Timed> all(proofs);
    const auto start = Clock::now();
    const auto work = [&](int first) {
      for (int i = first; i < proofs; i += 2) all[i] = prove(manner);
    };
    std::thread other([&] { work(1); });
    work(0);
    other.join();
    print_row(manner, milliseconds_since(start) / proofs, all);
  }

  static double median(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
  }

  void print_row(const Manner& manner, double a_proof, const std::vector<Timed>& all) const {
    const auto of = [&](double cuzk_proof_timings::*field) {
      std::vector<double> v;
      for (const Timed& t : all) v.push_back(t.timings.*field);
      return median(v);
    };
    using T = cuzk_proof_timings;
    std::printf("%-14s %-17s %8.2f | gpu %8.2f upload %7.2f evaluate %6.2f prep %6.2f ntt %7.2f h-msm %7.2f ones %6.2f b2 %7.2f tails %7.2f wait %7.2f\n", case_.name,
                manner.name, a_proof, of(&T::gpu_total), of(&T::upload), of(&T::evaluate), of(&T::prep_msm), of(&T::ntt), of(&T::ntt_msm_h) - of(&T::ntt),
                of(&T::batch_add), of(&T::b_g2_msm), of(&T::tail_msm), of(&T::wait));
    std::fflush(stdout);
  }

  const Case& case_;
  const Trapdoor<Fr> trapdoor_;
  const Assignment<Fr> assignment_;
  Engine engine_;
  std::shared_ptr<Key<C>> key_;
  std::unique_ptr<PackedCircuit<Fr>> packed_;
  std::shared_ptr<AnyStructure> structure_;
};

template <class C>
void run(const Case& c) {
  Bench<C>(c).run();
}

constexpr u64 kMillion = 1000000, k3200000 = 3200000;
constexpr u64 k2To17 = 1 << 17, k2To21 = 1 << 21, k2To22 = 1 << 22, k2To27 = 1 << 27;

// Filecoin's shapes: a PoRep partition of 32 GiB, with A of nearly all wires and B of a quarter, and a WindowPoSt partition, whose
// witness is full-size. The last key has room for all but its section H, which is streamed.
constexpr Case kCases[] = {
    {"bn254-17", run<Bn254>, Layout::kSnarkjs, 17, k2To17 - k2To17 / 64, k2To17 - k2To17 / 128, 40, 160, 2, 15, true, false, 0},
    {"bls-21", run<Bls12381>, Layout::kSnarkjs, 21, k2To21 - k2To21 / 64, k2To21 - k2To21 / 128, 40, 160, 2, 9, true, false, 0},
    {"bn254-3.2M", run<Bn254>, Layout::kSnarkjs, 22, k3200000, k3200000, 40, 160, 2, 9, true, false, 0},
    {"bls-3.2M", run<Bls12381>, Layout::kSnarkjs, 22, k3200000, k3200000, 40, 160, 2, 9, true, false, 0},
    {"bls-22", run<Bls12381>, Layout::kGnark, 22, k2To22 - k2To22 / 64, k2To22 - k2To22 / 128, 40, 160, 2, 9, true, false, 0},
    {"bls-27", run<Bls12381>, Layout::kCoefficients, 27, k2To27 - k2To27 / 64, k2To27 - k2To27 / 128, 1, 191, 2, 5, true, false, 0},
    {"bls-27-packed", run<Bls12381>, Layout::kCoefficients, 27, k2To27 - k2To27 / 64, k2To27 - k2To27 / 128, 1, 191, 2, 5, false, true, 0},
    {"bls-27-dense", run<Bls12381>, Layout::kCoefficients, 27, 125 * kMillion, 125 * kMillion, 0, 68, 200, 5, false, false, 0},
    {"bls-27-streamed", run<Bls12381>, Layout::kCoefficients, 27, k2To27 - k2To27 / 64, k2To27 - k2To27 / 128, 1, 191, 2, 5, false, false, 52000 * kMillion},
};

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::printf("limits: Fp BLS12-381 %.1f, Fp BN254 %.1f, Fr BLS12-381 %.1f G products/s; copy %.0f GB/s read and written\n", product_rate<Bls12381Fp>(),
              product_rate<Bn254Fp>(), product_rate<Bls12381Fr>(), copy_rate());
  std::printf("milliseconds a proof, medians; shares by the device's clock may overlap\n");
  const auto wanted = [&](const Case& c) {
    return argc == 1 || std::any_of(argv + 1, argv + argc, [&](const char* name) { return std::strcmp(name, c.name) == 0; });
  };
  for (const Case& c : kCases) {
    if (!wanted(c)) continue;
    try {
      c.run(c);
    } catch (const std::exception& e) {
      std::printf("%s: %s\n", c.name, e.what());
      failures++;
    }
  }
  return failures != 0;
}
