#pragma once

#include "groth16/proof.cuh"

namespace cuzk::groth16 {

namespace detail {

template <class T>
std::string number(T n) {
  return std::to_string(n);
}

inline const char* vector_name(u32 vector) {
  constexpr const char* names[] = {"WITNESS", "A", "B", "C", "BITS", "VALUES"};
  return names[vector];
}

inline double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace detail

template <class C>
std::unique_ptr<AnyProof> Key<C>::begin(std::shared_ptr<AnyKey> self, std::shared_ptr<AnyStructure> structure, const cuzk_proof_options& options) {
  auto typed = std::dynamic_pointer_cast<StructureHandle<Fr>>(structure);
  if (structure && !typed) throw Invalid("the structure is on another curve than the key");
  return std::make_unique<Proof<C>>(std::static_pointer_cast<Key<C>>(self), typed, options);
}

template <class C>
Proof<C>::Proof(std::shared_ptr<Key<C>> key, std::shared_ptr<StructureHandle<Fr>> structure, const cuzk_proof_options& options)
    : key_(std::move(key)), structure_(std::move(structure)), engine_(key_->engine()) {
  expect(options);
  lane_ = engine_.take_lane(ProofMemory<Fr>::bytes(key_->shape(), assignment_), HostWords::words_of(key_->shape()));
  engine_.reserve_scratch(key_->scratch_bytes(), poll_);
  Arena arena = (*lane_)->memory.arena();
  memory_ = ProofMemory<Fr>(key_->shape(), assignment_, arena);
  host_ = HostWords(key_->shape(), (*lane_)->words.get());
  check(cudaMemsetAsync(memory_.faults, 0xff, sizeof(Faults), (*lane_)->work), "clearing device memory");
  thread_ = std::thread([this] { run(); });
}

template <class C>
Proof<C>::~Proof() {
  cancel();
  if (thread_.joinable()) thread_.join();
  // What held the witness is cleared before the lane is given back. An error here has been an error before.
  cudaStreamSynchronize((*lane_)->uploads);
  cudaMemsetAsync((*lane_)->memory.arena().template take<char>(0), 0, ProofMemory<Fr>::bytes(key_->shape(), assignment_), (*lane_)->work);
  cudaStreamSynchronize((*lane_)->work);
  engine_.staging().clear();
}

// ---- what the caller writes ----

template <class C>
void Proof<C>::expect(const cuzk_proof_options& o) {
  const KeyShape& shape = key_->shape();
  if (o.bits > 1) throw Invalid("bits is neither 0 nor 1");
  if (o.bits && !structure_) throw Invalid("bits are taken of a packed assignment alone, with its structure");
  assignment_ = {o.bits == 1, o.witness};
  if (o.bits ? o.witness > shape.wires : o.witness != shape.wires) {
    throw Invalid("the witness has " + detail::number(o.witness) + " elements, the key is of a circuit with " + detail::number(shape.wires) + " wires");
  }
  const auto want = [&](int vector, u64 n) {
    incoming_[vector].wanted = true;
    incoming_[vector].expected = n;
  };
  want(CUZK_VECTOR_WITNESS, o.witness);
  if (o.bits) {
    want(CUZK_VECTOR_BITS, (shape.wires + 63) / 64);
    want(CUZK_VECTOR_VALUES, (shape.wires + 63) / 64);
  }
  if (structure_) {
    const auto& s = structure_->structure;
    constraints_ = s.constraints();
    if (s.wires() != shape.wires) {
      throw Invalid("the constraint system has " + detail::number(s.wires()) + " wires, the proving key " + detail::number(shape.wires) +
                    ": they are of different circuits");
    }
    if (has_c() && !s.has_c()) throw Invalid("the constraint system lacks its matrix C, which this kind of key needs");
  } else {
    constraints_ = o.constraints;
    want(CUZK_VECTOR_A, constraints_);
    want(CUZK_VECTOR_B, constraints_);
    if (has_c()) want(CUZK_VECTOR_C, constraints_);
  }
  if (constraints_ > shape.domain) {
    throw Invalid("the constraint system has " + detail::number(constraints_) + " rows, the proving key's domain holds " + detail::number(shape.domain) +
                  ": they are of different circuits");
  }
}

template <class C>
void Proof<C>::check_write(u32 vector, u32 form, u64 offset, u64 count) const {
  if (vector >= kVectors) throw Invalid("unknown vector " + detail::number(vector));
  const std::string name = detail::vector_name(vector);
  const Incoming& in = incoming_[vector];
  if (!in.wanted) throw Invalid("the vector " + name + " is not part of this assignment");
  if (form > CUZK_MONTGOMERY) throw Invalid("unknown form " + detail::number(form));
  if (in.written && in.form != form) throw Invalid("pieces of the vector " + name + " are in different forms");
  if (offset > in.expected || count > in.expected - offset || count > in.expected - in.written) {
    throw Invalid("the vector " + name + " has " + detail::number(in.expected) + " elements; " + detail::number(count) + " from " +
                  detail::number(offset) + " on are too many, or were written before");
  }
}

template <class C>
void* Proof<C>::place_of(u32 vector) const {
  switch (vector) {
    case CUZK_VECTOR_WITNESS: return memory_.witness.elements();
    case CUZK_VECTOR_BITS: return memory_.witness.bits();
    case CUZK_VECTOR_VALUES: return memory_.witness.bit_values();
    default: return memory_.vector[vector - CUZK_VECTOR_A];
  }
}

template <class C>
void Proof<C>::write(u32 vector, u32 form, u64 offset, u64 count, const void* data) {
  poll();
  if (vector == CUZK_VECTOR_C && !has_c() && evaluated()) return;  // c = a∘b
  check_write(vector, form, offset, count);
  Incoming& in = incoming_[vector];
  in.form = form;
  if (count) {
    const std::size_t size = vector >= CUZK_VECTOR_BITS ? sizeof(u64) : sizeof(Fr);
    Timeline::Span span(timeline_, Family::kUpload, (*lane_)->uploads);
    engine_.staging().upload(static_cast<char*>(place_of(vector)) + offset * size, data, count * size, (*lane_)->uploads, poll_);
  }
  in.written += count;
  if (in.complete()) advance();
}

// Enqueues what the vectors that are complete by now allow. Empty vectors are complete from the start.
template <class C>
void Proof<C>::advance() {
  const auto complete = [&](std::initializer_list<int> vectors) {
    return std::all_of(vectors.begin(), vectors.end(), [&](int v) { return incoming_[v].complete(); });
  };
  after_uploads();
  if (!witness_sorted_ && complete({CUZK_VECTOR_WITNESS, CUZK_VECTOR_BITS, CUZK_VECTOR_VALUES})) {
    sort_witness();
    if (!evaluated()) evaluate();
  }
  if (!evaluated() && !witness_sorted_) return;
  if (!coset_product_made_ && complete({CUZK_VECTOR_A, CUZK_VECTOR_B})) begin_quotient();
  if (coset_product_made_ && !quotient_made_ && complete({CUZK_VECTOR_C})) end_quotient();
}

template <class C>
void Proof<C>::after_uploads() {
  uploaded_.record((*lane_)->uploads);
  check(cudaStreamWaitEvent((*lane_)->work, uploaded_), "waiting for uploads");
}

template <class C>
void Proof<C>::sort_witness() {
  const cudaStream_t stream = (*lane_)->work;
  {
    Timeline::Span span(timeline_, Family::kPrepare, stream);
    memory_.witness.sort(stream, Form(incoming_[CUZK_VECTOR_WITNESS].form), memory_.faults);
    Intersections sets;
    for (int s = 0; s < kWireSections; s++) {
      sets.within[s] = sets.within[s + kWireSections] = key_->set(s).words();
      sets.set[s] = memory_.witness.ones();
      sets.set[s + kWireSections] = memory_.witness.others();
    }
    count_members(stream, sets, 2 * kWireSections, selection_blocks(key_->shape().wires), memory_.counts);
    const auto fetch = [&](void* to, const void* from, std::size_t bytes) {
      check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream), "copying from the device");
    };
    fetch(host_.counts, memory_.counts, host_.count_words * sizeof(u32));
    fetch(host_.faults, memory_.faults, sizeof(Faults));
    if (memory_.witness.full_count()) fetch(host_.full_count, memory_.witness.full_count(), sizeof(u32));
  }
  sorted_.record(stream);
  std::lock_guard<std::mutex> lock(mu_);
  witness_sorted_ = true;
  changed_.notify_all();
}

