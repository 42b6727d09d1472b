// What follows from the layout of a proving key.
#pragma once

#include <type_traits>

#include "curve/point.h"
#include "ntt/quotient.cuh"

namespace cuzk::groth16 {

// Number of points of section H: the quotient has degree n − 2; snarkjs's basis has n points.
inline u64 quotient_points(Layout layout, u64 domain) { return layout == Layout::kSnarkjs ? domain : domain - 1; }

// The generator that roots of unity derive from. snarkjs takes the least non-residue on every curve.
template <class Fr>
constexpr u32 root_generator(Layout layout) {
  return layout == Layout::kSnarkjs || std::is_same_v<Fr, Bn254Fr> ? 5 : 7;
}

// The power of τ, or the number of the odd point, that point i of section H belongs to.
CUZK_HD u64 quotient_term(Layout layout, u64 i, int log_n) {
  if (layout != Layout::kGnark) return i;
  u64 reversed = 0;
  for (int k = 0; k < log_n; k++) reversed |= (i >> k & 1) << (log_n - 1 - k);
  return reversed;
}

// Where the scalar of a term comes out of the quotient's transforms, for kernels; the same as Quotient::position tells the
// host for points.
struct QuotientPlace {
  Layout layout;
  ntt::Plan plan;

  QuotientPlace(Layout l, int log_n) : layout(l), plan(ntt::standard_plan(log_n)) {}
  CUZK_HD u64 of_term(u64 term) const { return layout == Layout::kSnarkjs ? term : plan.position(term); }
  CUZK_HD u64 of_point(u64 i) const { return of_term(quotient_term(layout, i, plan.log_n)); }
};

}  // namespace cuzk::groth16
