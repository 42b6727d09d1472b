// Small random circuits with a satisfying witness, for tests and the self-test. All is on the host.
#pragma once

#include <vector>

#include "groth16/exponents.cuh"
#include "include/cuzk.h"

namespace cuzk::groth16 {

// What values the wires have; with few, one in 32 is full-size.
enum class WitnessKind { kMixed, kFew, kZeros, kOnes, kFull };

struct InstanceShape {
  u64 wires, public_inputs, constraints;
  WitnessKind witness = WitnessKind::kMixed;
  bool long_rows = false;  // some rows of a hundred entries, and one of five thousand
};

template <class Fr>
struct Instance {
  struct Matrix {
    std::vector<u32> start{0}, wire, coefficient;
    void add(u32 w, u32 c) {
      wire.push_back(w);
      coefficient.push_back(c);
    }
    void end_row() { start.push_back(u32(wire.size())); }
    cuzk_matrix view() const { return {start.data(), wire.data(), coefficient.data(), wire.size()}; }
  };

  InstanceShape shape;
  std::vector<Fr> witness;       // integers
  std::vector<Fr> a, b, c;       // integers: the constraints evaluated
  std::vector<Fr> coefficients;  // in Montgomery form
  Matrix matrix[3];

  Instance(const InstanceShape& s, u64 seed) : shape(s) {
    const RandomScalars<Fr> random{seed, 0};
    u64 next = 0;
    const auto number = [&](u64 below) {
      const Fr r = random(next++);
      return (u64(r.limb[1]) << 32 | r.limb[0]) % below;
    };
    const auto scalar = [&] { return random(next++); };
    witness.resize(s.wires, Fr::zero());
    witness[0] = integer_one<Fr>();
    for (u64 i = 1; i < s.wires; i++) {
      const u64 kind = kind_of(s.witness, number);
      if (kind >= 6) {
        witness[i] = scalar();
      } else if (kind >= 3) {
        witness[i] = integer_one<Fr>();
      }
    }
    coefficients = {Fr::one(), neg(Fr::one()), Fr::zero()};
    for (int i = 0; i < 13; i++) coefficients.push_back(to_montgomery(scalar()));
    const u32 common = u32(coefficients.size());
    for (u64 row = 0; row < s.constraints; row++) {
      const u64 length = !s.long_rows ? number(4) : row == 1 ? 5000 : row % 64 == 2 ? 100 : number(20);
      for (int m = 0; m < 2; m++) {
        for (u64 k = 0; k < length; k++) matrix[m].add(u32(number(s.wires)), u32(number(common)));
        matrix[m].end_row();
      }
      a.push_back(evaluate(matrix[0], row));
      b.push_back(evaluate(matrix[1], row));
      // The product stands on the wire of the one, so that any witness satisfies the row.
      coefficients.push_back(mul(to_montgomery(a.back()), to_montgomery(b.back())));
      matrix[2].add(0, u32(coefficients.size() - 1));
      matrix[2].end_row();
      c.push_back(from_montgomery(coefficients.back()));
    }
  }

  // Of eighths: below 3 a zero, below 6 a one, else a full-size value.
  template <class Number>
  static u64 kind_of(WitnessKind witness, Number number) {
    switch (witness) {
      case WitnessKind::kZeros: return 0;
      case WitnessKind::kOnes: return 3;
      case WitnessKind::kFull: return 7;
      case WitnessKind::kFew: return number(32) == 0 ? 7 : number(6);
      default: return number(8);
    }
  }

  Fr evaluate(const Matrix& m, u64 row) const {
    Fr sum = Fr::zero();
    for (u32 k = m.start[row]; k < m.start[row + 1]; k++) sum = add(sum, mul(coefficients[m.coefficient[k]], witness[m.wire[k]]));
    return sum;
  }

  cuzk_structure_source source(u32 curve, bool with_c) const {
    cuzk_structure_source s = {};
    s.size = sizeof s;
    s.curve = curve;
    s.wires = shape.wires;
    s.public_inputs = shape.public_inputs;
    s.constraints = shape.constraints;
    s.a = matrix[0].view();
    s.b = matrix[1].view();
    if (with_c) s.c = matrix[2].view();
    s.coefficients = coefficients.data();
    s.coefficient_count = coefficients.size();
    return s;
  }
};

// The exponents that a proof of the instance must have.
template <class Fr>
ProofExponents<Fr> expected_exponents(const KeyShape& shape, const Trapdoor<Fr>& t, const Instance<Fr>& in, const Fr& r, const Fr& s) {
  const Stream stream;
  const auto upload = [&](const std::vector<Fr>& v) {
    DeviceArray<Fr> d(v.size());
    d.upload(v.data(), v.size(), stream);
    return d;
  };
  const DeviceArray<Fr> w = upload(in.witness), a = upload(in.a), b = upload(in.b), c = upload(in.c);
  return expected_exponents(cudaStream_t(stream), shape, t, w.get(), in.shape.constraints, a.get(), b.get(), c.get(), r, s);
}

}  // namespace cuzk::groth16
