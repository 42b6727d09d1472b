#pragma once

#include "groth16/curves.h"
#include "groth16/key_load.cuh"
#include "groth16/proof_impl.cuh"

namespace cuzk::groth16 {

template <class C>
std::shared_ptr<AnyKey> OnCurve<C>::load_key(Engine& engine, const cuzk_key_source& source, const Poll& poll) {
  return std::make_shared<Key<C>>(engine, source, poll);
}

template <class C>
std::shared_ptr<AnyStructure> OnCurve<C>::load_structure(Engine& engine, const cuzk_structure_source& source, const Poll& poll) {
  using Fr = typename C::Fr;
  const auto matrix = [](const cuzk_matrix& m, const char* name) {
    if (m.entries && (!m.start || !m.wire || !m.coefficient)) throw Invalid("matrix " + std::string(name) + " is null");
    return HostMatrix{m.start, m.wire, m.coefficient, m.entries};
  };
  if (source.coefficient_count && !source.coefficients) throw Invalid("coefficients is null");
  typename Structure<Fr>::Source s;
  s.wires = source.wires;
  s.public_inputs = source.public_inputs;
  s.constraints = source.constraints;
  s.a = matrix(source.a, "A");
  s.b = matrix(source.b, "B");
  s.c = matrix(source.c, "C");
  s.coefficients = source.coefficients;
  s.coefficient_count = source.coefficient_count;
  return std::make_shared<StructureHandle<Fr>>(s, engine, poll);
}

}  // namespace cuzk::groth16
