// Times of transforms and quotients beside what the machine can do: products in the field and copies.
//
//   ntt_bench [smallest [largest [curve]]]   sizes as logarithms, 10 and 27 unless given; bls12381 or bn254, else both
//   ntt_bench plans                  other ways to cut sizes into passes
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "ntt/quotient.cuh"
#include "ntt/roots.h"

using namespace cuzk;

namespace {

constexpr int kRepetitions = 9;

struct Time {
  double median = 0, spread = 0;  // milliseconds; (largest - smallest) / median
};

// Median time of a call; short calls are timed several at a time.
Time measure(const Stream& s, const std::function<void()>& call) {
  Event start, stop;
  const auto once = [&](int calls) {
    start.record(s);
    for (int i = 0; i < calls; i++) call();
    stop.record(s);
    stop.synchronize();
    return double(stop.since(start)) / calls;
  };
  const int calls = std::clamp(int(2 / std::max(once(1), 1e-3)), 1, 100);
  std::vector<double> t;
  for (int i = 0; i < kRepetitions; i++) t.push_back(once(calls));
  std::sort(t.begin(), t.end());
  return {t[t.size() / 2], (t.back() - t.front()) / t[t.size() / 2]};
}

template <class Fr>
__global__ void fill_kernel(Fr* out, u32 n, u32 seed) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Fr v;
  for (u32 k = 0; k < 8; k++) v.limb[k] = (i + seed) * 2654435761u ^ (k * 0x9e3779b9u + i * (2 * k + 1));
  v.limb[7] &= 0x1fffffff;
  store(out + i, v);
}

template <class Fr>
DeviceArray<Fr> filled(u64 n, u32 seed, cudaStream_t s) {
  DeviceArray<Fr> d(n);
  launch(fill_kernel<Fr>, u32((n + 255) / 256), 256, 0, s, d.get(), u32(n), seed);
  return d;
}

// Two chains of products a thread, as in a transform: 24 warps on a multiprocessor.
template <class Fr, bool kShoup>
__global__ void __launch_bounds__(256, 3) products_kernel(Fr* io, const __grid_constant__ Shoup<Fr> factor, int steps) {
  Fr* p = io + 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  Fr x = load(p), y = load(p + 1);
  const Fr w = x;
  CUZK_NO_UNROLL
  for (int i = 0; i < steps; i++) {
    x = kShoup ? mul_shoup(x, factor) : mul_loose(w, x);
    y = kShoup ? mul_shoup(y, factor) : mul_loose(w, y);
  }
  store(p, x);
  store(p + 1, y);
}

template <class Fr, bool kShoup>
double product_rate(const Stream& s) {
  const int blocks = 3 * multiprocessors(), steps = CUZK_EMULATED ? 2 : 2000;
  const auto io = filled<Fr>(u64(blocks) * 512, 1, s);
  const Shoup<Fr> factor = shoup(ntt::from_integer<Fr>(0x123456789abcdef));
  const Time t = measure(s, [&] { launch(products_kernel<Fr, kShoup>, blocks, 256, 0, s, io.get(), factor, steps); });
  return double(blocks) * 512 * steps / t.median * 1e-6;
}

double copy_rate(const Stream& s) {
  const std::size_t bytes = std::size_t(1) << (CUZK_EMULATED ? 20 : 31);
  DeviceArray<u8> a(bytes), b(bytes);
  const Time t = measure(s, [&] { check(cudaMemcpyAsync(b.get(), a.get(), bytes, cudaMemcpyDeviceToDevice, s), "copying"); });
  return 2 * double(bytes) / t.median * 1e-6;
}

// A quotient's vectors are overwritten by results below the modulus, which serve as the next inputs.
template <class Fr>
struct Vectors {
  DeviceArray<Fr> a, b, c;
  Vectors(u64 n, cudaStream_t s) : a(filled<Fr>(n, 1, s)), b(filled<Fr>(n, 2, s)), c(filled<Fr>(n, 3, s)) {}
};

template <class Fr>
Time time_quotient(const Stream& s, Layout layout, int log_n, std::size_t limit, const Vectors<Fr>& v, bool product_only = false) {
  const Quotient<Fr> q(layout, log_n, limit);
  return measure(s, [&] {
    if (product_only) return q.coset_product(s, v.a.get(), v.b.get(), q.domain(), Form::kMontgomery);
    q.compute(s, v.a.get(), v.b.get(), v.c.get(), q.domain(), Form::kMontgomery, layout != Layout::kSnarkjs);
  });
}

