#include "groth16/prover.h"

#include "groth16/curves.h"

namespace cuzk::groth16 {

namespace {
__global__ void nothing_kernel() {}

// Runs f(curve's tag).
template <class F>
auto with_curve(u32 curve, F f) {
  switch (curve) {
    case CUZK_BN254: return f(Bn254());
    case CUZK_BLS12381: return f(Bls12381());
    default: throw Invalid("unknown curve " + std::to_string(curve));
  }
}
}  // namespace

void check_kernels() {
  const Stream stream;
  launch(nothing_kernel, 1, 1, 0, stream);
  stream.synchronize();
}

std::shared_ptr<AnyKey> load_key(Engine& engine, const cuzk_key_source& source, const Poll& poll) {
  return with_curve(source.curve, [&](auto curve) { return OnCurve<decltype(curve)>::load_key(engine, source, poll); });
}

std::shared_ptr<AnyStructure> load_structure(Engine& engine, const cuzk_structure_source& source, const Poll& poll) {
  return with_curve(source.curve, [&](auto curve) { return OnCurve<decltype(curve)>::load_structure(engine, source, poll); });
}

void selftest(Engine& engine) {
  OnCurve<Bn254>::selftest(engine);
  OnCurve<Bls12381>::selftest(engine);
}

}  // namespace cuzk::groth16
