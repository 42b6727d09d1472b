// Points of G1 and G2 of both curves: sums, doublings and conversions inside kernels, by threads and by lanes, against sums of gnark-crypto, with
// equal, opposite and infinite operands and with denominators other than one.
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/device.h"
#include "curve/point_lanes.cuh"
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
CUZK_HD Xyzz<F> rescaled(const Affine<F>& a, const F& z) {
  if (is_infinity(a)) return Xyzz<F>::infinity();
  const F zz = mul_call(z, z), zzz = mul_call(zz, z);
  return {mul_call(a.x, zz), mul_call(a.y, zzz), zz, zzz};
}

const char* const kNames[] = {"of", "add_mixed to one", "add_mixed", "add", "add of itself", "dbl", "times_power_of_two", "neg", "neg_if",
                              "add by lanes", "add of itself by lanes", "add_mixed by lanes"};
enum { kOf, kMixedToOne, kMixed, kAdd, kAddItself, kDouble, kTimesEight, kNegate, kNegateIf, kByThreads };
enum { kAddLanes, kAddItselfLanes, kMixedLanes, kByLanes };
constexpr u32 kFunctions = kByThreads + kByLanes;

// A block is for a function, a thread for a pair of points; wrong[function, pair] is set where they differ.
template <class F>
__global__ void pairs_kernel(const Table<F>* table, u32* wrong) {
  const u32 function = blockIdx.x, pair = threadIdx.x, i = pair / kPoints, j = pair % kPoints;
  const Affine<F> p = load_ro(&table->point[i]), q = load_ro(&table->point[j]);
  // Coordinates of a point that is not infinite are as good as any for denominators.
  const F z = load_ro(&table->point[1].x), w = load_ro(&table->point[3].y);
  const bool to_one = function == kOf || function == kMixedToOne || function == kNegateIf;
  Xyzz<F> a = to_one ? Xyzz<F>::of(function == kNegateIf ? neg_if(true, p) : p) : rescaled(p, z);
  if (function == kNegate) a = neg(a);
  Affine<F> want = load_ro(&table->sum(i, j));
  if (function == kAddItself || function == kDouble) want = load_ro(&table->sum(i, i));
  if (function == kNegate || function == kNegateIf) want = Affine<F>::infinity();
  if (function == kOf) want = p;
  if (function == kTimesEight) want = to_affine(dbl(dbl(dbl(rescaled(p, w)))));
  switch (function) {
    case kMixedToOne:
    case kMixed: add_mixed(a, q); break;
    case kNegate:
    case kNegateIf: add_mixed(a, neg_if(false, p)); break;
    case kAdd:
    case kAddItself: add(a, function == kAdd ? rescaled(q, w) : rescaled(p, w)); break;
    case kDouble: a = dbl(a); break;
    case kTimesEight: a = times_power_of_two(a, 3); break;
  }
  const Affine<F> got = to_affine(a);
  wrong[function * kPairs + pair] = !equal_points(got, want) || is_infinity(got) != is_infinity(a) || !equal_points(neg(neg(p)), p);
}

template <class F>
constexpr u32 kLaneThreads = (kPairs * PointLanes<F>::kLanes + kWarp - 1) / kWarp * kWarp;

// The same for sums by lanes: a group of lanes is for a pair.
template <class F>
__global__ void __launch_bounds__(kLaneThreads<F>) lanes_kernel(const Table<F>* table, u32* wrong) {
  using Point = PointLanes<F>;
  CUZK_DYNAMIC_SHARED(Xyzz<F>, shared);
  const u32 function = blockIdx.x, group = threadIdx.x / Point::kLanes, pair = min(group, kPairs - 1), i = pair / kPoints, j = pair % kPoints;
  const bool leads = threadIdx.x % Point::kLanes == 0;
  Xyzz<F>* operands = shared + 2 * group;
  const u32 second = function == kAddItselfLanes ? i : j;
  if (leads) {
    store(&operands[0], rescaled(load_ro(&table->point[i]), load_ro(&table->point[1].x)));
    store(&operands[1], rescaled(load_ro(&table->point[second]), load_ro(&table->point[3].y)));
  }
  __syncthreads();
  Point sum = Point::load(&operands[0]);
  if (function == kMixedLanes) {
    using Component = typename Point::Component;
    sum.add(Point::of_affine(load(reinterpret_cast<const Component*>(&table->point[j]) + Point::affine_component())));
  } else {
    sum.add(Point::load(&operands[1]));
  }
  sum.store(&operands[0]);
  __syncthreads();
  if (!leads || group >= kPairs) return;
  const Xyzz<F> got = load(&operands[0]);
  const Affine<F> affine = to_affine(got), want = load_ro(&table->sum(i, second));
  wrong[function * kPairs + pair] = !equal_points(affine, want) || is_infinity(affine) != is_infinity(got);
}

int failures = 0;

template <class F, std::size_t n, int words>
void test_group(const char* name, const u64 (&rows)[n][words], Stream& stream) {
  static_assert(sizeof(Table<F>) == sizeof rows);
  std::vector<Table<F>> host(1);
  std::memcpy(static_cast<void*>(host.data()), rows, sizeof rows);
  DeviceArray<Table<F>> table(1);
  DeviceArray<u32> wrong(kFunctions * kPairs);
  table.upload(host.data(), 1, stream);
  launch(pairs_kernel<F>, kByThreads, kPairs, 0, stream, table.get(), wrong.get());
  const std::size_t operands = 2 * sizeof(Xyzz<F>) * kLaneThreads<F> / PointLanes<F>::kLanes;
  launch(lanes_kernel<F>, kByLanes, kLaneThreads<F>, operands, stream, table.get(), wrong.get() + kByThreads * kPairs);
  std::vector<u32> differs(wrong.size());
  wrong.download(differs.data(), differs.size(), stream);
  stream.synchronize();
  std::printf("%-11s %3u pairs", name, kPairs);
  bool right = true;
  for (u32 k = 0; k < differs.size(); k++) {
    if (!differs[k]) continue;
    std::printf(", %s of %u and %u wrong", kNames[k / kPairs], k % kPairs / kPoints, k % kPairs % kPoints);
    right = false;
    failures++;
  }
  std::printf(right ? " ok\n" : "\n");
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
