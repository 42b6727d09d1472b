// The C ABI: keys from raw sections, both kinds of assignments, errors, cancellation, two proofs at once, and memory that
// comes back. With --small only a few proofs, for compute-sanitizer's racecheck.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "groth16/selftest_impl.cuh"
#include "test/raw_key.h"

using namespace cuzk;
using namespace cuzk::groth16;

namespace {

int failures = 0;

void expect(bool ok, const std::string& what) {
  if (ok) return;
  std::printf("FAILED: %s\n", what.c_str());
  failures++;
}

void expect_code(int32_t got, int32_t want, const cuzk_error& error, const std::string& what) {
  if (got == want && (want == CUZK_OK || error.code == want)) return;
  std::printf("FAILED: %s: code %d (%s), want %d\n", what.c_str(), got, got ? error.message : "", want);
  failures++;
}

std::size_t free_memory() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for free device memory");
  return free;
}

constexpr const char* kMemory = "CUZK_EMULATOR_MEMORY";

// Everything about one circuit with a key whose exponents are known.
template <class C>
struct Fixture {
  using Fr = typename C::Fr;
  static constexpr u32 kCurve = std::is_same_v<C, Bn254> ? CUZK_BN254 : CUZK_BLS12381;

  KeyShape shape;
  Trapdoor<Fr> trapdoor;
  Instance<Fr> instance;
  Fr r, s;
  ProofExponents<Fr> want;
  std::unique_ptr<RawKey<C>> raw;

  Fixture(Layout layout, int log_n, u64 wires, WitnessKind witness = WitnessKind::kMixed)
      : shape{layout, wires, 3, u64(1) << log_n, log_n},
        trapdoor(1 + u64(layout), 20, 120, 9),
        instance({wires, 3, shape.domain - 1, witness}, 5),
        r(RandomScalars<Fr>{3, 0}(0)),
        s(RandomScalars<Fr>{3, 0}(1)),
        want(expected_exponents(shape, trapdoor, instance, r, s)) {
    Engine engine({});
    raw = std::make_unique<RawKey<C>>(*generate_key<C>(engine, shape, trapdoor), layout != Layout::kSnarkjs);
  }

  cuzk_structure* load_structure(cuzk_engine* engine) const {
    const cuzk_structure_source source = instance.source(kCurve, shape.layout != Layout::kSnarkjs);
    cuzk_structure* structure = nullptr;
    cuzk_error error;
    expect_code(cuzk_structure_load(engine, &source, &structure, &error), CUZK_OK, error, "loading a structure");
    return structure;
  }

  bool right(const cuzk_proof_result& result) const {
    ProofPoints<C> points;
    std::memcpy(&points.a, result.a, sizeof points.a);
    std::memcpy(&points.b, result.b, sizeof points.b);
    std::memcpy(&points.c, result.c, sizeof points.c);
    return compare<C>(points, want).empty();
  }
};

// How an assignment is handed over.
struct Manner {
  const char* name;
  bool packed, bits;
  Form form;
};
constexpr Manner kManners[] = {
    {"evaluated, canonical", false, false, Form::kCanonical},
    {"evaluated, Montgomery", false, false, Form::kMontgomery},
    {"packed", true, false, Form::kMontgomery},
    {"packed with bits", true, true, Form::kCanonical},
    {"packed with bits, Montgomery", true, true, Form::kMontgomery},
};

template <class Fr>
struct Bits {
  std::vector<u64> bits, values;
  std::vector<Fr> others;

  explicit Bits(const std::vector<Fr>& witness) : bits((witness.size() + 63) / 64), values(bits.size()) {
    for (std::size_t i = 0; i < witness.size(); i++) {
      // Some ones and zeros stay among the full-size values.
      if (i % 7 == 3 || (!is_zero(witness[i]) && !is_integer_one(witness[i]))) {
        others.push_back(witness[i]);
        continue;
      }
      bits[i / 64] |= u64(1) << i % 64;
      if (!is_zero(witness[i])) values[i / 64] |= u64(1) << i % 64;
    }
    if (witness.size() % 64) bits.back() |= ~u64(0) << witness.size() % 64;  // beyond the last wire: of no meaning
  }
};

