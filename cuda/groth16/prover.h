// What the C ABI is made of: keys, structures and proofs of either curve behind one interface.
//
// The structs of cuzk.h serve as arguments; their `size` has been dealt with before.
#pragma once

#include <memory>

#include "groth16/engine.h"
#include "include/cuzk.h"

namespace cuzk::groth16 {

class AnyStructure {
 public:
  virtual ~AnyStructure() = default;
  virtual std::size_t bytes() const = 0;
};

// AnyProof is one proof under way.
class AnyProof {
 public:
  virtual ~AnyProof() = default;
  virtual void write(u32 vector, u32 form, u64 offset, u64 count, const void* data) = 0;
  virtual void compute(const void* r, const void* s, cuzk_proof_result& result, cuzk_proof_timings& timings) = 0;
  // From any thread.
  virtual void cancel() = 0;
};

class AnyKey {
 public:
  virtual ~AnyKey() = default;
  virtual cuzk_key_info info() const = 0;
  // The proof keeps the key and the structure alive.
  virtual std::unique_ptr<AnyProof> begin(std::shared_ptr<AnyKey> self, std::shared_ptr<AnyStructure> structure,
                                          const cuzk_proof_options& options) = 0;
};

// Launches a kernel: throws if the library holds none for the device.
void check_kernels();

std::shared_ptr<AnyKey> load_key(Engine& engine, const cuzk_key_source& source, const Poll& poll);
std::shared_ptr<AnyStructure> load_structure(Engine& engine, const cuzk_structure_source& source, const Poll& poll);

struct SelfTestFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Proves small circuits from keys with known exponents and compares.
void selftest(Engine& engine);

}  // namespace cuzk::groth16
