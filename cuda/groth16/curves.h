// What is compiled for each curve, in sources of its own.
#pragma once

#include "curve/point.h"
#include "groth16/prover.h"

namespace cuzk::groth16 {

template <class C>
struct OnCurve {
  static std::shared_ptr<AnyKey> load_key(Engine& engine, const cuzk_key_source& source, const Poll& poll);
  static std::shared_ptr<AnyStructure> load_structure(Engine& engine, const cuzk_structure_source& source, const Poll& poll);
  static void selftest(Engine& engine);
};

}  // namespace cuzk::groth16
