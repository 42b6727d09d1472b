// What the exponents of a proof must be, with a key whose own are known.
#pragma once

#include "groth16/assemble.h"
#include "groth16/key_shape.h"
#include "groth16/trapdoor.cuh"

namespace cuzk::groth16 {

// Exponents of the points of a proof, as elements in Montgomery form.
template <class Fr>
struct ProofExponents {
  Fr a, b, c;
};

// What they must be for a witness and evaluated constraints: integers on the device; r and s are integers, `constraints`
// is the length of a, b and c.
template <class Fr>
ProofExponents<Fr> expected_exponents(cudaStream_t stream, const KeyShape& shape, const Trapdoor<Fr>& t, const Fr* witness, u64 constraints,
                                      const Fr* a, const Fr* b, const Fr* c, const Fr& r_integer, const Fr& s_integer) {
  const Fr r = to_montgomery(r_integer), s = to_montgomery(s_integer);
  ProofExponents<Fr> e;
  e.a = add(add(dot(stream, witness, t.a, 0, shape.wires), t.alpha), mul(r, t.delta));
  e.b = add(add(dot(stream, witness, t.b, 0, shape.wires), t.beta), mul(s, t.delta));
  const LagrangeValues<Fr> at_tau = t.domain_values(shape.layout, shape.log_n);
  const Fr at_a = dot(stream, a, at_tau, 0, constraints), at_b = dot(stream, b, at_tau, 0, constraints), at_c = dot(stream, c, at_tau, 0, constraints);
  const Fr quotient = mul(sub(mul(at_a, at_b), at_c), inverse(t.delta));
  e.c = add(dot(stream, witness, t.l, shape.public_inputs + 1, shape.wires), quotient);
  e.c = add(e.c, add(mul(s, e.a), mul(r, e.b)));
  e.c = sub(e.c, mul(mul(r, s), t.delta));
  return e;
}

// What of a proof differs from its exponents; empty if nothing does.
template <class C>
std::string compare(const ProofPoints<C>& proof, const ProofExponents<typename C::Fr>& e) {
  const auto differs = [](const auto& point, const auto& generator, const auto& exponent) {
    const auto want = to_affine(multiply(generator, from_montgomery(exponent)));
    return !equal(point.x, want.x) || !equal(point.y, want.y);
  };
  std::string which;
  if (differs(proof.a, Generators<C>::g1(), e.a)) which += "A";
  if (differs(proof.b, Generators<C>::g2(), e.b)) which += "B";
  if (differs(proof.c, Generators<C>::g1(), e.c)) which += "C";
  return which;
}

}  // namespace cuzk::groth16