// Writes a vector in pieces, at an odd address.
template <class T>
int32_t write(cuzk_proof* proof, u32 vector, Form form, const std::vector<T>& v, cuzk_error* error) {
  const std::size_t piece = v.size() / 3 + 1;
  for (std::size_t at = 0; at < v.size(); at += piece) {
    const std::size_t n = std::min(piece, v.size() - at);
    std::vector<char> moved(n * sizeof(T) + 1);
    std::memcpy(moved.data() + 1, v.data() + at, n * sizeof(T));
    if (const int32_t code = cuzk_proof_write(proof, vector, u32(form), at, n, moved.data() + 1, error)) return code;
  }
  return CUZK_OK;
}

template <class Fr>
std::vector<Fr> in_form(std::vector<Fr> v, Form form) {
  if (form == Form::kMontgomery)
    for (Fr& x : v) x = to_montgomery(x);
  return v;
}

template <class Fr>
int32_t write_all(cuzk_proof* proof, const Instance<Fr>& in, const Manner& how, cuzk_error* error) {
  const Bits<Fr> bits(in.witness);
  int32_t code = CUZK_OK;
  const auto put = [&](u32 vector, Form form, const auto& v) {
    if (!code) code = write(proof, vector, form, v, error);
  };
  if (how.bits) {
    put(CUZK_VECTOR_BITS, Form::kCanonical, bits.bits);
    put(CUZK_VECTOR_VALUES, Form::kCanonical, bits.values);
  }
  put(CUZK_VECTOR_WITNESS, how.form, in_form(how.bits ? bits.others : in.witness, how.form));
  if (how.packed) return code;
  put(CUZK_VECTOR_A, how.form, in_form(in.a, how.form));
  put(CUZK_VECTOR_B, how.form, in_form(in.b, how.form));
  put(CUZK_VECTOR_C, how.form, in_form(in.c, how.form));
  return code;
}

template <class Fr>
cuzk_proof_options options_for(const Instance<Fr>& in, const Manner& how, cuzk_structure* structure) {
  cuzk_proof_options o = {};
  o.size = sizeof o;
  o.bits = how.bits;
  o.structure = how.packed ? structure : nullptr;
  o.constraints = how.packed ? 0 : in.shape.constraints;
  o.witness = how.bits ? Bits<Fr>(in.witness).others.size() : in.witness.size();
  return o;
}

template <class C>
int32_t prove(cuzk_engine* engine, cuzk_key* key, cuzk_structure* structure, const Fixture<C>& f, const Manner& how, cuzk_proof_result* result,
              cuzk_error* error) {
  const cuzk_proof_options options = options_for(f.instance, how, structure);
  cuzk_proof* proof = nullptr;
  if (const int32_t code = cuzk_proof_begin(engine, key, &options, &proof, error)) return code;
  *result = {};
  result->size = sizeof *result;
  cuzk_proof_timings timings = {};
  timings.size = sizeof timings;
  int32_t code = write_all(proof, f.instance, how, error);
  if (!code) code = cuzk_proof_compute(proof, &f.r, &f.s, result, &timings, error);
  cuzk_proof_release(proof, nullptr);
  if (!code) expect(timings.wall > 0 && timings.gpu_total > 0, "timings are set");
  return code;
}

cuzk_engine* open(uint64_t device_limit = 0) {
  cuzk_engine_options o = {};
  o.size = sizeof o;
  o.device_limit = device_limit;
  cuzk_engine* engine = nullptr;
  cuzk_error error;
  expect_code(cuzk_engine_open(&o, &engine, &error), CUZK_OK, error, "opening an engine");
  return engine;
}

template <class C>
cuzk_key* load(cuzk_engine* engine, const Fixture<C>& f, uint64_t device_budget = 0) {
  cuzk_key_source source = f.raw->source();
  source.device_budget = device_budget;
  cuzk_key* key = nullptr;
  cuzk_error error;
  expect_code(cuzk_key_load(engine, &source, &key, &error), CUZK_OK, error, "loading a key");
  return key;
}

// ---- the tests ----

