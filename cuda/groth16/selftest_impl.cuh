// Proofs of small circuits, checked by their exponents.
#pragma once

#include "groth16/curves.h"
#include "groth16/generate.cuh"
#include "groth16/instance.h"
#include "groth16/proof_impl.cuh"

namespace cuzk::groth16 {

// Proves an instance with a key, as a packed assignment if a structure is given.
template <class C>
ProofPoints<C> prove(const std::shared_ptr<Key<C>>& key, const std::shared_ptr<AnyStructure>& structure, const Instance<typename C::Fr>& in,
                     const typename C::Fr& r, const typename C::Fr& s) {
  cuzk_proof_options o = {};
  o.size = sizeof o;
  o.constraints = structure ? 0 : in.shape.constraints;
  o.witness = in.shape.wires;
  const std::unique_ptr<AnyProof> proof = key->begin(key, structure, o);
  const auto write = [&](u32 vector, const auto& v) { proof->write(vector, CUZK_CANONICAL, 0, v.size(), v.data()); };
  write(CUZK_VECTOR_WITNESS, in.witness);
  if (!structure) {
    write(CUZK_VECTOR_A, in.a);
    write(CUZK_VECTOR_B, in.b);
    write(CUZK_VECTOR_C, in.c);
  }
  cuzk_proof_result result = {};
  cuzk_proof_timings timings = {};
  proof->compute(&r, &s, result, timings);
  ProofPoints<C> points;
  std::memcpy(&points.a, result.a, sizeof points.a);
  std::memcpy(&points.b, result.b, sizeof points.b);
  std::memcpy(&points.c, result.c, sizeof points.c);
  return points;
}

template <class C>
void OnCurve<C>::selftest(Engine& engine) {
  using Fr = typename C::Fr;
  // Large enough for transforms of three passes on a device, small enough for the CPU where kernels are emulated.
  constexpr int kLog = CUZK_EMULATED ? 6 : 14;
  constexpr u32 kCurve = std::is_same_v<C, Bn254> ? CUZK_BN254 : CUZK_BLS12381;
  const u64 domain = u64(1) << kLog;
  const InstanceShape of{domain + domain / 2, 5, domain - 3, WitnessKind::kMixed, !CUZK_EMULATED};
  const Instance<Fr> instance(of, 11);
  const RandomScalars<Fr> blinding{12, 0};
  const Fr r = blinding(0), s = blinding(1);
  for (const Layout layout : {Layout::kCoefficients, Layout::kGnark, Layout::kSnarkjs}) {
    const KeyShape shape{layout, of.wires, of.public_inputs, domain, kLog};
    const Trapdoor<Fr> trapdoor(u64(100) + u64(layout), 16, 128, 4);
    const auto key = generate_key<C>(engine, shape, trapdoor);
    const bool packed = layout == Layout::kSnarkjs;
    std::shared_ptr<AnyStructure> structure;
    if (packed) structure = load_structure(engine, instance.source(kCurve, false), [] {});
    const std::string differs = compare<C>(prove<C>(key, structure, instance, r, s), expected_exponents(shape, trapdoor, instance, r, s));
    if (!differs.empty())
      throw SelfTestFailed("a proof on " + std::string(kCurve == CUZK_BN254 ? "BN254" : "BLS12-381") + " with a key of layout " +
                           std::to_string(u32(layout)) + " is wrong in " + differs);
  }
}

}  // namespace cuzk::groth16
