// Scalars as integers, for what is not field arithmetic.
#pragma once

#include "field/field.h"

namespace cuzk::groth16 {

// The integer one.
template <class Fr>
CUZK_HD Fr integer_one() {
  Fr r = Fr::zero();
  r.limb[0] = 1;
  return r;
}

template <class Fr>
CUZK_HD bool is_integer_one(const Fr& a) {
  return equal(a, integer_one<Fr>());
}

template <class Fr>
CUZK_HD bool below_modulus(const Fr& a) {
  return equal(reduce(a), a);
}

}  // namespace cuzk::groth16