template <class C>
void test_manners(const Fixture<C>& f, const char* name, std::size_t manners) {
  cuzk_engine* engine = open();
  cuzk_key* key = load(engine, f);
  cuzk_structure* structure = f.load_structure(engine);
  for (std::size_t i = 0; i < manners; i++) {
    const Manner& how = kManners[i];
    cuzk_proof_result result;
    cuzk_error error;
    const std::string what = std::string(name) + ", " + how.name;
    const int32_t code = prove(engine, key, structure, f, how, &result, &error);
    expect_code(code, CUZK_OK, error, what);
    if (!code) expect(f.right(result), what + ": the proof is wrong");
  }
  cuzk_structure_release(structure, nullptr);
  cuzk_key_release(key, nullptr);
  cuzk_error error;
  expect_code(cuzk_engine_close(engine, &error), CUZK_OK, error, "closing the engine");
}

void test_layouts() {
  for (const Layout layout : {Layout::kCoefficients, Layout::kGnark, Layout::kSnarkjs}) {
    test_manners(Fixture<Bn254>(layout, 5, 70), "BN254", std::size(kManners));
    test_manners(Fixture<Bls12381>(layout, 5, 70), "BLS12-381", 1);
  }
}

// Sections that do not fit the budget stay on the host.
void test_streaming() {
  const Fixture<Bn254> f(Layout::kGnark, 11, 9000, WitnessKind::kFew);
  cuzk_engine* engine = open();
  cuzk_key* key = load(engine, f);
  cuzk_key_info resident = {}, info = {};
  resident.size = info.size = sizeof info;
  cuzk_key_info_get(key, &resident, nullptr);
  expect(resident.streamed == 0 && resident.host_bytes == 0, "a key that fits is on the device");
  cuzk_key_release(key, nullptr);
  for (const uint64_t budget : {resident.device_bytes - 1, resident.device_bytes * 6 / 10}) {
    key = load(engine, f, budget);
    if (!key) continue;
    cuzk_key_info_get(key, &info, nullptr);
    expect(info.streamed != 0 && info.host_bytes > 0 && info.device_bytes <= budget, "a key that does not fit is streamed");
    cuzk_proof_result result;
    cuzk_error error;
    const int32_t code = prove<Bn254>(engine, key, nullptr, f, kManners[0], &result, &error);
    expect_code(code, CUZK_OK, error, "a proof with a streamed key");
    if (!code) expect(f.right(result), "the proof with a streamed key is wrong");
    cuzk_key_release(key, nullptr);
  }
  cuzk_engine_close(engine, nullptr);
}

// Points that the library asks for, and that one read fails of.
struct Reader {
  const cuzk_key_source from;
  std::size_t g1, g2;
  int fails_at = -1, reads = 0;

  static int32_t read(void* context, uint32_t section, uint64_t first, uint64_t count, void* to) {
    Reader& r = *static_cast<Reader*>(context);
    const std::size_t size = section == CUZK_SECTION_B2 ? r.g2 : r.g1;
    std::memcpy(to, static_cast<const char*>(r.from.section[section].points) + first * size, count * size);
    return r.reads++ == r.fails_at;
  }
  cuzk_key_source source() {
    cuzk_key_source s = from;
    for (cuzk_section& section : s.section) section.points = nullptr;
    s.read = read;
    s.read_context = this;
    return s;
  }
};

// Keys that are read piece by piece, onto the device and to the host.
void test_reading() {
  const Fixture<Bls12381> f(Layout::kGnark, 10, 9000, WitnessKind::kFew);
  Reader reader{f.raw->source(), sizeof(Bls12381::G1), sizeof(Bls12381::G2)};
  cuzk_engine* engine = open();
  cuzk_error error;
  uint64_t budget = 0;
  for (const bool on_device : {true, false}) {
    cuzk_key_source source = reader.source();
    source.device_budget = budget;
    cuzk_key* key = nullptr;
    expect_code(cuzk_key_load(engine, &source, &key, &error), CUZK_OK, error, "loading a key that is read");
    cuzk_key_info info = {};
    info.size = sizeof info;
    cuzk_key_info_get(key, &info, nullptr);
    expect((info.streamed == 0) == on_device, "a key that is read is where it fits");
    budget = info.device_bytes * 6 / 10;
    cuzk_proof_result result;
    const int32_t code = prove<Bls12381>(engine, key, nullptr, f, kManners[0], &result, &error);
    expect_code(code, CUZK_OK, error, "a proof with a key that was read");
    if (!code) expect(f.right(result), "the proof with a key that was read is wrong");
    cuzk_key_release(key, nullptr);
  }
  reader.fails_at = reader.reads + 2;
  const cuzk_key_source source = reader.source();
  cuzk_key* key = nullptr;
  expect_code(cuzk_key_load(engine, &source, &key, &error), CUZK_READ_FAILED, error, "loading a key that cannot be read");
  expect_code(cuzk_engine_close(engine, &error), CUZK_OK, error, "nothing is left of a key that could not be read");
}

