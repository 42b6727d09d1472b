// Whole proofs with keys of known exponents, on a device: every timed proof is checked, H included.
//
//   groth16_bench [case ...]   cases: bn254-17 bls-21 bls-22 bls-27; without one, all that fit
//
// A witness has 1 % full-size values, the rest half 0 and half 1; a, b and c are dense. They come from page-locked or from
// pageable host memory. Printed are medians of at least five proofs, with the shares of the kernels, and the card's limits
// measured in the same run.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "groth16/exponents.cuh"
#include "groth16/generate.cuh"
#include "groth16/proof_impl.cuh"

using namespace cuzk;
using namespace cuzk::groth16;

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

// ---- assignments ----

// One in a hundred full-size, the rest half 0 and half 1.
template <class Fr>
struct WitnessValues {
  RandomScalars<Fr> random;
  CUZK_HD Fr operator()(u64 i) const {
    const u64 kind = RandomScalars<Fr>::mix(i * 3 + 1) % 200;
    if (i == 0 || kind < 99) return integer_one<Fr>();
    return kind < 198 ? Fr::zero() : random(i);
  }
};

template <class Fr, class Function>
__global__ void __launch_bounds__(256) fill_kernel(Function f, u64 n, Fr* out) {
  const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) store(out + i, f(i));
}

template <class Fr>
__global__ void __launch_bounds__(256) multiply_kernel(const Fr* a, const Fr* b, u64 n, Fr* c) {
  const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) store(c + i, mul(to_montgomery(load(a + i)), load(b + i)));
}

// An assignment on the host, page-locked, and what a proof of it must be.
template <class C>
struct Assignment {
  using Fr = typename C::Fr;
  PinnedArray<Fr> vector[4];  // the witness, a, b, c: integers
  Fr r, s;
  ProofExponents<Fr> want;

  Assignment(const KeyShape& shape, const Trapdoor<Fr>& trapdoor, u64 constraints, u64 seed) {
    const Stream stream;
    const RandomScalars<Fr> random{seed, 0};
    r = random(0);
    s = random(1);
    const u64 sizes[] = {shape.wires, constraints, constraints, constraints};
    DeviceArray<Fr> device[4];
    for (int i = 0; i < 4; i++) device[i] = DeviceArray<Fr>(sizes[i]);
    const auto blocks = [](u64 n) { return u32((n + 255) / 256); };
    launch(fill_kernel<Fr, WitnessValues<Fr>>, blocks(sizes[0]), 256, 0, stream, WitnessValues<Fr>{{seed + 1, 0}}, sizes[0], device[0].get());
    for (int i = 1; i < 3; i++)
      launch(fill_kernel<Fr, RandomScalars<Fr>>, blocks(constraints), 256, 0, stream, RandomScalars<Fr>{seed + 1 + u64(i), 0}, constraints, device[i].get());
    launch(multiply_kernel<Fr>, blocks(constraints), 256, 0, stream, device[1].get(), device[2].get(), constraints, device[3].get());
    want = expected_exponents(cudaStream_t(stream), shape, trapdoor, device[0].get(), constraints, device[1].get(), device[2].get(), device[3].get(), r, s);
    for (int i = 0; i < 4; i++) {
      vector[i] = PinnedArray<Fr>(sizes[i]);
      device[i].download(vector[i].get(), sizes[i], stream);
    }
    stream.synchronize();
  }
};

// ---- timing ----

struct Timed {
  double wall = 0;
  cuzk_proof_timings timings = {};
};

template <class C>
Timed prove_once(const std::shared_ptr<Key<C>>& key, const Assignment<C>& a, const void* const (&data)[4]) {
  const DeviceGuard guard(key->engine().device());
  cuzk_proof_options o = {};
  o.size = sizeof o;
  o.constraints = a.vector[1].size();
  o.witness = a.vector[0].size();
  Timed t;
  const auto start = Clock::now();
  const std::unique_ptr<AnyProof> proof = key->begin(key, nullptr, o);
  constexpr u32 kVectors[] = {CUZK_VECTOR_WITNESS, CUZK_VECTOR_A, CUZK_VECTOR_B, CUZK_VECTOR_C};
  for (int i = 0; i < 4; i++) proof->write(kVectors[i], CUZK_CANONICAL, 0, a.vector[i].size(), data[i]);
  cuzk_proof_result result = {};
  proof->compute(&a.r, &a.s, result, t.timings);
  t.wall = milliseconds_since(start);
  ProofPoints<C> points;
  std::memcpy(&points.a, result.a, sizeof points.a);
  std::memcpy(&points.b, result.b, sizeof points.b);
  std::memcpy(&points.c, result.c, sizeof points.c);
  const std::string differs = compare<C>(points, a.want);
  if (!differs.empty()) {
    std::printf("WRONG proof: %s\n", differs.c_str());
    failures++;
  }
  return t;
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v.empty() ? 0 : v[v.size() / 2];
}

