// Number theoretic transforms over a scalar field, on values that are resident on the device.
//
// Values are in natural order, coefficients in the order of position(). Vectors hold canonical elements, in Montgomery
// form or not: a transform is linear and keeps the form.
#pragma once

#include <cstddef>
#include <vector>

#include "base/device.h"
#include "ntt/finish.cuh"
#include "ntt/pass.cuh"
#include "ntt/plan.h"

namespace cuzk {

namespace ntt {

// The factors between the passes of one direction.
template <class Fr>
struct PassFactors {
  DeviceArray<Fr> large;         // behind the first digit, or
  DeviceArray<uint4> low, high;  // the same as two small tables
  DeviceArray<uint4> small;      // behind the middle digit; behind the last one if there are two

  std::size_t bytes() const { return large.bytes() + low.bytes() + high.bytes() + small.bytes(); }
};

struct Options {
  // Above so many bytes a large table is replaced by two small ones, which cost a tenth of a transform's time.
  std::size_t table_limit = ~std::size_t(0);
  // Another plan than the standard one for the size.
  const Plan* plan = nullptr;
};

}  // namespace ntt

template <class Fr>
class Ntt;

// What an inverse transform multiplies its coefficients by: constant shift^i, where the constant is one of several.
template <class Fr>
class Coset {
 public:
  std::size_t table_bytes() const;

 private:
  friend class Ntt<Fr>;
  ntt::PassFactors<Fr> factors_;
  std::vector<DeviceArray<uint4>> last_;  // for each constant: shift^(first digits' size i) constant / n
};

// Transforms of 2^log_n values, with the roots of unity that a generator of the field's group leads to. Transforms are
// enqueued on a stream and may run on several at once: nothing is written but the output. `in` and `out` may be the same.
template <class Fr>
class Ntt {
 public:
  Ntt(int log_n, u32 generator, const ntt::Options& options = {});

  int log_size() const { return plan_.log_n; }
  u64 size() const { return plan_.size(); }
  const ntt::Plan& plan() const { return plan_; }
  // Where coefficient i stands.
  u64 position(u64 i) const { return plan_.position(i); }
  // Bytes of the tables, cosets not included.
  std::size_t table_bytes() const;

  Coset<Fr> make_coset(const Fr& shift, const std::vector<Fr>& constants, std::size_t table_limit = ~std::size_t(0)) const;

  // Values from coefficients, then combined with another vector of values.
  void forward(cudaStream_t, const Fr* in, Fr* out, const ntt::Combine<Fr>& combine = {ntt::Pointwise::kNone, nullptr}) const;

  // Coefficients, scaled by the coset, from the values that a source (finish.cuh) gives.
  template <class Source>
  void inverse_of(cudaStream_t, const Source& source, Fr* out, const Coset<Fr>& coset, std::size_t constant = 0) const;
  void inverse(cudaStream_t s, const Fr* in, Fr* out, const Coset<Fr>& coset, std::size_t constant = 0) const {
    inverse_of(s, ntt::Padded<Fr>{in, u32(size())}, out, coset, constant);
  }

 private:
  template <class Source, class Finish>
  ntt::Pass<Fr, Source, Finish> make_pass(int log_stride, const Source&, const Finish&, Fr* out, bool inverse) const;
  // A pass over a digit, the factors behind it included.
  template <class Source, class Finish>
  void run_first(cudaStream_t, const Source&, const Finish&, Fr* out, bool inverse) const;
  template <class Source, class Finish>
  void run_middle(cudaStream_t, const Source&, const Finish&, Fr* out, bool inverse) const;
  template <class Finish>
  void run_last(cudaStream_t, const ntt::Dense<Fr>&, const Finish&, Fr* out, bool inverse) const;

  ntt::PassFactors<Fr> make_factors(const Fr& shift, bool inverse, std::size_t table_limit, cudaStream_t) const;
  ntt::PairTable<Fr> pair_table(const ntt::PassFactors<Fr>&, bool inverse) const;

  ntt::Plan plan_;
  Fr root_;
  ntt::RadixEight<Fr> eight_;
  DeviceArray<uint4> stages_, parts_;  // inside passes
  DeviceArray<uint4> one_block_;
  ntt::PassFactors<Fr> forward_;
};

}  // namespace cuzk