void test_two_at_once() {
  const Fixture<Bn254> f(Layout::kGnark, 6, 70);
  const Fixture<Bls12381> g(Layout::kSnarkjs, 6, 70);
  cuzk_engine* engine = open();
  cuzk_key *key = load(engine, f), *other = load(engine, g);
  std::atomic<int> wrong{0}, busy{0};
  const auto work = [&](auto& fixture, cuzk_key* k) {
    for (int i = 0; i < 3; i++) {
      cuzk_proof_result result;
      cuzk_error error;
      const int32_t code = prove(engine, k, nullptr, fixture, kManners[i % 2], &result, &error);
      busy += code == CUZK_BUSY;
      wrong += code != CUZK_BUSY && (code || !fixture.right(result));
    }
  };
  std::thread first([&] { work(f, key); }), second([&] { work(g, other); });
  first.join();
  second.join();
  expect(wrong == 0, "two proofs at once are right");
  expect(busy == 0, "two lanes serve two threads");

  // A third proof finds no lane.
  const cuzk_proof_options options = options_for(f.instance, kManners[0], nullptr);
  cuzk_proof* proofs[3] = {};
  cuzk_error error;
  expect_code(cuzk_proof_begin(engine, key, &options, &proofs[0], &error), CUZK_OK, error, "the first lane");
  expect_code(cuzk_proof_begin(engine, key, &options, &proofs[1], &error), CUZK_OK, error, "the second lane");
  expect_code(cuzk_proof_begin(engine, key, &options, &proofs[2], &error), CUZK_BUSY, error, "a third proof");
  expect_code(cuzk_engine_close(engine, &error), CUZK_INVALID, error, "closing an engine in use");
  // The key's memory stays until its last proof has gone.
  cuzk_key_release(key, nullptr);
  cuzk_proof_result result = {};
  result.size = sizeof result;
  expect_code(write_all(proofs[1], f.instance, kManners[0], &error), CUZK_OK, error, "writing after the key's release");
  expect_code(cuzk_proof_compute(proofs[1], &f.r, &f.s, &result, nullptr, &error), CUZK_OK, error, "a proof after the key's release");
  expect(f.right(result), "a proof after the key's release is right");
  cuzk_proof_release(proofs[0], nullptr);
  cuzk_proof_release(proofs[1], nullptr);
  cuzk_key_release(other, nullptr);
  cuzk_engine_close(engine, nullptr);
}

void test_cancel() {
  const Fixture<Bn254> f(Layout::kGnark, 6, 70);
  cuzk_engine* engine = open();
  cuzk_key* key = load(engine, f);
  const cuzk_proof_options options = options_for(f.instance, kManners[0], nullptr);
  cuzk_error error;
  for (const bool while_computing : {false, true}) {
    cuzk_proof* proof = nullptr;
    expect_code(cuzk_proof_begin(engine, key, &options, &proof, &error), CUZK_OK, error, "beginning");
    cuzk_proof_result result = {};
    result.size = sizeof result;
    std::thread canceller;
    if (while_computing) {
      write_all(proof, f.instance, kManners[0], &error);
      canceller = std::thread([&] { cuzk_proof_cancel(proof); });
    } else {
      cuzk_proof_cancel(proof);
      expect_code(write_all(proof, f.instance, kManners[0], &error), CUZK_CANCELLED, error, "writing to a cancelled proof");
    }
    const int32_t code = cuzk_proof_compute(proof, &f.r, &f.s, &result, nullptr, &error);
    // The proof may have been faster.
    if (!(while_computing && code == CUZK_OK)) expect_code(code, CUZK_CANCELLED, error, "computing a cancelled proof");
    if (canceller.joinable()) canceller.join();
    cuzk_proof_release(proof, nullptr);
  }
  uint32_t cancelled = 1;
  cuzk_key_source source = f.raw->source();
  source.cancel = &cancelled;
  cuzk_key* never = nullptr;
  expect_code(cuzk_key_load(engine, &source, &never, &error), CUZK_CANCELLED, error, "loading a key, cancelled");
  cuzk_key_release(key, nullptr);
  cuzk_engine_close(engine, nullptr);
}