template <class Fr>
void time_size(const Stream& s, int log_n) {
  const u64 n = u64(1) << log_n;
  const Vectors<Fr> v(n, s);
  Time forward, inverse, small_forward, small_inverse;
  std::size_t bytes = 0;
  for (const bool small : {false, true}) {
    ntt::Options options;
    options.table_limit = small ? 0 : ~std::size_t(0);
    const Ntt<Fr> ntt(log_n, 5, options);
    const auto coset = ntt.make_coset(ntt::from_integer<Fr>(5), {Fr::one()}, options.table_limit);
    (small ? small_forward : forward) = measure(s, [&] { ntt.forward(s, v.a.get(), v.a.get()); });
    (small ? small_inverse : inverse) = measure(s, [&] { ntt.inverse(s, v.a.get(), v.a.get(), coset); });
    if (!small) bytes = ntt.table_bytes() + coset.table_bytes();
  }
  const std::size_t all = ~std::size_t(0);
  const Time seven = time_quotient(s, Layout::kCoefficients, log_n, all, v);
  const Time gnark = time_quotient(s, Layout::kGnark, log_n, all, v);
  const Time snarkjs = time_quotient(s, Layout::kSnarkjs, log_n, all, v);
  const Time four = time_quotient(s, Layout::kCoefficients, log_n, all, v, true);
  std::printf("2^%-3d %9.4f %4.1f%% %9.4f %4.1f%% %9.4f %9.4f %9.3f %9.3f %9.3f %9.3f %7.1f %8.0f\n", log_n, forward.median,
              100 * forward.spread, inverse.median, 100 * inverse.spread, small_forward.median, small_inverse.median, seven.median,
              gnark.median, snarkjs.median, four.median, double(n) * log_n / 2 / forward.median * 1e-6, double(bytes) / 1e6);
  std::fflush(stdout);
}

template <class Fr>
void time_field(const Stream& s, const char* name, int smallest, int largest) {
  std::printf("\n%s: %.1f G products/s by Montgomery, %.1f by a known factor; copy %.0f GB/s\n", name, product_rate<Fr, false>(s),
              product_rate<Fr, true>(s), copy_rate(s));
  std::printf("ms      forward   +-    inverse   +-   small forw  small inv  coeff. (7) gnark (7) snarkjs (6) product (4)  Gbfly/s  tables MB\n");
  for (int log_n = smallest; log_n <= largest; log_n++) time_size<Fr>(s, log_n);
}

void time_plan(const Stream& s, int first, int middle, int last) {
  using Fr = Bls12381Fr;
  const ntt::Plan plan = ntt::make_plan(first, middle, last);
  ntt::Options options;
  options.plan = &plan;
  const Ntt<Fr> ntt(plan.log_n, 5, options);
  const auto coset = ntt.make_coset(ntt::from_integer<Fr>(5), {Fr::one()});
  const auto v = filled<Fr>(ntt.size(), 1, s);
  const Time forward = measure(s, [&] { ntt.forward(s, v.get(), v.get()); });
  const Time inverse = measure(s, [&] { ntt.inverse(s, v.get(), v.get(), coset); });
  std::printf("2^%-3d (%d, %d, %d)  %9.4f %9.4f\n", plan.log_n, first, middle, last, forward.median, inverse.median);
}

void time_plans(const Stream& s) {
  std::printf("plans, BLS12-381: forward, inverse\n");
  for (int log_n = 12; log_n <= 28; log_n++)
    for (int last : {6, 9})
      for (int middle : {0, 6, 9})
        if (const int first = log_n - middle - last; first >= 6 && first <= 10) time_plan(s, first, middle, last);
}

}  // namespace

int main(int argc, char** argv) {
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0), "asking for the device's properties");
  std::printf("%s, %d multiprocessors; medians of %d\n", device.name, device.multiProcessorCount, kRepetitions);
  const Stream s;
  if (argc > 1 && !std::strcmp(argv[1], "plans")) return time_plans(s), 0;
  const int smallest = argc > 1 ? std::atoi(argv[1]) : 10, largest = argc > 2 ? std::atoi(argv[2]) : 27;
  const std::string curve = argc > 3 ? argv[3] : "";
  if (curve != "bn254") time_field<Bls12381Fr>(s, "BLS12-381", smallest, largest);
  if (curve != "bls12381") time_field<Bn254Fr>(s, "BN254", smallest, largest);
}
