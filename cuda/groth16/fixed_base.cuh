// Multiples of one point by many scalars, to make keys whose exponents are known.
//
// Cost of a multiple: 32 additions of table entries (a window of 8 bits each), and a sixteenth of an inversion.
#pragma once

#include <algorithm>

#include "curve/batch_affine.cuh"
#include "groth16/scalars.h"

namespace cuzk::groth16 {

namespace detail {

constexpr u32 kFixedWindows = 32, kFixedEntries = 255;
constexpr u32 kFixedThreads = 128;

template <class F, class Fr, class Exponent>
__global__ void __launch_bounds__(kFixedThreads)
    fixed_multiples_kernel(const Affine<F>* table, Exponent exponent, u64 first, u32 n, Xyzz<F>* out) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Fr k = exponent(first + i);
  Xyzz<F> sum = Xyzz<F>::infinity();
  CUZK_NO_UNROLL
  for (u32 w = 0; w < kFixedWindows; w++) {
    const u32 digit = k.limb[w / 4] >> (w % 4 * 8) & 0xff;
    if (digit) add_mixed(sum, load_ro(table + w * kFixedEntries + digit - 1));
  }
  store(out + i, sum);
}

}  // namespace detail

template <class F, class Fr>
class FixedBase {
 public:
  // For fills of up to so many multiples.
  FixedBase(const Affine<F>& base, u64 most) : chunk_(std::min(kChunk, std::max<u64>(most, 1))), table_(table_size()), sums_(chunk_), prefix_(chunk_) {
    std::vector<Affine<F>> table = make_table(base);
    table_.upload(table.data(), table.size(), stream_);
    stream_.synchronize();
  }

  // out[place(i)] = exponent(i)·base for i < n. Both are functions on the device; exponents are integers.
  template <class Exponent, class Place>
  void fill(u64 n, Exponent exponent, Place place, Affine<F>* out) {
    using namespace detail;
    for (u64 first = 0; first < n; first += chunk_) {
      const u32 part = u32(std::min<u64>(chunk_, n - first));
      launch(fixed_multiples_kernel<F, Fr, Exponent>, (part + kFixedThreads - 1) / kFixedThreads, kFixedThreads, 0, stream_, table_.get(),
             exponent, first, part, sums_.get());
      to_affine(stream_, sums_.get(), prefix_.get(), first, part, place, out);
    }
    stream_.synchronize();
  }

 private:
  static constexpr u64 kChunk = u64(1) << 18;
  static constexpr std::size_t table_size() { return detail::kFixedWindows * detail::kFixedEntries; }

  // Entry (w, d) is d·2^(8w)·base, for d from 1 on.
  static std::vector<Affine<F>> make_table(const Affine<F>& base) {
    std::vector<Xyzz<F>> multiples;
    Xyzz<F> unit = Xyzz<F>::of(base);
    for (u32 w = 0; w < detail::kFixedWindows; w++) {
      Xyzz<F> sum = unit;
      for (u32 d = 1; d <= detail::kFixedEntries; d++) {
        multiples.push_back(sum);
        add(sum, unit);
      }
      unit = sum;
    }
    std::vector<F> prefix;
    F product = F::one();
    for (const auto& p : multiples) {
      prefix.push_back(product);
      product = mul_lazy(product, p.zzz);
    }
    product = inverse(product);
    std::vector<Affine<F>> out(multiples.size());
    for (std::size_t i = multiples.size(); i-- > 0;) {
      const auto& p = multiples[i];
      const F inverted = mul_lazy(product, prefix[i]), z = mul_lazy(inverted, p.zz);
      product = mul_lazy(product, p.zzz);
      out[i] = {reduce(mul_lazy(p.x, sqr_lazy(z))), reduce(mul_lazy(p.y, inverted))};
    }
    return out;
  }

  const u64 chunk_;
  Stream stream_;
  DeviceArray<Affine<F>> table_;
  DeviceArray<Xyzz<F>> sums_;
  DeviceArray<F> prefix_;
};

}  // namespace cuzk::groth16