void test_invalid_keys(cuzk_engine* engine, const Fixture<Bn254>& f) {
  cuzk_error error;
  const auto refused = [&](const char* what, auto change) {
    cuzk_key_source source = f.raw->source();
    change(source);
    cuzk_key* key = nullptr;
    expect_code(cuzk_key_load(engine, &source, &key, &error), CUZK_INVALID, error, what);
    expect(key == nullptr, std::string(what) + ": no key");
  };
  refused("a key without a size", [](auto& s) { s.size = 0; });
  refused("a key of an unknown curve", [](auto& s) { s.curve = 7; });
  refused("a key of an unknown layout", [](auto& s) { s.layout = 3; });
  refused("a key without wires", [](auto& s) { s.wires = 0; });
  refused("a key with too many public inputs", [](auto& s) { s.public_inputs = s.wires; });
  refused("a domain that is no power of two", [](auto& s) { s.domain--; });
  refused("a domain that is too large", [](auto& s) { s.domain = uint64_t(1) << 40; });
  refused("a missing vertex", [](auto& s) { s.delta_g2 = nullptr; });
  refused("a missing section", [](auto& s) { s.section[CUZK_SECTION_A].points = nullptr; });
  refused("a section that is too short", [](auto& s) { s.section[CUZK_SECTION_B2].count--; });
  refused("a section L that is too long", [](auto& s) { s.section[CUZK_SECTION_L].count++; });
  refused("a section H that is too long", [](auto& s) { s.section[CUZK_SECTION_H].count++; });
  refused("too few words of absent points", [](auto& s) { s.section[CUZK_SECTION_A].absent_words--; });
  const uint32_t wire = 1;
  refused("a committed public wire", [&](auto& s) {
    s.committed = &wire;
    s.committed_count = 1;
  });
  expect_code(cuzk_key_load(engine, nullptr, nullptr, &error), CUZK_INVALID, error, "no source");
  expect_code(cuzk_key_load(nullptr, nullptr, nullptr, nullptr), CUZK_INVALID, {CUZK_INVALID, 0, 0, 0, ""}, "no engine, no error");
}

void test_invalid_structures(cuzk_engine* engine, const Fixture<Bn254>& f) {
  cuzk_error error;
  const auto refused = [&](const char* what, auto change) {
    cuzk_structure_source source = f.instance.source(CUZK_BN254, true);
    change(source);
    cuzk_structure* structure = nullptr;
    expect_code(cuzk_structure_load(engine, &source, &structure, &error), CUZK_INVALID, error, what);
  };
  refused("a structure without A", [](auto& s) { s.a = {}; });
  refused("entries beyond the last row", [](auto& s) { s.b.entries++; });
  refused("a wire out of range", [](auto& s) { s.wires = 10; });
  refused("a coefficient out of range", [](auto& s) { s.coefficient_count = 1; });
}

