// One proof under way.
//
// The caller's thread brings vectors to the device and enqueues what follows from each on the lane's stream: sorting the
// witness, evaluating the constraints, the quotient. A thread of the proof waits for its turn and takes the sums: those
// with the witness as soon as that is sorted, that of H when the quotient is there. So the uploads and transforms of one
// proof run beside the sums of another, which own the scratch memory one proof at a time.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "groth16/assemble.h"
#include "groth16/key.cuh"
#include "groth16/structure.cuh"

namespace cuzk::groth16 {

template <class Fr>
class StructureHandle final : public AnyStructure {
 public:
  StructureHandle(const typename Structure<Fr>::Source& source, Engine& engine, const Poll& poll) : structure(source, engine, poll) {}
  std::size_t bytes() const override { return structure.bytes(); }
  const Structure<Fr> structure;
};

// HostWords is what of a proof's memory the host looks at, page-locked.
struct HostWords {
  Faults* faults = nullptr;
  u32* full_count = nullptr;  // wires that are no bits
  u32* counts = nullptr;      // of ProofMemory
  std::size_t count_words = 0;

  static std::size_t count_words_of(const KeyShape& key) { return 2 * kWireSections * (std::size_t(selection_blocks(key.wires)) + 1); }
  static std::size_t words_of(const KeyShape& key) { return sizeof(Faults) / sizeof(u32) + 1 + count_words_of(key); }

  HostWords() = default;
  HostWords(const KeyShape& key, u32* words)
      : faults(reinterpret_cast<Faults*>(words)),
        full_count(words + sizeof(Faults) / sizeof(u32)),
        counts(full_count + 1),
        count_words(count_words_of(key)) {}
};

// Incoming is a vector that the caller writes.
struct Incoming {
  u64 expected = 0, written = 0;
  bool wanted = false;
  u32 form = ~u32(0);  // that of the pieces so far
  bool complete() const { return !wanted || written == expected; }
};

template <class C>
class Proof final : public AnyProof {
 public:
  using Fr = typename C::Fr;

  Proof(std::shared_ptr<Key<C>> key, std::shared_ptr<StructureHandle<Fr>> structure, const cuzk_proof_options& options);
  ~Proof() override;

  void write(u32 vector, u32 form, u64 offset, u64 count, const void* data) override;
  void compute(const void* r, const void* s, cuzk_proof_result& result, cuzk_proof_timings& timings) override;
  void cancel() override;

 private:
  static constexpr int kVectors = 6;

  // ---- the caller's thread ----
  void expect(const cuzk_proof_options& options);
  void check_write(u32 vector, u32 form, u64 offset, u64 count) const;
  void* place_of(u32 vector) const;
  void advance();
  void after_uploads();
  void sort_witness();
  void evaluate();
  void check_evaluated(int i);
  void begin_quotient();
  void end_quotient();
  Form form() const { return evaluated() ? Form(incoming_[CUZK_VECTOR_A].form) : Form::kCanonical; }
  bool evaluated() const { return !structure_; }
  bool has_c() const { return key_->shape().layout != Layout::kSnarkjs; }

  // ---- the proof's thread ----
  void run() noexcept;
  void take_sums(Engine::Turn& turn);
  void check_witness() const;
  void run_sums(Engine::Turn& turn, const std::vector<int>& sections);
  void sum(Engine::Turn& turn, int section);
  template <class G>
  auto sum_wires(SumContext& c, SumStream<C>& on, const Section<G>& section, int index, Family tail);

  void wait_for(const bool& condition);
  void poll() const {
    if (cancelled_) throw Cancelled();
  }

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::shared_ptr<Key<C>> key_;
  std::shared_ptr<StructureHandle<Fr>> structure_;
  Engine& engine_;
  const Poll poll_ = [this] { poll(); };
  u64 constraints_ = 0;
  AssignmentShape assignment_{};
  Incoming incoming_[kVectors];
  std::unique_ptr<Engine::LaneHold> lane_;
  ProofMemory<Fr> memory_;
  Timeline timeline_;
  Event uploaded_{false}, sorted_{false}, divided_{false};
  HostWords host_;
  bool coset_product_made_ = false;

  std::atomic<bool> cancelled_{false};
  std::mutex mu_;
  std::condition_variable changed_;
  bool witness_sorted_ = false, quotient_made_ = false, computed_ = false;  // enqueued; guarded by mu_
  double waited_ = 0;
  Sums<C> sums_;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace cuzk::groth16
