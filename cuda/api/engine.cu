// Engines, keys, structures and proofs behind handles.
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "api/errors.h"
#include "groth16/prover.h"

using namespace cuzk;
using namespace cuzk::api;
using groth16::Invalid;

struct cuzk_engine {
  cuzk_engine(const groth16::EngineOptions& options) : engine(options) {}
  groth16::Engine engine;
  std::atomic<uint32_t> keys{0}, structures{0}, proofs{0};
  double open_ms = 0;
  std::atomic<double> prepare_ms{0};
};

// Counts a handle of an engine while it lives.
class Counted {
 public:
  explicit Counted(std::atomic<uint32_t>& n) : n_(n) { n_++; }
  ~Counted() { n_--; }
  Counted(const Counted&) = delete;

 private:
  std::atomic<uint32_t>& n_;
};

struct cuzk_key {
  cuzk_engine& owner;
  Counted counted;
  std::shared_ptr<groth16::AnyKey> key;
};

struct cuzk_structure {
  cuzk_engine& owner;
  Counted counted;
  std::shared_ptr<groth16::AnyStructure> structure;
};

struct cuzk_proof {
  cuzk_engine& owner;
  Counted counted;
  std::unique_ptr<groth16::AnyProof> proof;
};

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

Poll poll_of(const uint32_t* cancel) {
  return [cancel] {
    if (cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED)) throw groth16::Cancelled();
  };
}

groth16::EngineOptions engine_options(const cuzk_engine_options* options) {
  groth16::EngineOptions o;
  if (!options) return o;
  const cuzk_engine_options given = read_sized(options, "options");
  if (given.lanes > 2) throw Invalid(std::to_string(given.lanes) + " lanes: an engine has one or two");
  if (given.copy_threads > 256) throw Invalid(std::to_string(given.copy_threads) + " copy threads: at most 256");
  o.device = given.device;
  o.device_limit = given.device_limit;
  o.scratch_limit = given.scratch_limit;
  o.lanes = given.lanes ? given.lanes : o.lanes;
  o.copy_threads = given.copy_threads;
  return o;
}

}  // namespace