void test_invalid_proofs(cuzk_engine* engine, const Fixture<Bn254>& f) {
  using Fr = Bn254Fr;
  cuzk_key* key = load(engine, f);
  cuzk_error error;
  cuzk_proof* proof = nullptr;
  const auto refused = [&](const char* what, auto change) {
    cuzk_proof_options o = options_for(f.instance, kManners[0], nullptr);
    change(o);
    expect_code(cuzk_proof_begin(engine, key, &o, &proof, &error), CUZK_INVALID, error, what);
  };
  refused("a witness of another circuit", [](auto& o) { o.witness--; });
  refused("more constraints than the domain", [&](auto& o) { o.constraints = f.shape.domain + 1; });
  refused("options without a size", [](auto& o) { o.size = 0; });

  const auto begin = [&](const Manner& how = kManners[0]) {
    const cuzk_proof_options o = options_for(f.instance, how, nullptr);
    expect_code(cuzk_proof_begin(engine, key, &o, &proof, &error), CUZK_OK, error, "beginning");
  };
  cuzk_proof_result result = {};
  result.size = sizeof result;
  const auto compute = [&](const Fr& r = Bn254Fr::zero()) { return cuzk_proof_compute(proof, &r, &f.s, &result, nullptr, &error); };

  begin();
  const auto& w = f.instance.witness;
  expect_code(cuzk_proof_write(proof, 9, 0, 0, 1, w.data(), &error), CUZK_INVALID, error, "an unknown vector");
  expect_code(cuzk_proof_write(proof, CUZK_VECTOR_WITNESS, 2, 0, 1, w.data(), &error), CUZK_INVALID, error, "an unknown form");
  expect_code(cuzk_proof_write(proof, CUZK_VECTOR_WITNESS, 0, 0, 1, nullptr, &error), CUZK_INVALID, error, "no data");
  expect_code(cuzk_proof_write(proof, CUZK_VECTOR_BITS, 0, 0, 1, w.data(), &error), CUZK_INVALID, error, "bits that were not announced");
  expect_code(cuzk_proof_write(proof, CUZK_VECTOR_WITNESS, 0, ~uint64_t(0), 2, w.data(), &error), CUZK_INVALID, error, "an offset that wraps");
  expect_code(cuzk_proof_write(proof, CUZK_VECTOR_WITNESS, 0, 0, w.size() + 1, w.data(), &error), CUZK_INVALID, error, "too many elements");
  expect_code(cuzk_proof_write(proof, CUZK_VECTOR_WITNESS, 0, 0, 1, w.data(), &error), CUZK_OK, error, "the first element");
  expect_code(cuzk_proof_write(proof, CUZK_VECTOR_WITNESS, 1, 1, 1, w.data(), &error), CUZK_INVALID, error, "two forms in a vector");
  expect_code(compute(), CUZK_INVALID, error, "a proof without its vectors");
  cuzk_proof_release(proof, nullptr);

  const auto wrong = [&](const char* what, const char* text, auto change) {
    Instance<Fr> changed = f.instance;
    change(changed);
    begin();
    expect_code(write_all(proof, changed, kManners[0], &error), CUZK_OK, error, what);
    expect_code(compute(), CUZK_INVALID, error, what);
    expect(std::strstr(error.message, text) != nullptr, std::string(what) + ": the message is: " + error.message);
    cuzk_proof_release(proof, nullptr);
  };
  wrong("wire 0 is not one", "element 0 of the witness must be 1", [](auto& in) { in.witness[0] = Fr::zero(); });
  wrong("a witness that is not canonical", "element 5 of the witness", [](auto& in) { in.witness[5] = Fr::modulus(); });
  wrong("values of A that are not canonical", "element 3 of A", [](auto& in) { in.a[3] = Fr::modulus(); });
  wrong("values of C that are not canonical", "element 4 of C", [](auto& in) {
    for (u32& limb : in.c[4].limb) limb = ~0u;
  });

  begin();
  write_all(proof, f.instance, kManners[0], &error);
  expect_code(compute(Fr::modulus()), CUZK_INVALID, error, "r is not canonical");
  cuzk_proof_release(proof, nullptr);
  cuzk_key_release(key, nullptr);
}

void test_invalid() {
  const Fixture<Bn254> f(Layout::kGnark, 6, 70);
  cuzk_engine* engine = open();
  test_invalid_keys(engine, f);
  test_invalid_structures(engine, f);
  test_invalid_proofs(engine, f);
  cuzk_error error;
  expect_code(cuzk_engine_close(engine, &error), CUZK_OK, error, "nothing is left of what was refused");
}

