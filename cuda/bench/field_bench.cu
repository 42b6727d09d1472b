// Rates of field operations on the device: `field_bench`.
#include "bench/rates.cuh"
#include "field/fp2.h"
#include "field/fr_shoup.h"

using namespace cuzk;

namespace {

struct Mul {
  template <class F>
  CUZK_D F operator()(F x, F y) { return mul_lazy(x, y); }
};
struct MulCanonical {
  template <class F>
  CUZK_D F operator()(F x, F y) { return mul(x, y); }
};
struct MulLoose {
  template <class F>
  CUZK_D F operator()(F x, F y) { return mul_loose(y, x); }
};
struct MulShoup {
  template <class F>
  CUZK_D F operator()(F x, Shoup<F> s) { return mul_shoup(x, s); }
};
struct Sqr {
  template <class F>
  CUZK_D F operator()(F x, F) { return sqr_lazy(x); }
};
struct MulAdd {
  template <class F>
  CUZK_D F operator()(F x, F y) { return mul_add_lazy(x, y, y, x); }
};
struct MulSub {
  template <class F>
  CUZK_D F operator()(F x, F y) { return mul_sub_lazy(x, y, y, y); }
};
struct Add {
  template <class F>
  CUZK_D F operator()(F x, F y) { return add_lazy(x, y); }
};
struct Sub {
  template <class F>
  CUZK_D F operator()(F x, F y) { return sub_lazy(x, y); }
};
struct Inverse {
  template <class F>
  CUZK_D F operator()(F x, F) { return inverse(x); }
};

// Some element without structure.
template <class F>
F element(u32 seed) {
  F r;
  for (int i = 0; i < F::kLimbs; i++) r.limb[i] = (seed + 1) * 2654435761u + u32(i) * 0x9e3779b9u;
  r.limb[F::kLimbs - 1] = seed + 1;
  return r;
}
template <class F>
Fp2<F> element2(u32 seed) {
  return {element<F>(seed), element<F>(seed + 7)};
}

template <class F>
void base_field(bench::Table& t, const char* name, double mul, double sqr, double two) {
  const F x = element<F>(1), y = element<F>(2);
  const auto title = [&](const char* op) {
    static char text[64];
    std::snprintf(text, sizeof text, "%s %s", name, op);
    return text;
  };
  t.row<Mul>(title("a b"), mul, x, y, 3000);
  t.row<MulCanonical>(title("a b, canonical"), mul, x, y, 3000);
  t.row<Sqr>(title("a^2"), sqr, x, y, 3000);
  t.row<MulAdd>(title("a b + c d"), two, x, y, 2000);
  t.row<MulSub>(title("a b - c d"), two, x, y, 2000);
  t.row<Add>(title("a + b"), 0, x, y, 20000);
  t.row<Sub>(title("a - b"), 0, x, y, 20000);
  t.row<Inverse>(title("1 / a"), 0, x, y, 2);
}

template <class F>
void scalar_field(bench::Table& t, const char* name, double loose, double shoup_products) {
  const F x = element<F>(1), y = element<F>(2);
  char text[64];
  std::snprintf(text, sizeof text, "%s a b", name);
  t.row<MulLoose>(text, loose, x, y, 5000);
  std::snprintf(text, sizeof text, "%s a b (Shoup)", name);
  t.row<MulShoup>(text, shoup_products, x, shoup(y), 5000);
  std::snprintf(text, sizeof text, "%s a + b", name);
  t.row<Add>(text, 0, x, y, 20000);
  std::snprintf(text, sizeof text, "%s a - b", name);
  t.row<Sub>(text, 0, x, y, 20000);
}

template <class F>
void extension(bench::Table& t, const char* name, double mul, double sqr, double two) {
  const auto x = element2<F>(1), y = element2<F>(2);
  char text[64];
  std::snprintf(text, sizeof text, "%s a b", name);
  t.row<Mul>(text, mul, x, y, 1000);
  std::snprintf(text, sizeof text, "%s a^2", name);
  t.row<Sqr>(text, sqr, x, y, 1000);
  std::snprintf(text, sizeof text, "%s a b - c d", name);
  t.row<MulSub>(text, two, x, y, 500);
}

}  // namespace

int main() {
  bench::Table t;
  base_field<Bls12381Fp>(t, "Bls12381 Fp", 288.5, 222.5, 432.5);
  base_field<Bn254Fp>(t, "Bn254 Fp", 128.5, 100.5, 192.5);
  scalar_field<Bls12381Fr>(t, "Bls12381 Fr", 112, 94);
  scalar_field<Bn254Fr>(t, "Bn254 Fr", 128.5, 107);
  extension<Bls12381Fp>(t, "Bls12381 Fp2", 721, 577, 1153);
  extension<Bn254Fp>(t, "Bn254 Fp2", 321, 257, 513);
  t.copy();
}
