// Points of G1 and G2 of both curves: sums, doublings and conversions inside kernels, against sums of gnark-crypto, with
// equal, opposite and infinite operands and with denominators other than one.
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/device.h"
#include "curve/point.h"
#include "test/vectors/vectors.h"

using namespace cuzk;

namespace {

constexpr u32 kPoints = vectors::kPoints, kPairs = kPoints * kPoints;

// The points and their sums as the vectors list them.
template <class F>
struct Table {
  Affine<F> point[kPoints];
  Affine<F> sums[kPoints * (kPoints + 1) / 2];

  CUZK_HD const Affine<F>& sum(u32 i, u32 j) const {
    const u32 a = i < j ? i : j, b = i < j ? j : i;
    return sums[a * kPoints - a * (a + 1) / 2 + b];
  }
};

template <class F>
CUZK_HD bool equal_points(const Affine<F>& a, const Affine<F>& b) {
  return equal(a.x, b.x) && equal(a.y, b.y);
}

// The same point over another denominator: z^2 and z^3.
template <class F>
CUZK_NOINLINE __host__ __device__ Xyzz<F> rescaled(const Affine<F>& a, const F& z) {
  if (is_infinity(a)) return Xyzz<F>::infinity();
  const F zz = sqr_lazy(z), zzz = mul_lazy(zz, z);
  return {mul_lazy(a.x, zz), mul_lazy(a.y, zzz), zz, zzz};
}

// One copy of each function a group: compiling them is what takes time.
template <class F>
CUZK_NOINLINE __host__ __device__ Xyzz<F> mixed_sum(Xyzz<F> a, const Affine<F>& b) {
  add_mixed(a, b);
  return a;
}
template <class F>
CUZK_NOINLINE __host__ __device__ Xyzz<F> sum(Xyzz<F> a, const Xyzz<F>& b) {
  add(a, b);
  return a;
}
template <class F>
CUZK_NOINLINE __host__ __device__ Xyzz<F> doubled(const Xyzz<F>& a) {
  return dbl(a);
}

const char* const kNames[] = {"of", "add_mixed to one", "add_mixed", "add", "add of itself", "dbl", "neg", "neg_if"};
enum { kOf, kMixedToOne, kMixed, kAdd, kAddItself, kDouble, kNegate, kNegateIf, kFunctions };

// One thread a pair of points; bit k of wrong says that function k differs.
template <class F>
__global__ void pairs_kernel(const Table<F>* table, u32* wrong) {
  const u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= kPairs) return;
  const u32 i = t / kPoints, j = t % kPoints;
  const Affine<F> p = load_ro(&table->point[i]), q = load_ro(&table->point[j]), p_plus_q = load_ro(&table->sum(i, j));
  const Affine<F> twice = load_ro(&table->sum(i, i));
  // Coordinates of a point that is not infinite are as good as any for denominators.
  const F z = table->point[1].x, w = table->point[3].y;
  Xyzz<F> r[kFunctions];
  r[kOf] = Xyzz<F>::of(p);
  r[kMixedToOne] = mixed_sum(Xyzz<F>::of(p), q);
  r[kMixed] = mixed_sum(rescaled(p, z), q);
  r[kAdd] = sum(rescaled(p, z), rescaled(q, w));
  r[kAddItself] = sum(rescaled(p, z), rescaled(p, z));
  r[kDouble] = doubled(rescaled(p, w));
  r[kNegate] = mixed_sum(neg(rescaled(p, z)), p);
  r[kNegateIf] = mixed_sum(Xyzz<F>::of(neg_if(true, p)), neg_if(false, p));
  const Affine<F> want[kFunctions] = {p, p_plus_q, p_plus_q, p_plus_q, twice, twice, Affine<F>::infinity(), Affine<F>::infinity()};
  u32 bits = 0;
  CUZK_NO_UNROLL
  for (u32 k = 0; k < kFunctions; k++) {
    const Affine<F> got = to_affine(r[k]);
    if (!equal_points(got, want[k]) || is_infinity(got) != is_infinity(r[k])) bits |= 1u << k;
  }
  if (!equal_points(neg(neg(p)), p)) bits |= 1u << kNegateIf;
  wrong[t] = bits;
}

int failures = 0;

template <class F, std::size_t n, int words>
void test_group(const char* name, const u64 (&rows)[n][words], Stream& stream) {
  static_assert(sizeof(Table<F>) == sizeof rows);
  std::vector<Table<F>> host(1);
  std::memcpy(static_cast<void*>(host.data()), rows, sizeof rows);
  DeviceArray<Table<F>> table(1);
  DeviceArray<u32> wrong(kPairs);
  table.upload(host.data(), 1, stream);
  launch(pairs_kernel<F>, 2, (kPairs + 1) / 2, 0, stream, table.get(), wrong.get());
  std::vector<u32> bits(kPairs);
  wrong.download(bits.data(), kPairs, stream);
  stream.synchronize();
  u32 all = 0;
  for (const u32 b : bits) all |= b;
  std::printf("%-11s %3u pairs", name, kPairs);
  for (u32 t = 0; t < kPairs; t++)
    for (u32 k = 0; k < 32; k++)
      if (bits[t] >> k & 1) {
        std::printf(", %s of %u and %u wrong", k < kFunctions ? kNames[k] : "?", t / kPoints, t % kPoints);
        failures++;
      }
  std::printf(all ? "\n" : " ok\n");
}

}  // namespace

int main() {
  Stream stream;
  test_group<Bls12381::Fp>("Bls12381 G1", vectors::kBls12381G1, stream);
  test_group<Bls12381::Fp2>("Bls12381 G2", vectors::kBls12381G2, stream);
  test_group<Bn254::Fp>("Bn254 G1", vectors::kBn254G1, stream);
  test_group<Bn254::Fp2>("Bn254 G2", vectors::kBn254G2, stream);
  return failures != 0;
}