void test_memory() {
  const Fixture<Bn254> f(Layout::kCoefficients, 9, 700, WitnessKind::kFew);
  const std::size_t before = free_memory();
  cuzk_error error;
  // Narrower and narrower, until nothing fits: no crash, and all memory comes back.
  int refused = 0;
  for (std::size_t memory = std::size_t(64) << 20; memory >= (std::size_t(1) << 16); memory /= 4) {
    setenv(kMemory, std::to_string(memory).c_str(), 1);
    cuzk_engine* engine = open();
    const cuzk_key_source source = f.raw->source();
    cuzk_key* key = nullptr;
    cuzk_proof_result result;
    int32_t code = cuzk_key_load(engine, &source, &key, &error);
    if (!code) code = prove<Bn254>(engine, key, nullptr, f, kManners[0], &result, &error);
    if (code) {
      expect_code(code, CUZK_OUT_OF_MEMORY, error, "a key in " + std::to_string(memory) + " bytes");
      expect(error.asked > error.free, "the error tells what was asked for, and what is free");
      refused++;
    } else {
      expect(f.right(result), "a proof in " + std::to_string(memory) + " bytes is wrong");
    }
    cuzk_key_release(key, nullptr);
    cuzk_engine_close(engine, nullptr);
    unsetenv(kMemory);
    expect(free_memory() == before, "all memory comes back");
  }
  expect(refused > 0, "memory was too small for the key at last");

  // The engine's own limit.
  cuzk_engine* engine = open(1 << 16);
  const cuzk_key_source source = f.raw->source();
  cuzk_key* key = nullptr;
  expect_code(cuzk_key_load(engine, &source, &key, &error), CUZK_OUT_OF_MEMORY, error, "a key above the engine's limit");
  cuzk_engine_close(engine, nullptr);
  expect(free_memory() == before, "all memory comes back from a limited engine");
}

#if CUZK_EMULATED
// What concerns one device leaves others alone: no context is made there. First of all, before anything is done on device 0.
void test_second_device() {
  setenv("CUZK_EMULATOR_DEVICES", "2", 1);
  cuzk_error error;
  void* memory = nullptr;
  uint64_t free = 0, total = 0;
  expect_code(cuzk_host_alloc(1, 4096, &memory, &error), CUZK_OK, error, "page-locked memory of device 1");
  expect_code(cuzk_device_memory(1, &free, &total, &error), CUZK_OK, error, "asking for the memory of device 1");
  expect_code(cuzk_host_free(1, memory, 4096, &error), CUZK_OK, error, "freeing page-locked memory of device 1");
  expect(emulator::has_context(1) && !emulator::has_context(0), "device 1 alone has a context");
  // The thread's device is left as it was where it has a context.
  check(cudaSetDevice(0), "choosing the device");
  expect_code(cuzk_device_memory(1, &free, &total, &error), CUZK_OK, error, "asking for the memory of device 1");
  expect(current_device() == 0, "the thread's device is as it was");
  unsetenv("CUZK_EMULATOR_DEVICES");
}
#endif

void test_devices() {
  cuzk_error error;
  int32_t count = 0;
  expect_code(cuzk_device_count(&count, &error), CUZK_OK, error, "counting devices");
  expect(count >= 1, "there is a device");
  cuzk_device_info info = {};
  info.size = sizeof info;
  expect_code(cuzk_device_info_get(0, &info, &error), CUZK_OK, error, "asking for device 0");
  expect(info.name[0] != 0 && info.memory > 0, "the device has a name and memory");
  expect_code(cuzk_device_info_get(count, &info, &error), CUZK_NO_DEVICE, error, "a device that is not there");
  // A caller of an older version knows less of the struct.
  struct {
    uint32_t size;
    int32_t device;
    char name[8], guard[8];
  } old = {sizeof old - 8, 0, {}, "guarded"};
  expect_code(cuzk_device_info_get(0, reinterpret_cast<cuzk_device_info*>(&old), &error), CUZK_OK, error, "a smaller struct");
  expect(std::strcmp(old.guard, "guarded") == 0, "no more is written than the caller knows of");
  uint64_t free = 0, total = 0;
  expect_code(cuzk_device_memory(0, &free, &total, &error), CUZK_OK, error, "asking for memory");
  expect(free <= total && total > 0, "the device has memory");
  void* memory = nullptr;
  expect_code(cuzk_host_alloc(0, 4096, &memory, &error), CUZK_OK, error, "page-locked memory");
  expect_code(cuzk_host_free(0, memory, 4096, &error), CUZK_OK, error, "freeing page-locked memory");
  expect_code(cuzk_host_alloc(count, 4096, &memory, &error), CUZK_NO_DEVICE, error, "page-locked memory of a device that is not there");
  constexpr uint64_t kTooMuch = uint64_t(1) << 60;
  expect_code(cuzk_host_alloc(0, kTooMuch, &memory, &error), CUZK_OUT_OF_HOST_MEMORY, error, "too much page-locked memory");
  expect(error.asked == kTooMuch, "the error tells what was asked of the host");
}

