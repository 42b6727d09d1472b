// Whole proofs with keys whose exponents are known: all layouts, both curves, sizes and edges.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "groth16/selftest_impl.cuh"

using namespace cuzk;
using namespace cuzk::groth16;

namespace {

int failures = 0;

void expect(bool ok, const std::string& what) {
  if (ok) return;
  std::printf("FAILED: %s\n", what.c_str());
  failures++;
}

const char* layout_name(Layout layout) {
  constexpr const char* names[] = {"coefficients", "gnark", "snarkjs"};
  return names[u32(layout)];
}

// Share, in 256ths, of the wires whose point is infinity, in A, B and L.
struct Infinities {
  u32 a, b, l;
};

struct Case {
  const char* name;
  int log_n;
  InstanceShape of;
  Infinities infinities{16, 128, 4};
};

// A circuit for a domain.
Case sized(const char* name, int log_n, WitnessKind witness = WitnessKind::kMixed) {
  const u64 n = u64(1) << log_n;
  Case c{name, log_n, {n + 3, std::min<u64>(2, n), n, witness}};
  return c;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (int log_n = 0; log_n <= (CUZK_EMULATED ? 8 : 13); log_n++) all.push_back(sized("size", log_n));
  all.push_back({"no private wires", 2, {3, 2, 4}});
  all.push_back({"only the one", 1, {1, 0, 2}});
  all.push_back({"no constraints", 1, {5, 1, 0}});
  all.push_back({"one constraint", 0, {4, 1, 1}});
  all.push_back(sized("zeros but the one", 5, WitnessKind::kZeros));
  all.push_back(sized("ones", 5, WitnessKind::kOnes));
  all.push_back(sized("full-size values", 5, WitnessKind::kFull));
  Case empty = sized("infinities everywhere", 4);
  empty.infinities = {256, 256, 256};
  all.push_back(empty);
  Case none = sized("no infinities", 4);
  none.infinities = {0, 0, 0};
  all.push_back(none);
  all.push_back({"more wires than a block of bitmaps has", 4, {20000, 3, 16, WitnessKind::kOnes}});
  all.push_back({"long rows", 7, {300, 3, 128, WitnessKind::kMixed, true}});
  return all;
}

template <class C>
void try_case(Engine& engine, const Case& c, Layout layout) {
  using Fr = typename C::Fr;
  constexpr u32 kCurve = std::is_same_v<C, Bn254> ? CUZK_BN254 : CUZK_BLS12381;
  const std::string what = std::string(kCurve == CUZK_BN254 ? "BN254 " : "BLS12-381 ") + layout_name(layout) + ", " + c.name + ", 2^" + std::to_string(c.log_n);
  const Instance<Fr> instance(c.of, 7 + u64(c.log_n));
  const KeyShape shape{layout, c.of.wires, c.of.public_inputs, u64(1) << c.log_n, c.log_n};
  const Trapdoor<Fr> trapdoor(50 + u64(layout), c.infinities.a, c.infinities.b, c.infinities.l);
  const auto key = generate_key<C>(engine, shape, trapdoor);
  const auto structure = load_structure(engine, instance.source(kCurve, layout != Layout::kSnarkjs), [] {});
  const RandomScalars<Fr> blinding{99, 0};
  const Fr r = blinding(0), s = blinding(1);
  const ProofExponents<Fr> want = expected_exponents(shape, trapdoor, instance, r, s);
  const auto evaluated = prove<C>(key, nullptr, instance, r, s);
  const auto packed = prove<C>(key, structure, instance, r, s);
  const std::string differs = compare<C>(evaluated, want);
  expect(differs.empty(), what + ": wrong in " + differs);
  expect(std::memcmp(&evaluated, &packed, sizeof packed) == 0, what + ": packed and evaluated proofs differ");
}

// A generated key of which some sections do not fit.
void try_streamed(Engine& engine) {
  using Fr = Bn254Fr;
  const Instance<Fr> instance({9000, 3, 1 << 11, WitnessKind::kFew}, 3);
  const KeyShape shape{Layout::kSnarkjs, 9000, 3, 1 << 11, 11};
  const Trapdoor<Fr> trapdoor(60, 16, 128, 4);
  u64 budget = 0;
  for (const bool streamed : {false, true}) {
    const auto key = generate_key<Bn254>(engine, shape, trapdoor, budget);
    const cuzk_key_info info = key->info();
    expect((info.streamed != 0) == streamed, "a key is streamed where it does not fit");
    budget = info.device_bytes * 6 / 10;
    const Fr r = RandomScalars<Fr>{98, 0}(0), s = RandomScalars<Fr>{98, 0}(1);
    const std::string differs = compare<Bn254>(prove<Bn254>(key, nullptr, instance, r, s), expected_exponents(shape, trapdoor, instance, r, s));
    expect(differs.empty(), "a generated key in " + std::to_string(info.device_bytes) + " bytes: wrong in " + differs);
  }
}

const Poll kNever = [] {};

// Whether the scratch memory, of which so many bytes are taken, holds nothing but zeros.
bool scratch_is_clear(Engine& engine, std::size_t bytes) {
  Engine::Turn turn(engine);
  turn.take({bytes}, kNever);
  std::vector<char> host(bytes);
  check(cudaMemcpy(host.data(), turn.scratch(0).take<char>(bytes), bytes, cudaMemcpyDeviceToHost), "copying from the device");
  return std::all_of(host.begin(), host.end(), [](char c) { return c == 0; });
}

// What a proof leaves of the witness in the scratch memory: nothing, whether it ends well, is cancelled, or fails.
void try_clearing(Engine& engine) {
  using Fr = Bn254Fr;
  const Instance<Fr> instance({70, 3, 1 << 6, WitnessKind::kMixed}, 3);
  const KeyShape shape{Layout::kGnark, 70, 3, 1 << 6, 6};
  const auto key = generate_key<Bn254>(engine, shape, Trapdoor<Fr>(60, 16, 128, 4));
  const std::size_t bytes = key->scratch_bytes();
  scratch_is_clear(engine, bytes);  // its own use clears what it took
  const auto begin = [&] {
    cuzk_proof_options o = {};
    o.constraints = instance.shape.constraints;
    o.witness = instance.shape.wires;
    return key->begin(key, nullptr, o);
  };
  const auto write = [&](AnyProof& proof) {
    const auto put = [&](u32 vector, const std::vector<Fr>& v) { proof.write(vector, CUZK_CANONICAL, 0, v.size(), v.data()); };
    put(CUZK_VECTOR_WITNESS, instance.witness);
    put(CUZK_VECTOR_A, instance.a);
    put(CUZK_VECTOR_B, instance.b);
    put(CUZK_VECTOR_C, instance.c);
  };
  const Fr r = RandomScalars<Fr>{98, 0}(0), s = RandomScalars<Fr>{98, 0}(1);
  prove<Bn254>(key, nullptr, instance, r, s);
  expect(scratch_is_clear(engine, bytes), "the scratch is clear after a proof");
  {
    const auto proof = begin();
    write(*proof);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // into its sums
    proof->cancel();
  }
  expect(scratch_is_clear(engine, bytes), "the scratch is clear after a cancelled proof");
}

// Memory that cannot be had leaves what there was: to the others that use it.
void try_short_scratch() {
  constexpr std::size_t kSome = 1 << 20, kTooMuch = 64 << 20;
  EngineOptions options;
  options.device_limit = 16 << 20;
  Engine engine(options);
  engine.reserve_scratch(kSome, kNever);
  const auto fails = [](auto take) {
    try {
      take();
    } catch (const OutOfMemory&) {
      return true;
    }
    return false;
  };
  expect(fails([&] { engine.reserve_scratch(kTooMuch, kNever); }), "scratch above the limit is refused");
  expect(engine.memory().held() == kSome, "a growth that fails leaves the scratch as it was");
  {
    Engine::Turn turn(engine);
    expect(fails([&] { turn.take({kSome, kTooMuch}, kNever); }), "a turn is not given without its scratch");
  }
  {
    Engine::Turn turn(engine);
    turn.take({kSome / 4, kSome / 2}, kNever);
    char* first = turn.scratch(0).take<char>(kSome / 4);
    expect(first && turn.scratch(1).take<char>(kSome / 2) == first + kSome / 4, "a turn shares the scratch out");
    expect(fails([&] { turn.scratch(0).take<char>(1); }), "a share ends where the next begins");
  }
  // A lane under way counts as far as another proof would use it.
  const u64 before = engine.reachable(kSome);
  const auto lane = engine.take_lane(4 * kSome, 1);
  expect(engine.reachable(kSome) < before && engine.reachable(4 * kSome) == before, "a lane under way is no room for a key");
}

// On a device every case with every layout; emulated kernels are slow, so there each case takes one of the layouts.
template <class C>
void try_curve(Engine& engine) {
  constexpr u32 kCurve = std::is_same_v<C, Bn254> ? 0 : 1;
  u32 number = 0;
  for (const Case& c : cases()) {
    number++;
    for (const Layout layout : {Layout::kCoefficients, Layout::kGnark, Layout::kSnarkjs})
      if (!CUZK_EMULATED || (number + u32(layout) + kCurve) % 3 == 0) try_case<C>(engine, c, layout);
  }
}

}  // namespace

int main() {
  {
    Engine engine({});
    try_curve<Bn254>(engine);
    try_curve<Bls12381>(engine);
    try_streamed(engine);
    try_clearing(engine);
    expect(engine.memory().held() == 0, "memory is held after the last key");
  }
  try_short_scratch();
  if (failures == 0) std::printf("ok\n");
  return failures != 0;
}
