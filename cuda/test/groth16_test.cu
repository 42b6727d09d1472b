// Whole proofs with keys whose exponents are known: all layouts, both curves, sizes and edges.
#include <cstdio>
#include <cstdlib>

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
    expect(engine.memory().held() == 0, "memory is held after the last key");
  }
  if (failures == 0) std::printf("ok\n");
  return failures != 0;
}