template <class C>
void Proof<C>::evaluate() {
  Timeline::Span span(timeline_, Family::kEvaluate, (*lane_)->work);
  for (int i = 0; i < (has_c() ? 3 : 2); i++)
    structure_->structure.multiply((*lane_)->work, i, memory_.witness.values(), memory_.vector[i]);
}

template <class C>
void Proof<C>::check_evaluated(int i) {
  if (!evaluated()) return;
  using namespace detail;
  launch(check_below_modulus_kernel<Fr>, element_blocks(constraints_), kElementThreads, 0, (*lane_)->work, memory_.vector[i], constraints_,
         &memory_.faults->evaluated[i]);
}

template <class C>
void Proof<C>::begin_quotient() {
  const cudaStream_t stream = (*lane_)->work;
  Fr *const a = memory_.vector[0], *const b = memory_.vector[1], *const c = memory_.vector[2];
  check_evaluated(0);
  check_evaluated(1);
  if (evaluated() && constraints_ && incoming_[CUZK_VECTOR_A].form != incoming_[CUZK_VECTOR_B].form)
    throw Invalid("the vectors A and B are in different forms");
  Timeline::Span span(timeline_, Family::kTransforms, stream);
  if (has_c()) {
    key_->quotient().coset_product(stream, a, b, constraints_, form());
  } else {
    key_->quotient().compute(stream, a, b, c, constraints_, form(), false);
  }
  coset_product_made_ = true;
}

