// Keys whose exponents are known, so that a proof of any size can be checked without pairings: every point of such a key is
// a known multiple of a generator, hence so is every point of a proof.
//
// The exponents of A, B and L are pseudo-random, those of H what the layout says for a τ that is known. A proof is right if
// its points have the exponents
//   a = α + Σ w·A + rδ, b = β + Σ w·B + sδ, c = Σ w·L + (a(τ)b(τ) − c(τ))/δ + s·a + r·b − rsδ,
// where a(τ) is the value at τ of the polynomial that takes the evaluated constraints' values on the domain.
#pragma once

#include "groth16/fixed_base.cuh"
#include "groth16/generators.h"
#include "groth16/layout.h"
#include "groth16/selection.h"
#include "ntt/roots.h"

namespace cuzk::groth16 {

// RandomScalars are integers of 252 bits that a seed and an index give; of every 256 indices about `zeros` give zero.
template <class Fr>
struct RandomScalars {
  u64 seed;
  u32 zeros;

  static CUZK_HD u64 mix(u64 x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  CUZK_HD Fr operator()(u64 i) const {
    const u64 start = mix(seed ^ mix(i + 0x9e3779b97f4a7c15u));
    Fr r = Fr::zero();
    if ((start & 0xff) < zeros) return r;
    for (int k = 0; k < Fr::kLimbs; k += 2) {
      const u64 v = mix(start + u64(k + 1) * 0x9e3779b97f4a7c15u);
      r.limb[k] = u32(v);
      r.limb[k + 1] = u32(v >> 32);
    }
    r.limb[Fr::kLimbs - 1] &= 0x0fffffff;
    return r;
  }
};

// τ^(2^k), so that any power is a few products.
template <class Fr>
struct Powers {
  Fr square[32];

  explicit Powers(Fr base) {
    for (Fr& s : square) {
      s = base;
      base = sqr(base);
    }
  }
  CUZK_HD Fr operator()(u32 exponent) const {
    Fr r = Fr::one();
    for (int k = 0; exponent; k++, exponent >>= 1)
      if (exponent & 1) r = mul(r, square[k]);
    return r;
  }
};

// LagrangeValues are values at τ of the polynomials that are one at one point first·ωⁱ of a domain of n points and zero at
// the others: τ-dependent factor · point / (τ − point), times a constant; integers.
template <class Fr>
struct LagrangeValues {
  Powers<Fr> points;
  Fr first, tau, factor;

  // The domain of 2^log_n points with this root of unity, shifted by first.
  LagrangeValues(const Fr& root, int log_n, const Fr& first_, const Fr& tau_, const Fr& constant) : points(root), first(first_), tau(tau_) {
    // (τⁿ − firstⁿ) / (n·firstⁿ) · point / (τ − point)
    const u64 n = u64(1) << log_n;
    const Fr shifted = ntt::power(first, n);
    const Fr vanishing = sub(ntt::power(tau, n), shifted);
    factor = mul(mul(vanishing, inverse(mul(ntt::from_integer<Fr>(n), shifted))), constant);
  }
  // In Montgomery form.
  CUZK_HD Fr element(u64 i) const {
    const Fr point = mul(points(u32(i)), first);
    return mul(mul(point, factor), inverse(sub(tau, point)));
  }
  CUZK_HD Fr operator()(u64 i) const { return from_montgomery(element(i)); }
};

// Exponents of H of the coefficient layouts: τⁱ·Z(τ)/δ for i < n − 1, then infinity.
template <class Fr>
struct PowersOfTau {
  Powers<Fr> tau;
  Fr factor;
  u64 count;
  CUZK_HD Fr operator()(u64 i) const { return i < count ? from_montgomery(mul(tau(u32(i)), factor)) : Fr::zero(); }
};

// Trapdoor of a key.
template <class Fr>
struct Trapdoor {
  // Elements in Montgomery form.
  Fr alpha, beta, delta, tau;
  RandomScalars<Fr> a, b, l;

  // zeros is the share, in 256ths, of the wires whose point is infinity, in each of A, B and L.
  Trapdoor(u64 seed, u32 zeros_a, u32 zeros_b, u32 zeros_l) : a{seed + 1, zeros_a}, b{seed + 2, zeros_b}, l{seed + 3, zeros_l} {
    const RandomScalars<Fr> secret{seed, 0};
    alpha = to_montgomery(secret(0));
    beta = to_montgomery(secret(1));
    delta = to_montgomery(secret(2));
    tau = to_montgomery(secret(3));
  }

  // Values at τ of the Lagrange polynomials of the domain.
  LagrangeValues<Fr> domain_values(Layout layout, int log_n) const {
    return {ntt::root_of_unity<Fr>(root_generator<Fr>(layout), log_n), log_n, Fr::one(), tau, Fr::one()};
  }
  // Exponents of H: (snarkjs) of the odd points of the doubled domain, or of the coset that stands for them where the
  // field has no such domain.
  LagrangeValues<Fr> odd_values(int log_n) const {
    // The Lagrange polynomial of the doubled domain at an odd point is that of the odd points alone times
    // (τⁿ − 1)/(shiftⁿ − 1), as the even points are the zeros of Xⁿ − 1.
    const Fr root = ntt::root_of_unity<Fr>(root_generator<Fr>(Layout::kSnarkjs), log_n);
    const Fr shift = ntt::snarkjs_shift<Fr>(log_n);
    const u64 n = u64(1) << log_n;
    const Fr even = mul(sub(ntt::power(tau, n), Fr::one()), inverse(sub(ntt::power(shift, n), Fr::one())));
    return {root, log_n, shift, tau, mul(even, inverse(delta))};
  }
  PowersOfTau<Fr> powers_of_tau(int log_n) const {
    const u64 n = u64(1) << log_n;
    const Fr factor = mul(sub(ntt::power(tau, n), Fr::one()), inverse(delta));
    return {Powers<Fr>(tau), factor, n - 1};
  }
};

// ---- sums of products, for checks ----

namespace detail {

constexpr u32 kDotThreads = 256, kDotBlocks = 512;

// Sums over i < n of x[first + i]·y(first + i), a part a thread; x and the function's values are integers, parts are
// elements divided by R.
template <class Fr, class Function>
__global__ void __launch_bounds__(kDotThreads) dot_kernel(const Fr* x, Function y, u64 first, u64 n, Fr* parts) {
  const u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
  Fr sum = Fr::zero();
  for (u64 i = first + thread; i < n; i += u64(gridDim.x) * blockDim.x) sum = add(sum, mul(load(x + i), y(i)));
  store(parts + thread, sum);
}

}  // namespace detail

// Σ x[i]·y(i) over first <= i < n, as an element in Montgomery form; x, on the device, and y give integers.
template <class Fr, class Function>
Fr dot(cudaStream_t stream, const Fr* x, const Function& y, u64 first, u64 n) {
  using namespace detail;
  const u32 blocks = u32(std::min<u64>(kDotBlocks, (n + kDotThreads - 1) / kDotThreads));
  DeviceArray<Fr> parts(kDotThreads * blocks);
  launch(dot_kernel<Fr, Function>, blocks, kDotThreads, 0, stream, x, y, first, n, parts.get());
  std::vector<Fr> host(parts.size());
  parts.download(host.data(), host.size(), stream);
  check(cudaStreamSynchronize(stream), "summing products");
  Fr sum = Fr::zero();
  for (const Fr& p : host) sum = add(sum, p);
  return to_montgomery(to_montgomery(sum));  // a product of integers was divided by R
}

}  // namespace cuzk::groth16
