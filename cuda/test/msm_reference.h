// Bases with known exponents, scalars to try, and what their sum must be: what the tests and benchmarks of cuda/msm compare
// with.
//
// Base k is sign(k) (A_i + B_j) with i = k mod |A|, j = k / |A| mod |B|; A_i = 2^i a G and B_j = 2^j b G come from the host, by
// the complete XYZZ sums of cuda/curve. So the sum of any size is (sum of s_k e_k)G, computed in Fr. (In arithmetic progressions
// sums of few bases would often be equal, as they never are in practice.)
#pragma once

#include <vector>

#include "base/device.h"
#include "curve/point.h"

namespace cuzk::reference {

// ---- groups ----

template <class Curve>
struct Generators;

template <>
struct Generators<Bls12381> {
  static constexpr Words<12> kG1[2] = {
      {{0xdb22c6bb, 0xfb3af00a, 0xf97a1aef, 0x6c55e83f, 0x171bac58, 0xa14e3a3f, 0x9774b905, 0xc3688c4f, 0x4fa9ac0f, 0x2695638c, 0x3197d794, 0x17f1d3a7}},
      {{0x46c5e7e1, 0x0caa2329, 0xa2888ae4, 0xd03cc744, 0x2c04b3ed, 0x00db18cb, 0xd5d00af6, 0xfcf5e095, 0x741d8ae4, 0xa09e30ed, 0xe3aaa0f1, 0x08b3f481}}};
  static constexpr Words<12> kG2[4] = {
      {{0xc121bdb8, 0xd48056c8, 0xa805bbef, 0x0bac0326, 0x7ae3d177, 0xb4510b64, 0xfa403b02, 0xc6e47ad4, 0x2dc51051, 0x26080527, 0xf08f0a91, 0x024aa2b2}},
      {{0x5d042b7e, 0xe5ac7d05, 0x13945d57, 0x334cf112, 0xdc7f5049, 0xb5da61bb, 0x9920b61a, 0x596bd0d0, 0x88274f65, 0x7dacd3a0, 0x52719f60, 0x13e02b60}},
      {{0x08b82801, 0xe1935486, 0x3baca289, 0x923ac9cc, 0x5160d12c, 0x6d429a69, 0x8cbdd3a7, 0xadfd9baa, 0xda2e351a, 0x8cc9cdc6, 0x727d6e11, 0x0ce5d527}},
      {{0xf05f79be, 0xaaa9075f, 0x5cec1da1, 0x3f370d27, 0x572e99ab, 0x267492ab, 0x85a763af, 0xcb3e287e, 0x2bc28b99, 0x32acd2b0, 0x2ea734cc, 0x0606c4a0}}};
};

template <>
struct Generators<Bn254> {
  static constexpr Words<8> kG1[2] = {{{1}}, {{2}}};
  static constexpr Words<8> kG2[4] = {
      {{0xd992f6ed, 0x46debd5c, 0xf75edadd, 0x674322d4, 0x5e5c4479, 0x426a0066, 0x121f1e76, 0x1800deef}},
      {{0xaef312c2, 0x97e485b7, 0x35a9e712, 0xf1aa4933, 0x31fb5d25, 0x7260bfb7, 0x920d483a, 0x198e9393}},
      {{0x66fa7daa, 0x4ce6cc01, 0x0c43d37b, 0xe3d1e769, 0x8dcb408f, 0x4aab7180, 0xdb8c6deb, 0x12c85ea5}},
      {{0xd122975b, 0x55acdadc, 0x70b38ef3, 0xbc4b3133, 0x690c3395, 0xec9e99ad, 0x585ff075, 0x090689d0}}};
};

template <class Curve>
struct Group1 {
  using F = typename Curve::Fp;
  using Fr = typename Curve::Fr;
  static Affine<F> generator() {
    const auto& g = Generators<Curve>::kG1;
    return {to_montgomery(F::of(g[0])), to_montgomery(F::of(g[1]))};
  }
};

template <class Curve>
struct Group2 {
  using F = typename Curve::Fp2;
  using Fr = typename Curve::Fr;
  static Affine<F> generator() {
    using B = typename Curve::Fp;
    const auto& g = Generators<Curve>::kG2;
    return {{to_montgomery(B::of(g[0])), to_montgomery(B::of(g[1]))}, {to_montgomery(B::of(g[2])), to_montgomery(B::of(g[3]))}};
  }
};

template <class F, class Fr>
Xyzz<F> times(const Affine<F>& g, const Fr& integer) {
  Xyzz<F> r = Xyzz<F>::infinity();
  for (int i = 32 * Fr::kLimbs; i-- > 0;) {
    r = dbl(r);
    if (integer.limb[i / 32] >> (i % 32) & 1) add_mixed(r, g);
  }
  return r;
}

// ---- scalars ----

CUZK_HD u64 mix(u64 z) {
  z += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

enum class Scalars : u32 { kUniform, kEqual, kZeroOne, kTiny, kEdges, kZero, kLargest, kWitness };
constexpr const char* kScalarNames[] = {"uniform", "all equal", "0 or 1", "below 1000", "edges", "all zero", "all r-1", "1 % full"};

// Uniform enough: below r by one bit.
template <class Fr>
CUZK_HD Fr uniform(u64 seed) {
  Fr r;
  for (u32 k = 0; k < 8; k += 2) {
    const u64 v = mix(seed * 4 + k / 2);
    r.limb[k] = u32(v);
    r.limb[k + 1] = u32(v >> 32);
  }
  r.limb[7] &= 0x7fffffff;
  return reduce(reduce(reduce(r)));
}

// r - by, half of r (rounded down) plus one, and other limits.
template <class Fr>
CUZK_HD Fr edge(u32 which) {
  constexpr auto modulus = Fr::Params::kModulus;
  Fr r = Fr::zero();
  if (which < 3) {
    r.limb[0] = which;
    return r;
  }
  r = Fr::of(modulus);
  r.limb[0]--;
  if (which == 3) return r;
  if (which == 4) {
    Fr one = Fr::zero();
    one.limb[0] = 1;
    return sub(r, one);
  }
  for (int i = 0; i < 7; i++) r.limb[i] = r.limb[i] >> 1 | r.limb[i + 1] << 31;
  r.limb[7] >>= 1;
  if (which == 6) {
    Fr one = Fr::zero();
    one.limb[0] = 1;
    return add(r, one);
  }
  return r;
}

// Scalar k: an integer below r.
template <class Fr>
CUZK_HD Fr scalar(Scalars kind, u64 k, u64 seed) {
  const u64 dice = mix(k * 8 + seed * 0x1234567);
  Fr small = Fr::zero();
  switch (kind) {
    case Scalars::kEqual: return uniform<Fr>(seed * 77 + 5);
    case Scalars::kZeroOne: small.limb[0] = u32(dice >> 63); return small;
    case Scalars::kTiny: small.limb[0] = u32(dice % 1000); return small;
    case Scalars::kEdges: return edge<Fr>(u32(dice % 7));
    case Scalars::kZero: return small;
    case Scalars::kLargest: return edge<Fr>(3);
    case Scalars::kWitness:
      if (dice % 100 == 0) break;
      small.limb[0] = u32(dice >> 63);
      return small;
    case Scalars::kUniform: break;
  }
  return uniform<Fr>(k + seed * 0x1000003);
}

// ---- bases ----

enum class Signs : u32 { kPlain, kMixed };  // mixed: an eighth infinite, an eighth negated

CUZK_HD int sign(Signs signs, u64 k) {
  if (signs == Signs::kPlain) return 1;
  const u64 dice = mix(k ^ 0xabcdef) % 8;
  return dice == 0 ? 0 : dice == 1 ? -1 : 1;
}

// What tells bases apart: tables in device memory, and how they are signed.
template <class F, class Fr>
struct BaseTables {
  const Affine<F>*a, *b;
  const Fr *ea, *eb;  // exponents, in Montgomery form
  u32 na, nb;
  Signs signs;

  // Exponent of base k, in Montgomery form.
  CUZK_HD Fr exponent(u64 k) const {
    const int s = sign(signs, k);
    if (s == 0) return Fr::zero();
    const Fr e = add(ea[k % na], eb[k / na % nb]);
    return s < 0 ? neg(e) : e;
  }
};

constexpr u32 kBasesPerThread = 16;  // that share an inversion

template <class F, class Fr>
__global__ void __launch_bounds__(128) make_bases_kernel(Affine<F>* out, u32 n, BaseTables<F, Fr> t) {
  const u32 threads = gridDim.x * blockDim.x;
  F before[kBasesPerThread];
  for (u64 first = blockIdx.x * blockDim.x + threadIdx.x; first < n; first += u64(threads) * kBasesPerThread) {
    F product = F::one();
    u32 m = 0;
    for (; m < kBasesPerThread && first + u64(m) * threads < n; m++) {
      const u64 k = first + u64(m) * threads;
      before[m] = product;
      product = mul(product, sub(load(&t.b[k / t.na % t.nb].x), load(&t.a[k % t.na].x)));
    }
    F i = inverse(product);
    while (m-- > 0) {
      const u64 k = first + u64(m) * threads;
      const Affine<F> p = load(&t.a[k % t.na]), q = load(&t.b[k / t.na % t.nb]);
      const F slope = mul(sub(q.y, p.y), mul(i, before[m])), x = sub(sub(sqr(slope), p.x), q.x);
      i = mul(i, sub(q.x, p.x));
      const int s = sign(t.signs, k);
      const Affine<F> sum = neg_if(s < 0, Affine<F>{x, sub(mul(slope, sub(p.x, x)), p.y)});
      store(&out[k], s == 0 ? Affine<F>::infinity() : sum);
    }
  }
}

template <class Fr>
__global__ void __launch_bounds__(256) make_scalars_kernel(u32* out, u32 n, Scalars kind, u64 seed) {
  for (u64 k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x) store(reinterpret_cast<Fr*>(out) + k, scalar<Fr>(kind, k, seed));
}

// Sums of s_k e_k over the threads of the grid, one a thread.
template <class F, class Fr>
__global__ void __launch_bounds__(256) exponents_kernel(Fr* out, u32 n, Scalars kind, u64 seed, BaseTables<F, Fr> t) {
  const u64 thread = blockIdx.x * blockDim.x + threadIdx.x;
  Fr sum = Fr::zero();
  for (u64 k = thread; k < n; k += gridDim.x * blockDim.x) sum = add(sum, mul(scalar<Fr>(kind, k, seed), t.exponent(k)));
  store(&out[thread], sum);
}

// Sums of e_k over the members of an index list.
template <class F, class Fr>
__global__ void __launch_bounds__(256) listed_exponents_kernel(Fr* out, const u32* indices, u32 n, BaseTables<F, Fr> t) {
  const u64 thread = blockIdx.x * blockDim.x + threadIdx.x;
  Fr sum = Fr::zero();
  for (u64 k = thread; k < n; k += gridDim.x * blockDim.x) sum = add(sum, from_montgomery(t.exponent(indices[k])));
  store(&out[thread], sum);
}

template <class Group>
class Bases {
 public:
  using F = typename Group::F;
  using Fr = typename Group::Fr;

  // na and nb of 1 or 2 make equal and opposite bases frequent.
  Bases(u32 na, u32 nb, u64 seed) : na_(na), nb_(nb) {
    table(na, seed, a_, ea_);
    table(nb, seed + 1, b_, eb_);
  }

  BaseTables<F, Fr> tables(Signs signs) const { return {a_.get(), b_.get(), ea_.get(), eb_.get(), na_, nb_, signs}; }

  void make(Affine<F>* out, u32 n, Signs signs) const {
    launch(make_bases_kernel<F, Fr>, blocks(n, 128), 128, 0, nullptr, out, n, tables(signs));
  }

  // (sum of s_k e_k)G
  Affine<F> sum(u32 n, Scalars kind, u64 seed, Signs signs) const {
    const u32 grid = blocks(n, 256);
    DeviceArray<Fr> parts(grid * 256);
    launch(exponents_kernel<F, Fr>, grid, 256, 0, nullptr, parts.get(), n, kind, seed, tables(signs));
    return times_generator(parts);
  }
  Affine<F> sum(const u32* indices, u32 n, Signs signs) const {
    const u32 grid = blocks(n, 256);
    DeviceArray<Fr> parts(grid * 256);
    launch(listed_exponents_kernel<F, Fr>, grid, 256, 0, nullptr, parts.get(), indices, n, tables(signs));
    return times_generator(parts);
  }

  static u32 blocks(u64 n, u32 threads) { return u32(std::min<u64>((n + threads - 1) / threads, u64(multiprocessors()) * 8)); }

 private:
  static Affine<F> times_generator(const DeviceArray<Fr>& parts) {
    std::vector<Fr> host(parts.size());
    parts.download(host.data(), host.size(), nullptr);
    check(cudaDeviceSynchronize(), "adding exponents");
    Fr sum = Fr::zero();
    for (const Fr& part : host) sum = add(sum, part);
    return to_affine(times(Group::generator(), sum));
  }

  // 2^i e G for i < n.
  static void table(u32 n, u64 seed, DeviceArray<Affine<F>>& points, DeviceArray<Fr>& exponents) {
    std::vector<Affine<F>> p(n);
    std::vector<Fr> x(n);
    Fr exponent = uniform<Fr>(seed * 2 + 1000);
    Xyzz<F> at = times(Group::generator(), exponent);
    for (u32 i = 0; i < n; i++) {
      p[i] = to_affine(at);
      x[i] = to_montgomery(exponent);
      at = dbl(at);
      exponent = dbl(exponent);
    }
    points = DeviceArray<Affine<F>>(n);
    exponents = DeviceArray<Fr>(n);
    points.upload(p.data(), n, nullptr);
    exponents.upload(x.data(), n, nullptr);
    check(cudaDeviceSynchronize(), "uploading tables");
  }

  u32 na_, nb_;
  DeviceArray<Affine<F>> a_, b_;
  DeviceArray<Fr> ea_, eb_;
};

template <class F>
bool same(const Affine<F>& a, const Affine<F>& b) {
  return equal(a.x, b.x) && equal(a.y, b.y);
}

}  // namespace cuzk::reference