template <class C>
void Proof<C>::end_quotient() {
  const cudaStream_t stream = (*lane_)->work;
  if (has_c()) {
    check_evaluated(2);
    const Form form_of_c = evaluated() ? Form(incoming_[CUZK_VECTOR_C].form) : Form::kCanonical;
    Timeline::Span span(timeline_, Family::kTransforms, stream);
    key_->quotient().subtract(stream, memory_.vector[1], memory_.vector[2], constraints_, form_of_c);
  }
  check(cudaMemcpyAsync(host_.faults, memory_.faults, sizeof(Faults), cudaMemcpyDeviceToHost, stream), "copying from the device");
  divided_.record(stream);
  std::lock_guard<std::mutex> lock(mu_);
  quotient_made_ = true;
  changed_.notify_all();
}

// ---- the proof's thread ----

template <class C>
void Proof<C>::run() noexcept {
  Engine::Turn turn(engine_);
  try {
    check(cudaSetDevice(engine_.device()), "choosing the device");
    take_sums(turn);
  } catch (...) {
    std::lock_guard<std::mutex> lock(mu_);
    failure_ = std::current_exception();
  }
  std::lock_guard<std::mutex> lock(mu_);
  computed_ = true;
  changed_.notify_all();
  // The turn ends after the mutex is released: while the scratch is cleared the caller assembles the proof.
}

template <class C>
void Proof<C>::wait_for(const bool& condition) {
  std::unique_lock<std::mutex> lock(mu_);
  changed_.wait(lock, [&] { return condition || cancelled_; });
  poll();
}

template <class C>
void Proof<C>::take_sums(Engine::Turn& turn) {
  constexpr int kOfH = CUZK_SECTION_H;
  wait_for(witness_sorted_);
  sorted_.synchronize();
  check_witness();
  const auto take_turn = [&] {
    const auto start = std::chrono::steady_clock::now();
    turn.take(key_->scratch_shares(), poll_);
    waited_ += detail::milliseconds_since(start);
  };
  take_turn();
  bool whole;
  {
    std::lock_guard<std::mutex> lock(mu_);
    whole = quotient_made_;
  }
  // B2 and H first: they take longest.
  if (whole && key_->side_by_side()) return run_sums(turn, {kB2, kOfH, kA, kL, kB1});
  run_sums(turn, {kB2, kA, kL, kB1});
  if (!whole) {
    turn.give();
    wait_for(quotient_made_);
    take_turn();
  }
  run_sums(turn, {kOfH});
}

template <class C>
void Proof<C>::check_witness() const {
  const Faults& f = *host_.faults;
  if (f.witness != ~u32(0)) throw Invalid("element " + detail::number(f.witness) + " of the witness is not below the modulus");
  if (f.one == 0) throw Invalid("element 0 of the witness must be 1: wire 0 is the constant one");
  if (assignment_.packed && *host_.full_count != assignment_.witness) {
    throw Invalid("the witness has " + detail::number(assignment_.witness) + " elements that are not bits, the bit map leaves " +
                  detail::number(*host_.full_count));
  }
}

// Takes the sums of some sections, side by side or one after the other.
template <class C>
void Proof<C>::run_sums(Engine::Turn& turn, const std::vector<int>& sections) {
  if (!key_->side_by_side()) {
    for (int s : sections) sum(turn, s);
    return;
  }
  engine_.sum_threads().run(sections.size(), [&](std::size_t i) {
    DeviceGuard guard(engine_.device());
    sum(turn, sections[i]);
  });
}

