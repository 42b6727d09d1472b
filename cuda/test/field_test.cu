// Fields and quadratic extensions: every function inside a kernel, against vectors of gnark-crypto, and products of
// random and extreme values against a bit-by-bit product.
#include <cstdio>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "base/device.h"
#include "field/fp2.h"
#include "field/fr_shoup.h"
#include "field/inverse_warp.cuh"
#include "test/vectors/vectors.h"

using namespace cuzk;

namespace {

template <class F>
struct FieldVector {
  F a, b, sum, difference, product, square, negative, inverse, plain;
};
template <class F>
struct ExtensionVector {
  F a, b, product, square, inverse;
};

// ---- what the kernels need of plain integers, without carry chains ----

template <class F>
CUZK_HD F plus_modulus(const F& a) {
  const F p = F::modulus();
  F r;
  u64 carry = 0;
  for (int i = 0; i < F::kLimbs; i++) {
    carry += u64(a.limb[i]) + p.limb[i];
    r.limb[i] = u32(carry);
    carry >>= 32;
  }
  return r;
}
template <class F>
CUZK_HD Fp2<F> plus_modulus(const Fp2<F>& a) {
  return {plus_modulus(a.c0), plus_modulus(a.c1)};
}

template <class F>
CUZK_HD bool is_lazy(const F& a) {
  constexpr auto twice = F::Params::kTwice;
  for (int i = F::kLimbs - 1; i >= 0; i--)
    if (a.limb[i] != twice.v[i]) return a.limb[i] < twice.v[i];
  return false;
}
template <class F>
CUZK_HD bool is_lazy(const Fp2<F>& a) {
  return is_lazy(a.c0) && is_lazy(a.c1);
}

// Whether a value is below 2p and congruent to a canonical one.
template <class F>
CUZK_HD bool is_lazy_form(const F& value, const F& canonical_value) {
  return is_lazy(value) && equal(reduce(value), canonical_value);
}

// a b / R mod p for any a and b of kLimbs limbs.
template <class F>
CUZK_NOINLINE __host__ __device__ F slow_product(const F& a, const F& b) {
  constexpr int n = F::kLimbs;
  const F p = F::modulus();
  u32 sum[n + 1] = {};
  const auto accumulate = [&](const F& x) {
    u64 carry = 0;
    for (int i = 0; i < n; i++) {
      carry += u64(sum[i]) + x.limb[i];
      sum[i] = u32(carry);
      carry >>= 32;
    }
    sum[n] += u32(carry);
  };
  for (int bit = 0; bit < 32 * n; bit++) {
    if (a.limb[bit / 32] >> bit % 32 & 1) accumulate(b);
    if (sum[0] & 1) accumulate(p);
    for (int i = 0; i < n; i++) sum[i] = sum[i] >> 1 | sum[i + 1] << 31;
    sum[n] >>= 1;
  }
  for (;;) {
    F r;
    i64 borrow = 0;
    for (int i = 0; i < n; i++) {
      borrow += i64(sum[i]) - p.limb[i];
      r.limb[i] = u32(borrow);
      borrow >>= 32;
    }
    if (i64(sum[n]) + borrow < 0) break;
    for (int i = 0; i < n; i++) sum[i] = r.limb[i];
    sum[n] = u32(i64(sum[n]) + borrow);
  }
  F r;
  for (int i = 0; i < n; i++) r.limb[i] = sum[i];
  return r;
}

CUZK_HD u64 mix(u64 x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

// Any integer of kLimbs limbs: a third of the limbs is random, a third zero, a third all ones, or all are random.
template <class F>
CUZK_HD F any_integer(u64 seed) {
  F r;
  const bool random = mix(seed) & 1;
  for (int i = 0; i < F::kLimbs; i++) {
    const u64 x = mix(seed * 64 + i + 1);
    r.limb[i] = random || x % 3 == 0 ? u32(x >> 32) : x % 3 == 1 ? 0u : ~0u;
  }
  return r;
}
// One below 2p.
template <class F>
CUZK_HD F any_lazy(u64 seed) {
  F r = any_integer<F>(seed);
  constexpr u32 top = F::Params::kTwice.v[F::kLimbs - 1];
  if (!is_lazy(r)) r.limb[F::kLimbs - 1] %= top;
  return r;
}

// ---- checks: a bit for every function that differs ----

struct Wrong {
  u32 bits = 0;
  int next = 0;
  CUZK_HD void expect(bool right) {
    if (!right) bits |= 1u << next;
    next++;
  }
};

const char* const kCanonicalNames[] = {"add",     "sub",  "mul",    "sqr",     "neg",    "dbl",  "inverse", "from_montgomery", "to_montgomery",
                                       "neg_if",  "mul_call", "select", "is_zero", "one", "reduce", "load_ro", "load_stream",     "store"};

template <class F>
__global__ void canonical_kernel(const FieldVector<F>* vectors, F* scratch, u32 n, u32* wrong) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const FieldVector<F> v = vectors[i];
  Wrong w;
  w.expect(equal(add(v.a, v.b), v.sum));
  w.expect(equal(sub(v.a, v.b), v.difference));
  w.expect(equal(mul(v.a, v.b), v.product));
  w.expect(equal(sqr(v.a), v.square));
  w.expect(equal(neg(v.a), v.negative));
  w.expect(equal(dbl(v.a), add(v.a, v.a)) && equal(sub(dbl(v.a), v.a), v.a));
  w.expect(equal(inverse(v.a), v.inverse) && equal(inverse(plus_modulus(v.a)), v.inverse));
  w.expect(equal(from_montgomery(v.a), v.plain));
  w.expect(equal(to_montgomery(v.plain), v.a));
  w.expect(equal(neg_if(true, v.a), v.negative) && equal(neg_if(false, v.a), v.a));
  w.expect(equal(reduce(mul_call(v.a, v.b)), v.product));
  w.expect(equal(select(true, v.a, v.b), v.a) && equal(select(false, v.a, v.b), v.b));
  bool any = false;
  for (int k = 0; k < F::kLimbs; k++) any |= v.a.limb[k] != 0;
  w.expect(is_zero(v.a) == !any && is_zero(F::zero()));
  w.expect(equal(mul(v.a, F::one()), v.a));
  w.expect(equal(reduce(v.a), v.a) && equal(reduce(plus_modulus(v.a)), v.a));
  w.expect(equal(load_ro(&vectors[i].b), v.b) && equal(load(&vectors[i].b), v.b));
  w.expect(equal(load_stream(&vectors[i].sum), v.sum));
  store(scratch + 2 * i, v.a);
  store_stream(scratch + 2 * i + 1, v.b);
  w.expect(equal(load(scratch + 2 * i), v.a) && equal(load(scratch + 2 * i + 1), v.b));
  wrong[i] = w.bits;
}

const char* const kLazyNames[] = {"add_lazy", "sub_lazy",  "mul_lazy",     "sqr_lazy",     "dbl_lazy",
                                  "neg_lazy", "mul_add_lazy", "mul_sub_lazy", "is_zero_lazy"};

// Both forms of both operands: four threads a vector.
template <class V>
__global__ void lazy_kernel(const V* vectors, u32 n, u32* wrong) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 4 * n) return;
  const V v = vectors[i / 4];
  const auto a = i & 1 ? plus_modulus(v.a) : v.a, b = i & 2 ? plus_modulus(v.b) : v.b;
  const auto sum = add(v.a, v.b), difference = sub(v.a, v.b);
  Wrong w;
  w.expect(is_lazy_form(add_lazy(a, b), sum));
  w.expect(is_lazy_form(sub_lazy(a, b), difference) && is_lazy_form(sub_lazy(b, a), neg(difference)));
  w.expect(is_lazy_form(mul_lazy(a, b), v.product));
  w.expect(is_lazy_form(sqr_lazy(a), v.square));
  w.expect(is_lazy_form(dbl_lazy(a), dbl(v.a)));
  w.expect(is_lazy_form(neg_lazy(a), neg(v.a)));
  w.expect(is_lazy_form(mul_add_lazy(a, b, a, a), add(v.product, v.square)));
  w.expect(is_lazy_form(mul_sub_lazy(a, b, a, a), sub(v.product, v.square)) && is_zero_lazy(mul_sub_lazy(a, b, b, a)));
  w.expect(is_zero_lazy(a) == is_zero(v.a) && is_zero_lazy(sub_lazy(a, a)));
  wrong[i] = w.bits;
}

