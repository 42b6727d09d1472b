// Sums of XYZZ points by a call: where code should be small. The operands pass through local memory, a few percent of a sum.
#pragma once

#include "curve/point.h"

namespace cuzk::msm {

template <class F>
CUZK_NOINLINE __device__ void add_call(Xyzz<F>& a, const Xyzz<F>& b) {
  add(a, b);
}

}  // namespace cuzk::msm
