// Rates of point additions on the device, operands in registers: `curve_bench`.
#include "bench/rates.cuh"
#include "curve/point.h"
#include "test/vectors/vectors.h"

#include <cstring>

using namespace cuzk;

namespace {

struct AddMixed {
  template <class F>
  CUZK_D Xyzz<F> operator()(Xyzz<F> a, const Affine<F>& b) {
    add_mixed(a, b);
    return a;
  }
};

template <class F, std::size_t n, int words>
void group(bench::Table& t, const char* name, double wide, const u64 (&rows)[n][words], u32 steps) {
  Affine<F> p, q;
  std::memcpy(static_cast<void*>(&p), rows[1], sizeof p);
  std::memcpy(static_cast<void*>(&q), rows[3], sizeof q);
  t.row<AddMixed>(name, wide, Xyzz<F>::of(p), q, steps);
}

}  // namespace

int main() {
  bench::Table t;
  group<Bls12381::Fp>(t, "Bls12381 G1 add_mixed", 6 * 288.5 + 2 * 222.5 + 432.5, vectors::kBls12381G1, 300);
  group<Bls12381::Fp2>(t, "Bls12381 G2 add_mixed", 6 * 721 + 2 * 577 + 1153, vectors::kBls12381G2, 100);
  group<Bn254::Fp>(t, "Bn254 G1 add_mixed", 6 * 128.5 + 2 * 100.5 + 192.5, vectors::kBn254G1, 300);
  group<Bn254::Fp2>(t, "Bn254 G2 add_mixed", 6 * 321 + 2 * 257 + 513, vectors::kBn254G2, 100);
}