const char* const kShoupNames[] = {"shoup", "mul_shoup", "mul_shoup of any integer", "mul_loose", "canonical"};

template <class F>
__global__ void shoup_kernel(const FieldVector<F>* vectors, u32 n, u32* wrong) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const FieldVector<F> v = vectors[i];
  const Shoup<F> s = shoup(v.b);
  const F plain = from_montgomery(v.b), large = any_integer<F>(i);
  F factor;
  for (int k = 0; k < F::kLimbs; k++) factor.limb[k] = s.w[k];
  Wrong w;
  w.expect(equal(factor, plain));
  w.expect(is_lazy_form(mul_shoup(v.a, s), v.product) && is_lazy_form(mul_shoup(plus_modulus(v.a), s), v.product));
  w.expect(equal(canonical(mul_shoup(large, s)), slow_product(large, v.b)));
  w.expect(is_lazy_form(mul_loose(v.b, v.a), v.product) && is_lazy_form(mul_loose(v.b, plus_modulus(v.a)), v.product));
  w.expect(equal(mul(canonical(large), v.b), slow_product(large, v.b)));
  wrong[i] = w.bits;
}

const char* const kRandomNames[] = {"mul_lazy", "sqr_lazy", "mul_add_lazy", "mul_sub_lazy", "sums", "inverse"};