template <class C>
template <class G>
auto Proof<C>::sum_wires(SumContext& c, SumStream<C>& on, const Section<G>& section, int index, Family tail) {
  const std::size_t list = std::size_t(selection_blocks(key_->shape().wires)) + 1;
  const auto members = [&](const u32* set, int k) { return Members{set, memory_.counts + k * list, host_.counts + k * list}; };
  const WitnessPart<Fr> part{memory_.witness.values(), members(memory_.witness.ones(), index),
                             members(memory_.witness.others(), index + kWireSections)};
  return sum_section<C>(c, on, section, part, tail);
}

template <class C>
void Proof<C>::sum(Engine::Turn& turn, int section) {
  const int slot = key_->side_by_side() ? section : 0;
  SumStream<C>& on = key_->sums()[slot];
  const cudaStream_t stream = engine_.sums(slot);
  SumContext c{stream, engine_.key_copies(), turn.scratch(slot), timeline_, poll_};
  const Key<C>& k = *key_;
  switch (section) {
    case kA: sums_.a = sum_wires(c, on, k.a, kA, Family::kTails); break;
    case kB1: sums_.b1 = sum_wires(c, on, k.b1, kB1, Family::kTails); break;
    case kB2: sums_.b2 = sum_wires(c, on, k.b2, kB2, Family::kTailB2); break;
    case kL: sums_.l = sum_wires(c, on, k.l, kL, Family::kTails); break;
    default:
      check(cudaStreamWaitEvent(stream, divided_), "waiting for the quotient");
      sums_.h = sum_run<C>(c, on, k.h, memory_.vector[2], Family::kSumH);
  }
  // Beside other sums clearing costs nothing; sums that follow each other leave it to the turn's end.
  if (key_->side_by_side()) turn.clear(slot);
}

// ---- the result ----

template <class C>
void Proof<C>::compute(const void* r, const void* s, cuzk_proof_result& result, cuzk_proof_timings& timings) {
  poll();
  Fr r_integer, s_integer;
  std::memcpy(&r_integer, r, sizeof r_integer);
  std::memcpy(&s_integer, s, sizeof s_integer);
  if (!below_modulus(r_integer) || !below_modulus(s_integer)) throw Invalid("r and s must be canonical scalars of the curve");
  advance();
  for (u32 v = 0; v < kVectors; v++) {
    const Incoming& in = incoming_[v];
    if (!in.complete()) {
      throw Invalid("the vector " + std::string(detail::vector_name(v)) + " has " + detail::number(in.expected) + " elements, " +
                    detail::number(in.written) + " were written");
    }
  }
  const Blinding<C> blinding(key_->vertices(), r_integer, s_integer);
  wait_for(computed_);
  if (failure_) std::rethrow_exception(failure_);
  divided_.synchronize();
  for (int i = 0; i < 3; i++) {
    if (host_.faults->evaluated[i] != ~u32(0))
      throw Invalid("element " + detail::number(host_.faults->evaluated[i]) + " of " + "ABC"[i] + " is not below the modulus");
  }
  const ProofPoints<C> points = assemble(sums_, blinding);
  result.size = sizeof result;
  result.curve = std::is_same_v<C, Bn254> ? CUZK_BN254 : CUZK_BLS12381;
  std::memcpy(result.a, &points.a, sizeof points.a);
  std::memcpy(result.b, &points.b, sizeof points.b);
  std::memcpy(result.c, &points.c, sizeof points.c);

  timings.size = sizeof timings;
  timings.upload = timeline_.of(Family::kUpload);
  timings.evaluate = timeline_.of(Family::kEvaluate);
  timings.prep_msm = timeline_.of(Family::kPrepare);
  timings.ntt = timeline_.of(Family::kTransforms);
  timings.ntt_msm_h = timings.ntt + timeline_.of(Family::kSumH);
  timings.batch_add = timeline_.of(Family::kOnes);
  timings.b_g2_msm = timeline_.of(Family::kTailB2);
  timings.tail_msm = timeline_.of(Family::kTails);
  timings.wait = waited_;
  timings.gpu_total = timeline_.total();
  timings.wall = detail::milliseconds_since(start_);
}

template <class C>
void Proof<C>::cancel() {
  {
    std::lock_guard<std::mutex> lock(mu_);
    cancelled_ = true;
  }
  changed_.notify_all();
}

}  // namespace cuzk::groth16