extern "C" {

int32_t cuzk_engine_open(const cuzk_engine_options* options, cuzk_engine** engine, cuzk_error* error) {
  return guarded(error, [&] {
    required(engine, "engine") = nullptr;
    const groth16::EngineOptions o = engine_options(options);
    int32_t count = 0;
    cuzk_error why;
    if (const int32_t code = cuzk_device_count(&count, &why)) throw Failure(cuzk_code(code), why.message);
    if (o.device < 0 || o.device >= count) throw Failure(CUZK_NO_DEVICE, "there is no device " + std::to_string(o.device));
    const auto start = Clock::now();
    DeviceGuard guard(o.device);
    auto e = std::make_unique<cuzk_engine>(o);
    groth16::check_kernels();
    e->open_ms = milliseconds_since(start);
    *engine = e.release();
  });
}

int32_t cuzk_engine_info_get(cuzk_engine* engine, cuzk_engine_info* info, cuzk_error* error) {
  return guarded(error, [&] {
    cuzk_engine& e = required(engine, "engine");
    cuzk_engine_info i = {};
    i.size = sizeof i;
    i.device = e.engine.device();
    i.lanes = e.engine.lanes();
    i.lanes_free = e.engine.free_lanes();
    i.keys = e.keys;
    i.structures = e.structures;
    i.device_bytes = e.engine.memory().held();
    i.open_ms = e.open_ms;
    i.prepare_ms = e.prepare_ms;
    write_sized(info, i, "info");
  });
}

int32_t cuzk_engine_selftest(cuzk_engine* engine, cuzk_error* error) {
  return guarded(error, [&] {
    cuzk_engine& e = required(engine, "engine");
    DeviceGuard guard(e.engine.device());
    const groth16::Engine::User hold(e.engine);  // keeps memory from one key to the next
    const auto start = Clock::now();
    groth16::selftest(e.engine);
    if (e.prepare_ms != 0) return;
    // The second run has its kernels ready: the difference is what loading or compiling them took.
    const double first = milliseconds_since(start);
    const auto again = Clock::now();
    groth16::selftest(e.engine);
    e.prepare_ms = std::max(first - milliseconds_since(again), 1e-3);
  });
}

int32_t cuzk_engine_trim(cuzk_engine* engine, cuzk_error* error) {
  return guarded(error, [&] {
    cuzk_engine& e = required(engine, "engine");
    DeviceGuard guard(e.engine.device());
    e.engine.trim();
  });
}

int32_t cuzk_engine_close(cuzk_engine* engine, cuzk_error* error) {
  return guarded(error, [&] {
    if (!engine) return;
    if (engine->keys || engine->structures || engine->proofs) {
      throw Invalid("the engine is in use: " + std::to_string(engine->keys) + " keys, " + std::to_string(engine->structures) +
                    " structures and " + std::to_string(engine->proofs) + " proofs have not been released");
    }
    DeviceGuard guard(engine->engine.device());
    delete engine;
  });
}

int32_t cuzk_key_load(cuzk_engine* engine, const cuzk_key_source* source, cuzk_key** key, cuzk_error* error) {
  return guarded(error, [&] {
    cuzk_engine& e = required(engine, "engine");
    required(key, "key") = nullptr;
    const cuzk_key_source s = read_sized(source, "source");
    DeviceGuard guard(e.engine.device());
    *key = new cuzk_key{e, Counted(e.keys), groth16::load_key(e.engine, s, poll_of(s.cancel))};
  });
}

int32_t cuzk_key_info_get(cuzk_key* key, cuzk_key_info* info, cuzk_error* error) {
  return guarded(error, [&] { write_sized(info, required(key, "key").key->info(), "info"); });
}

int32_t cuzk_key_release(cuzk_key* key, cuzk_error* error) {
  return guarded(error, [&] {
    if (!key) return;
    DeviceGuard guard(key->owner.engine.device());
    delete key;
  });
}

int32_t cuzk_structure_load(cuzk_engine* engine, const cuzk_structure_source* source, cuzk_structure** structure, cuzk_error* error) {
  return guarded(error, [&] {
    cuzk_engine& e = required(engine, "engine");
    required(structure, "structure") = nullptr;
    const cuzk_structure_source s = read_sized(source, "source");
    DeviceGuard guard(e.engine.device());
    *structure = new cuzk_structure{e, Counted(e.structures), groth16::load_structure(e.engine, s, poll_of(s.cancel))};
  });
}

int32_t cuzk_structure_bytes(cuzk_structure* structure, uint64_t* bytes, cuzk_error* error) {
  return guarded(error, [&] { required(bytes, "bytes") = required(structure, "structure").structure->bytes(); });
}

int32_t cuzk_structure_release(cuzk_structure* structure, cuzk_error* error) {
  return guarded(error, [&] {
    if (!structure) return;
    DeviceGuard guard(structure->owner.engine.device());
    delete structure;
  });
}

int32_t cuzk_proof_begin(cuzk_engine* engine, cuzk_key* key, const cuzk_proof_options* options, cuzk_proof** proof, cuzk_error* error) {
  return guarded(error, [&] {
    cuzk_engine& e = required(engine, "engine");
    cuzk_key& k = required(key, "key");
    required(proof, "proof") = nullptr;
    const cuzk_proof_options o = read_sized(options, "options");
    if (&k.owner != &e || (o.structure && &o.structure->owner != &e)) throw Invalid("the key or the structure belongs to another engine");
    DeviceGuard guard(e.engine.device());
    std::shared_ptr<groth16::AnyStructure> structure = o.structure ? o.structure->structure : nullptr;
    *proof = new cuzk_proof{e, Counted(e.proofs), k.key->begin(k.key, structure, o)};
  });
}

int32_t cuzk_proof_write(cuzk_proof* proof, uint32_t vector, uint32_t form, uint64_t offset, uint64_t count, const void* data,
                         cuzk_error* error) {
  return guarded(error, [&] {
    cuzk_proof& p = required(proof, "proof");
    if (count && !data) throw Invalid("data is null");
    DeviceGuard guard(p.owner.engine.device());
    p.proof->write(vector, form, offset, count, data);
  });
}

int32_t cuzk_proof_compute(cuzk_proof* proof, const void* r, const void* s, cuzk_proof_result* result, cuzk_proof_timings* timings,
                           cuzk_error* error) {
  return guarded(error, [&] {
    cuzk_proof& p = required(proof, "proof");
    if (!r || !s) throw Invalid("r or s is null");
    required(result, "result");
    DeviceGuard guard(p.owner.engine.device());
    cuzk_proof_result out = {};
    cuzk_proof_timings times = {};
    p.proof->compute(r, s, out, times);
    if (timings) write_sized(timings, times, "timings");
    write_sized(result, out, "result");
  });
}

int32_t cuzk_proof_cancel(cuzk_proof* proof) {
  return guarded(nullptr, [&] { required(proof, "proof").proof->cancel(); });
}

int32_t cuzk_proof_release(cuzk_proof* proof, cuzk_error* error) {
  return guarded(error, [&] {
    if (!proof) return;
    DeviceGuard guard(proof->owner.engine.device());
    delete proof;
  });
}

}  // extern "C"