template <class F>
__global__ void random_kernel(u32 n, u32* wrong) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const F a = any_lazy<F>(4 * u64(i)), b = any_lazy<F>(4 * u64(i) + 1), c = any_lazy<F>(4 * u64(i) + 2), d = any_lazy<F>(4 * u64(i) + 3);
  const F ab = slow_product(a, b), cd = slow_product(c, d);
  Wrong w;
  w.expect(is_lazy_form(mul_lazy(a, b), ab));
  w.expect(is_lazy_form(sqr_lazy(a), slow_product(a, a)));
  w.expect(is_lazy_form(mul_add_lazy(a, b, c, d), add(ab, cd)));
  w.expect(is_lazy_form(mul_sub_lazy(a, b, c, d), sub(ab, cd)));
  w.expect(is_lazy_form(sub_lazy(add_lazy(a, b), b), reduce(a)) && is_lazy_form(add_lazy(sub_lazy(a, b), b), reduce(a)));
  w.expect(is_zero_lazy(a) || equal(mul(inverse(a), reduce(a)), F::one()));
  wrong[i] = w.bits;
}

const char* const kExtensionNames[] = {"mul", "sqr", "inverse", "neg", "forms", "select", "mul_call", "load"};

template <class F>
__global__ void extension_kernel(const ExtensionVector<F>* vectors, u32 n, u32* wrong) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const ExtensionVector<F> v = vectors[i];
  Wrong w;
  w.expect(equal(mul(v.a, v.b), v.product));
  w.expect(equal(sqr(v.a), v.square));
  w.expect(equal(inverse(v.a), v.inverse) && equal(inverse(plus_modulus(v.a)), v.inverse));
  w.expect(is_zero(add(v.a, neg(v.a))) && equal(neg_if(true, v.a), neg(v.a)) && equal(neg_if(false, v.a), v.a));
  w.expect(equal(to_montgomery(from_montgomery(v.a)), v.a) && equal(mul(v.a, F::one()), v.a));
  w.expect(equal(select(true, v.a, v.b), v.a) && equal(select(false, v.a, v.b), v.b));
  w.expect(equal(reduce(mul_call(v.a, v.b)), v.product));
  w.expect(equal(load_ro(&vectors[i].b), v.b) && equal(load(&vectors[i].b), v.b));
  wrong[i] = w.bits;
}

const char* const kWarpNames[] = {"inverse_in_warp"};

// A warp for a vector.
template <class V>
__global__ void warp_kernel(const V* vectors, u32* wrong) {
  const V v = vectors[blockIdx.x];
  Wrong w;
  w.expect(equal(inverse_in_warp(v.a), v.inverse) && equal(inverse_in_warp(plus_modulus(v.a)), v.inverse));
  const u32 any = __ballot_sync(~0u, w.bits != 0);
  if (threadIdx.x == 0) wrong[blockIdx.x] = any != 0;
}

// ---- running them ----

int failures = 0;

