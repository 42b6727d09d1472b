// A proving key on the device, with all that its proofs share.
#pragma once

#include <optional>

#include "groth16/assemble.h"
#include "groth16/key_shape.h"
#include "groth16/kept_points.h"
#include "groth16/proof_memory.cuh"
#include "groth16/prover.h"
#include "groth16/sums.cuh"

namespace cuzk::groth16 {

namespace detail {

// Scatters points of section H, from the first-th on, to where the scalars of their terms come out.
template <class G>
__global__ void __launch_bounds__(kGatherThreads) place_quotient_points_kernel(const G* from, u64 first, u32 n, QuotientPlace place, G* to) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) store(to + place.of_point(first + i), load(from + i));
}

}  // namespace detail

template <class C>
class Key final : public AnyKey {
 public:
  using Fr = typename C::Fr;
  using G1 = typename C::G1;
  using G2 = typename C::G2;

  // Loads a key from the caller's memory.
  Key(Engine& engine, const cuzk_key_source& source, const Poll& poll);

  // Numbers of points of a key that is made on the device.
  struct Counts {
    u64 points[kWireSections];
  };
  // A key within a budget (0: no bound) whose points `fill` makes.
  template <class Fill>
  Key(Engine& engine, const KeyShape& shape, const Vertices<C>& vertices, const Counts& counts, u64 device_budget, Fill fill);

  cuzk_key_info info() const override;
  std::unique_ptr<AnyProof> begin(std::shared_ptr<AnyKey> self, std::shared_ptr<AnyStructure> structure,
                                  const cuzk_proof_options& options) override;

  Engine& engine() const { return engine_; }
  const KeyShape& shape() const { return shape_; }
  const Vertices<C>& vertices() const { return vertices_; }
  const Quotient<Fr>& quotient() const { return *quotient_; }
  const RankedSet& set(int section) const {
    return section == kA ? a.set : section == kB1 ? b1.set : section == kB2 ? b2.set : l.set;
  }
  // Scratch of each of sums().
  std::vector<std::size_t> scratch_shares() const;
  std::size_t scratch_bytes() const;
  // Whether a section, by the index of the C ABI, is on the device.
  bool on_device(int section) const { return plan_.on_device[section]; }
  // Whether each sum has a stream of its own: sums()[i] is then for the i-th of A, B1, B2, L, H, else one is for all.
  bool side_by_side() const { return plan_.side_by_side; }
  std::vector<SumStream<C>>& sums() { return sums_; }

  Section<G1> a, b1, l;
  Section<G2> b2;
  // At the places where the scalars come out of the quotient; one a place of the domain.
  Points<G1> h;

 private:
  void plan(const u64 (&points)[kWireSections], u64 device_budget, u64 host_budget, const Poll& poll);
  bool try_plan(const u64 (&points)[kWireSections], const KeyDemand& demand, const KeyBudget& budget);
  // A lane's memory for an assignment of any kind: with bits kept apart, though there be none.
  u64 most_proof_bytes() const { return ProofMemory<Fr>::bytes(shape_, {true, shape_.wires}); }
  void make_sums(const u64 (&points)[kWireSections], std::size_t limit);
  void load(const cuzk_key_source& source, const KeptPoints (&kept)[kWireSections], const Poll& poll);
  template <class G>
  void load_section(Section<G>& section, const KeptPoints& kept, bool on_device, const Poll& poll);
  void load_quotient_points(const SectionPoints& from, const Poll& poll);

  Engine& engine_;
  Engine::User user_;
  KeyShape shape_;
  Vertices<C> vertices_;
  KeyPlan plan_{};
  MemoryAccount::Held held_;
  Stream stream_;
  std::optional<Quotient<Fr>> quotient_;
  std::vector<SumStream<C>> sums_;
};

}  // namespace cuzk::groth16