void print_row(const char* name, const char* how, double a_proof, const std::vector<Timed>& all) {
  const auto of = [&](double cuzk_proof_timings::*field) {
    std::vector<double> v;
    for (const Timed& t : all) v.push_back(t.timings.*field);
    return median(v);
  };
  using T = cuzk_proof_timings;
  std::printf("%-9s %-22s %9.2f | gpu %8.2f upload %8.2f prep %6.2f ntt %7.2f h-msm %7.2f ones %6.2f b2 %6.2f tails %6.2f wait %7.2f\n", name, how,
              a_proof, of(&T::gpu_total), of(&T::upload), of(&T::prep_msm), of(&T::ntt), of(&T::ntt_msm_h) - of(&T::ntt), of(&T::batch_add),
              of(&T::b_g2_msm), of(&T::tail_msm), of(&T::wait));
  std::fflush(stdout);
}

// `proofs` proofs, one after the other or from two threads.
template <class C>
void time_proofs(const char* name, const char* how, const std::shared_ptr<Key<C>>& key, const Assignment<C>& a, const void* const (&data)[4],
                 int proofs, bool two) {
  prove_once<C>(key, a, data);  // loads kernels, fills caches
  std::vector<Timed> all(proofs);
  const auto start = Clock::now();
  const auto work = [&](int first, int step) {
    for (int i = first; i < proofs; i += step) all[i] = prove_once<C>(key, a, data);
  };
  if (two) {
    std::thread other([&] { work(1, 2); });
    work(0, 2);
    other.join();
    return print_row(name, how, milliseconds_since(start) / proofs, all);
  }
  work(0, 1);
  std::vector<double> walls;
  for (const Timed& t : all) walls.push_back(t.wall);
  print_row(name, how, median(walls), all);
}

template <class C>
void run(const char* name, Layout layout, int log_n, u32 zeros_a, u32 zeros_b, int proofs, bool pageable) {
  using Fr = typename C::Fr;
  const u64 domain = u64(1) << log_n;
  const KeyShape shape{layout, domain - domain / 64, 31, domain, log_n};
  const Trapdoor<Fr> trapdoor(u64(log_n), zeros_a, zeros_b, 0);
  auto start = Clock::now();
  const Assignment<C> a(shape, trapdoor, domain - domain / 128, u64(log_n) + 1);
  const double assignment_ms = milliseconds_since(start);
  start = Clock::now();
  Engine engine({});
  const auto key = generate_key<C>(engine, shape, trapdoor);
  const cuzk_key_info info = key->info();
  std::printf("%s: domain 2^%d, %.1f M wires, key %.2f GB, lane %.2f GB, scratch %.2f GB%s; made in %.1f s, assignment %.1f s\n", name, log_n,
              double(shape.wires) / 1e6, double(info.device_bytes) / 1e9, double(info.proof_device_bytes) / 1e9, double(info.scratch_bytes) / 1e9,
              key->side_by_side() ? " (sums side by side)" : "", milliseconds_since(start) / 1e3, assignment_ms / 1e3);
  const void* locked[] = {a.vector[0].get(), a.vector[1].get(), a.vector[2].get(), a.vector[3].get()};
  time_proofs<C>(name, "one, page-locked", key, a, locked, proofs, false);
  time_proofs<C>(name, "two, page-locked", key, a, locked, 2 * proofs, true);
  if (!pageable) return;
  HostThreads threads(16);
  std::unique_ptr<Fr[]> copies[4];
  const void* plain[4];
  for (int i = 0; i < 4; i++) {
    copies[i].reset(new Fr[a.vector[i].size()]);
    threads.copy(copies[i].get(), a.vector[i].get(), a.vector[i].size() * sizeof(Fr));
    plain[i] = copies[i].get();
  }
  time_proofs<C>(name, "one, pageable", key, a, plain, proofs, false);
}

struct Case {
  const char* name;
  void (*run)(const char*);
};

constexpr Case kCases[] = {
    {"bn254-17", [](const char* n) { run<Bn254>(n, Layout::kSnarkjs, 17, 40, 160, 15, true); }},
    {"bls-21", [](const char* n) { run<Bls12381>(n, Layout::kSnarkjs, 21, 40, 160, 9, true); }},
    {"bls-22", [](const char* n) { run<Bls12381>(n, Layout::kGnark, 22, 40, 160, 9, true); }},
    // Filecoin's 32 GiB PoRep: A of nearly all wires, B of a quarter.
    {"bls-27", [](const char* n) { run<Bls12381>(n, Layout::kCoefficients, 27, 1, 191, 5, true); }},
};

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::printf("limits: Fp BLS12-381 %.1f, Fp BN254 %.1f, Fr BLS12-381 %.1f G products/s; copy %.0f GB/s read and written\n", product_rate<Bls12381Fp>(),
              product_rate<Bn254Fp>(), product_rate<Bls12381Fr>(), copy_rate());
  std::printf("milliseconds a proof, medians; shares by the device's clock may overlap\n");
  for (const Case& c : kCases) {
    bool wanted = argc == 1;
    for (int i = 1; i < argc; i++) wanted |= std::strcmp(argv[i], c.name) == 0;
    if (!wanted) continue;
    try {
      c.run(c.name);
    } catch (const std::exception& e) {
      std::printf("%s: %s\n", c.name, e.what());
      failures++;
    }
  }
  return failures != 0;
}