template <int names>
void report(const char* field, const char* family, const DeviceArray<u32>& wrong, const char* const (&name)[names], Stream& stream) {
  std::vector<u32> bits(wrong.size());
  wrong.download(bits.data(), bits.size(), stream);
  stream.synchronize();
  u32 all = 0;
  for (const u32 b : bits) all |= b;
  std::printf("%-12s %-10s %6zu cases", field, family, bits.size());
  for (int k = 0; k < 32; k++) {
    if (!(all >> k & 1)) continue;
    std::size_t first = 0, count = 0;
    for (std::size_t i = bits.size(); i-- > 0;)
      if (bits[i] >> k & 1) first = i, count++;
    std::printf(", %s wrong in %zu (first %zu)", k < names ? name[k] : "?", count, first);
    failures++;
  }
  std::printf(all ? "\n" : " ok\n");
}

constexpr u32 kBlock = 64;
u32 blocks(std::size_t n) { return u32((n + kBlock - 1) / kBlock); }

template <class V, int columns, int words, std::size_t n>
DeviceArray<V> upload(const u64 (&table)[n][columns][words], Stream& stream) {
  static_assert(sizeof(V) == sizeof table[0]);
  std::vector<V> host(n);
  std::memcpy(static_cast<void*>(host.data()), table, sizeof table);
  DeviceArray<V> device(n);
  device.upload(host.data(), n, stream);
  stream.synchronize();
  return device;
}

template <class F, int words, std::size_t n>
void test_field(const char* name, const u64 (&table)[n][vectors::kFieldColumns][words], Stream& stream) {
  const auto v = upload<FieldVector<F>>(table, stream);
  DeviceArray<u32> wrong(n), wrong_lazy(4 * n);
  DeviceArray<F> scratch(2 * n);
  launch(canonical_kernel<F>, blocks(n), kBlock, 0, stream, v.get(), scratch.get(), u32(n), wrong.get());
  report(name, "canonical", wrong, kCanonicalNames, stream);
  launch(lazy_kernel<FieldVector<F>>, blocks(4 * n), kBlock, 0, stream, v.get(), u32(n), wrong_lazy.get());
  report(name, "lazy", wrong_lazy, kLazyNames, stream);
  if constexpr (std::is_same_v<F, Bls12381Fr> || std::is_same_v<F, Bn254Fr>) {
    launch(shoup_kernel<F>, blocks(n), kBlock, 0, stream, v.get(), u32(n), wrong.get());
    report(name, "shoup", wrong, kShoupNames, stream);
  }
  launch(warp_kernel<FieldVector<F>>, u32(n), kWarp, 0, stream, v.get(), wrong.get());
  report(name, "warps", wrong, kWarpNames, stream);
  constexpr u32 random = CUZK_EMULATED ? 512 : 1 << 16;
  DeviceArray<u32> wrong_random(random);
  launch(random_kernel<F>, blocks(random), kBlock, 0, stream, random, wrong_random.get());
  report(name, "random", wrong_random, kRandomNames, stream);
}

template <class F, int words, std::size_t n>
void test_extension(const char* name, const u64 (&table)[n][vectors::kExtensionColumns][words], Stream& stream) {
  const auto v = upload<ExtensionVector<F>>(table, stream);
  DeviceArray<u32> wrong(n), wrong_lazy(4 * n);
  launch(extension_kernel<F>, blocks(n), kBlock, 0, stream, v.get(), u32(n), wrong.get());
  report(name, "canonical", wrong, kExtensionNames, stream);
  launch(warp_kernel<ExtensionVector<F>>, u32(n), kWarp, 0, stream, v.get(), wrong.get());
  report(name, "warps", wrong, kWarpNames, stream);
  launch(lazy_kernel<ExtensionVector<F>>, blocks(4 * n), kBlock, 0, stream, v.get(), u32(n), wrong_lazy.get());
  report(name, "lazy", wrong_lazy, kLazyNames, stream);
}

}  // namespace

int main() {
  Stream stream;
  test_field<Bls12381Fp>("Bls12381Fp", vectors::kBls12381Fp, stream);
  test_field<Bls12381Fr>("Bls12381Fr", vectors::kBls12381Fr, stream);
  test_field<Bn254Fp>("Bn254Fp", vectors::kBn254Fp, stream);
  test_field<Bn254Fr>("Bn254Fr", vectors::kBn254Fr, stream);
  test_extension<Bls12381Fp2>("Bls12381Fp2", vectors::kBls12381Fp2, stream);
  test_extension<Bn254Fp2>("Bn254Fp2", vectors::kBn254Fp2, stream);
  return failures != 0;
}