// What a lane takes at most is what a key's plan and its info count with, whatever the assignment.
void test_lane_memory() {
  for (const u64 wires : {20, 70}) {  // fewer and more than the domain
    const Fixture<Bn254> f(Layout::kGnark, 5, wires);
    cuzk_engine* engine = open();
    cuzk_key* key = load(engine, f);
    cuzk_structure* structure = f.load_structure(engine);
    cuzk_key_info info = {};
    info.size = sizeof info;
    cuzk_key_info_get(key, &info, nullptr);
    const auto held = [&] {
      cuzk_engine_info i = {};
      i.size = sizeof i;
      cuzk_engine_info_get(engine, &i, nullptr);
      return i.device_bytes;
    };
    const uint64_t before = held();
    cuzk_proof_options options = options_for(f.instance, kManners[3], structure);
    options.witness = wires;  // none is a bit
    cuzk_proof* proof = nullptr;
    cuzk_error error;
    expect_code(cuzk_proof_begin(engine, key, &options, &proof, &error), CUZK_OK, error, "a proof without bits among its bits");
    expect(held() - before <= info.proof_device_bytes, "a lane takes no more than the key's info says");
    cuzk_proof_release(proof, nullptr);
    options.structure = nullptr;
    expect_code(cuzk_proof_begin(engine, key, &options, &proof, &error), CUZK_INVALID, error, "bits without a structure");
    cuzk_structure_release(structure, nullptr);
    cuzk_key_release(key, nullptr);
    cuzk_engine_close(engine, nullptr);
  }
}

void test_selftest() {
  if (CUZK_EMULATED) setenv("CUZK_EMULATOR_SHARED_MEMORY", "101376", 1);  // passed also where a block has as little as 99 KB
  cuzk_engine* engine = open();
  cuzk_error error;
  expect_code(cuzk_engine_selftest(engine, &error), CUZK_OK, error, "the self-test");
  cuzk_engine_info info = {};
  info.size = sizeof info;
  expect_code(cuzk_engine_info_get(engine, &info, &error), CUZK_OK, error, "asking for the engine");
  expect(info.device_bytes == 0 && info.lanes_free == 2 && info.prepare_ms > 0, "the self-test leaves nothing behind");
  cuzk_engine_close(engine, nullptr);
  unsetenv("CUZK_EMULATOR_SHARED_MEMORY");
}

}  // namespace

// A proof of each kind of assignment, small enough for tools that slow kernels down a thousandfold.
int test_small() {
  const Fixture<Bn254> f(Layout::kGnark, 4, 20);
  test_manners(f, "BN254", std::size(kManners));
  if (failures == 0) std::printf("ok\n");
  return failures != 0;
}

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--small") == 0) return test_small();
#if CUZK_EMULATED
  test_second_device();
#endif
  const std::size_t before = free_memory();
  test_devices();
  test_layouts();
  test_two_at_once();
  test_cancel();
  test_invalid();
  if (CUZK_EMULATED) test_memory();
  test_lane_memory();
  test_streaming();
  test_reading();
  test_selftest();
  if (CUZK_EMULATED) expect(free_memory() == before, "all memory has come back");
  if (failures == 0) std::printf("ok\n");
  return failures != 0;
}
