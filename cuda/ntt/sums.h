// Sums for transforms: values below 2p, exactly, so that a difference needs no more than one correction. Products by
// mul_shoup and mul_loose are below 2p when their operands are.
#pragma once

#include "field/fr_shoup.h"

namespace cuzk::ntt {

template <class Fr>
CUZK_HD Fr sum(const Fr& a, const Fr& b) {
  return add_lazy(a, b);
}

template <class Fr>
CUZK_HD Fr difference(const Fr& a, const Fr& b) {
  return sub_lazy(a, b);
}

// A square root of -1 as a factor.
template <class Fr>
using Quarter = Shoup<Fr>;
template <class Fr>
CUZK_HD Fr mul_quarter(const Fr& x, const Quarter<Fr>& i) {
  return mul_shoup(x, i);
}

}  // namespace cuzk::ntt
