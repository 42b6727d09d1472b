// Transforms and quotients against plain ones on the host. Sizes above 2^14 only on a device or if CUZK_TEST_LARGE is set,
// those above 2^18 only on a device.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "test/ntt_reference.h"

using namespace cuzk;
using namespace cuzk::reference;

namespace {

int failures = 0, checks = 0;

void expect(u64 wrong, const std::string& what) {
  checks++;
  if (!wrong) return;
  failures++;
  std::printf("FAILED %s: %llu values differ\n", what.c_str(), (unsigned long long)wrong);
}

bool large() { return !CUZK_EMULATED || std::getenv("CUZK_TEST_LARGE"); }

template <class Fr>
const char* field_name() {
  return std::is_same_v<Fr, Bls12381Fr> ? "BLS12-381" : "BN254";
}

template <class Fr>
u64 differing(const std::vector<Fr>& a, const std::vector<Fr>& b) {
  u64 wrong = 0;
  for (std::size_t i = 0; i < a.size(); i++) wrong += !equal(a[i], b[i]);
  return wrong;
}

// Device vector of n elements whose first ones are v.
template <class Fr>
DeviceArray<Fr> upload(const std::vector<Fr>& v, u64 n, cudaStream_t s) {
  DeviceArray<Fr> d(n);
  check(cudaMemsetAsync(d.get(), 0xff, d.bytes(), s), "filling");
  d.upload(v.data(), v.size(), s);
  return d;
}
template <class Fr>
std::vector<Fr> download(const DeviceArray<Fr>& d, const Stream& s) {
  std::vector<Fr> v(d.size());
  d.download(v.data(), v.size(), s);
  s.synchronize();
  return v;
}

// v[i] = permuted[position(i)]
template <class Fr>
std::vector<Fr> in_order(const Ntt<Fr>& ntt, const std::vector<Fr>& permuted) {
  std::vector<Fr> v(permuted.size());
  for (u64 i = 0; i < v.size(); i++) v[i] = permuted[ntt.position(i)];
  return v;
}

// Inverse transform with a coset, forward transform onto it and back, all against the host.
template <class Fr>
void check_transforms(u32 generator, int log_n, Input input, const ntt::Options& options, const std::string& name) {
  const Stream s;
  const Ntt<Fr> ntt(log_n, generator, options);
  const u64 n = ntt.size();
  const Fr one = Fr::one(), shift = ntt::from_integer<Fr>(generator), constant = ntt::from_integer<Fr>(0x123456789abcdef1);
  const auto plain = ntt.make_coset(one, {one}, options.table_limit);
  const auto coset = ntt.make_coset(shift, {one, constant}, options.table_limit);

  const Fr w = ntt::root_of_unity<Fr>(generator, log_n);
  const auto values = elements<Fr>(input, n);
  auto coefficients = values;
  interpolate(coefficients, log_n, w);

  const auto in = upload(values, n, s);
  DeviceArray<Fr> out = upload<Fr>({}, n, s);
  ntt.inverse(s, in.get(), out.get(), plain);
  expect(differing(in_order(ntt, download(out, s)), coefficients), name + ": inverse");
  ntt.forward(s, out.get(), out.get());
  expect(differing(download(out, s), values), name + ": forward of inverse, in place");

  auto scaled = coefficients;
  scale(scaled, constant, shift);
  ntt.inverse(s, in.get(), out.get(), coset, 1);
  expect(differing(in_order(ntt, download(out, s)), scaled), name + ": inverse with a scaled coset");
  scaled = coefficients;
  scale(scaled, one, shift);
  transform(scaled, log_n, w);
  out.upload(values.data(), n, s);
  ntt.inverse(s, out.get(), out.get(), coset, 0);
  ntt.forward(s, out.get(), out.get());
  expect(differing(download(out, s), scaled), name + ": values on a coset, in place");

  // The length of the source, and what a forward transform does last.
  const u64 length = n - n / 3;
  auto cut = values;
  std::fill(cut.begin() + std::ptrdiff_t(length), cut.end(), Fr::zero());
  interpolate(cut, log_n, w);
  ntt.inverse_of(s, ntt::Padded<Fr>{in.get(), u32(length)}, out.get(), plain);
  expect(differing(in_order(ntt, download(out, s)), cut), name + ": inverse of a short vector");
  const auto other = elements<Fr>({Kind::kRandom, 77}, n);
  const auto factors = upload(other, n, s);
  auto want = values;
  for (u64 i = 0; i < n; i++) want[i] = mul(values[i], other[i]);
  ntt.inverse(s, in.get(), out.get(), plain);
  ntt.forward(s, out.get(), out.get(), {ntt::Pointwise::kMultiply, factors.get()});
  expect(differing(download(out, s), want), name + ": forward times a vector");
  for (u64 i = 0; i < n; i++) want[i] = sub(other[i], values[i]);
  ntt.inverse(s, in.get(), out.get(), plain);
  ntt.forward(s, out.get(), out.get(), {ntt::Pointwise::kSubtractFrom, factors.get()});
  expect(differing(download(out, s), want), name + ": forward from a vector");
}

template <class Fr>
void check_size(u32 generator, int log_n, Kind kind) {
  const std::string name = std::string(field_name<Fr>()) + " generator " + std::to_string(generator) + " 2^" +
                           std::to_string(log_n) + " input " + std::to_string(int(kind));
  check_transforms<Fr>(generator, log_n, {kind, u64(log_n)}, {}, name);
}

template <class Fr>
void check_plan(u32 generator, const ntt::Plan& plan, bool small_tables) {
  ntt::Options options;
  options.plan = &plan;
  if (small_tables) options.table_limit = 0;
  const std::string name = std::string(field_name<Fr>()) + " digits " + std::to_string(plan.first) + " " +
                           std::to_string(plan.middle) + " " + std::to_string(plan.last) + (small_tables ? " small tables" : "");
  check_transforms<Fr>(generator, plan.log_n, {Kind::kRandom, 5}, options, name);
}

template <class Fr>
void check_quotient(Layout layout, int log_n, u64 rows, Form form, bool c_given, Kind kind, std::size_t table_limit = ~std::size_t(0)) {
  const Stream s;
  const Quotient<Fr> q(layout, log_n, table_limit);
  const u64 n = q.domain();
  std::vector<Fr> v[3];
  for (u64 i = 0; i < 3; i++) {
    v[i] = elements<Fr>({kind, 10 * u64(log_n) + i}, n);
    v[i].resize(rows);
  }
  if (!c_given)
    for (u64 i = 0; i < rows; i++) v[2][i] = mul(v[0][i], v[1][i]);
  auto want = quotient(layout, log_n, v[0], v[1], v[2]);
  if (form == Form::kCanonical)
    for (auto& x : v)
      for (auto& e : x) e = from_montgomery(e);
  const auto a = upload(v[0], n, s), b = upload(v[1], n, s), c = upload(c_given ? v[2] : std::vector<Fr>(), n, s);
  q.compute(s, a.get(), b.get(), c.get(), rows, form, c_given);
  const auto got = download(c, s);
  u64 wrong = 0;
  for (u64 i = 0; i < q.scalars(); i++) wrong += !equal(got[q.position(i)], want[i]);
  expect(wrong, std::string("quotient ") + field_name<Fr>() + " layout " + std::to_string(int(layout)) + " 2^" + std::to_string(log_n) +
                    " form " + std::to_string(int(form)) + (c_given ? " c given" : "") + " input " + std::to_string(int(kind)));
}

// Positions are a permutation.
void check_positions() {
  for (int log_n = 0; log_n <= 20; log_n++) {
    const auto plan = ntt::standard_plan(log_n);
    std::vector<bool> seen(plan.size());
    u64 wrong = 0;
    for (u64 i = 0; i < plan.size(); i++) {
      const u64 at = plan.position(i);
      if (at >= plan.size() || seen[at]) wrong++;
      else seen[at] = true;
    }
    expect(wrong + (plan.log_n != log_n), "positions of 2^" + std::to_string(log_n));
  }
}

// Where the doubled domain does not exist, snarkjs shifts by 25.
void check_snarkjs_shift() {
  expect(!equal(ntt::snarkjs_shift<Bn254Fr>(28), ntt::from_integer<Bn254Fr>(25)), "snarkjs shift at the 2-adicity");
  const Bn254Fr shift = ntt::snarkjs_shift<Bn254Fr>(27);
  expect(!equal(ntt::power(shift, u64(1) << 27), neg(Bn254Fr::one())), "snarkjs shift below the 2-adicity");
  expect(ntt::two_adicity<Bls12381Fr>() != 32 || ntt::two_adicity<Bn254Fr>() != 28, "2-adicity");
}

template <class Fr>
void check_field(std::vector<u32> generators) {
  for (u32 g : generators) {
    for (int log_n = 0; log_n <= 13; log_n++) check_size<Fr>(g, log_n, Kind::kRandom);
    for (int log_n : {1, 8, 13})
      for (Kind kind : {Kind::kZero, Kind::kOneHot, Kind::kLargest, Kind::kSparse}) check_size<Fr>(g, log_n, kind);
    if (large())
      for (int log_n : {15, 17}) check_size<Fr>(g, log_n, Kind::kSparse);
  }
  for (Layout layout : {Layout::kCoefficients, Layout::kGnark, Layout::kSnarkjs}) {
    for (int log_n : {0, 1, 2, 5, 10, 12})
      for (Form form : {Form::kCanonical, Form::kMontgomery})
        for (bool c_given : {false, true})
          check_quotient<Fr>(layout, log_n, (u64(1) << log_n) - (log_n > 1 ? 1 : 0), form, c_given, Kind::kRandom);
    check_quotient<Fr>(layout, 7, 0, Form::kMontgomery, true, Kind::kRandom);
    check_quotient<Fr>(layout, 7, 128, Form::kCanonical, false, Kind::kLargest);
    check_quotient<Fr>(layout, 7, 100, Form::kCanonical, true, Kind::kSparse);
    if (large()) check_quotient<Fr>(layout, 17, 100000, Form::kMontgomery, true, Kind::kSparse);
  }
}

// Every size of digit, and three passes with both kinds of tables.
template <class Fr>
void check_plans(u32 generator) {
  check_plan<Fr>(generator, ntt::make_plan(8, 0, 6), false);
  if (!large()) return;
  for (int first : {6, 7, 8, 9, 10}) check_plan<Fr>(generator, ntt::make_plan(first, 0, 9), false);
  check_quotient<Fr>(Layout::kSnarkjs, 19, 400000, Form::kCanonical, false, Kind::kRandom, 0);
}

// ---- sizes for a device ----

template <class Fr>
__global__ void fill_kernel(Input input, Fr* out, u32 n) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) store(out + i, element<Fr>(input, i, n));
}
template <class Fr>
__global__ void differing_kernel(Input input, const Fr* v, u32 n, u32* wrong) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && !equal(load(v + i), element<Fr>(input, i, n))) atomicAdd(wrong, 1u);
}
template <class Fr>
DeviceArray<Fr> filled(Input input, u64 n, cudaStream_t s) {
  DeviceArray<Fr> d(n);
  launch(fill_kernel<Fr>, u32((n + 255) / 256), 256, 0, s, input, d.get(), u32(n));
  return d;
}
template <class Fr>
u64 differing(Input input, const DeviceArray<Fr>& v, const Stream& s) {
  DeviceArray<u32> wrong(1);
  wrong.clear(s);
  launch(differing_kernel<Fr>, u32((v.size() + 255) / 256), 256, 0, s, input, v.get(), u32(v.size()), wrong.get());
  return download(wrong, s)[0];
}
template <class Fr>
Fr at(const DeviceArray<Fr>& v, u64 i, const Stream& s) {
  Fr r;
  v.download(&r, 1, s, i);
  s.synchronize();
  return r;
}
std::vector<u64> some_indices(u64 n) { return {0, 1, n / 3, n - 1}; }

// Values of a forward transform by Horner's rule, round trips with either kind of tables, powers of a coset.
template <class Fr>
void check_large(u32 generator, int log_n, Kind kind, bool small_tables) {
  const std::string name = std::string("large ") + field_name<Fr>() + " 2^" + std::to_string(log_n) + (small_tables ? " small tables" : "");
  const Stream s;
  ntt::Options options;
  options.table_limit = small_tables ? 0 : ~std::size_t(0);
  const Ntt<Fr> ntt(log_n, generator, options);
  const u64 n = ntt.size();
  const Input input{kind, u64(log_n)};
  const auto in = filled<Fr>(input, n, s);
  DeviceArray<Fr> out(n);
  ntt.forward(s, in.get(), out.get());
  const Fr w = ntt::root_of_unity<Fr>(generator, log_n);
  u64 wrong = 0;
  if (!small_tables)
    for (u64 j : some_indices(n))
      wrong += !equal(at(out, j, s), evaluate(n, ntt::power(w, j), [&](u64 i) { return element<Fr>(input, ntt.position(i), n); }));
  expect(wrong, name + ": values by Horner's rule");
  {
    const auto plain = ntt.make_coset(Fr::one(), {Fr::one()});
    ntt.inverse(s, out.get(), out.get(), plain);
    expect(differing(input, out, s), name + ": inverse of forward");
  }
  const Fr shift = ntt::from_integer<Fr>(generator);
  const auto coset = ntt.make_coset(shift, {Fr::one()}, options.table_limit);
  ntt.forward(s, in.get(), out.get());
  ntt.inverse(s, out.get(), out.get(), coset);
  wrong = 0;
  for (u64 i : some_indices(n))
    wrong += !equal(at(out, ntt.position(i), s), mul(ntt::power(shift, i), element<Fr>(input, ntt.position(i), n)));
  expect(wrong, name + ": powers of a coset");
}

// The scalars at some points: h(x) Z(x) = a(x) b(x) - c(x) for the coefficients h, the values themselves for snarkjs.
template <class Fr>
void check_large_quotient(Layout layout, int log_n) {
  const Stream s;
  const Quotient<Fr> q(layout, log_n);
  const u64 n = q.domain();
  const u32 g = generator<Fr>(layout);
  const Fr w = ntt::root_of_unity<Fr>(g, log_n);
  std::vector<Fr> polynomial[3];
  DeviceArray<Fr> vectors[3];
  for (u64 k = 0; k < 2; k++) polynomial[k] = elements<Fr>({Kind::kSparse, k}, n);
  polynomial[2].resize(n);
  for (u64 i = 0; i < n; i++) polynomial[2][i] = mul(polynomial[0][i], polynomial[1][i]);
  for (int k = 0; k < 3; k++) {
    vectors[k] = upload(polynomial[k], n, s);
    interpolate(polynomial[k], log_n, w);
  }
  q.compute(s, vectors[0].get(), vectors[1].get(), vectors[2].get(), n, Form::kMontgomery, true);
  const auto scalars = download(vectors[2], s);
  const auto difference_at = [&](const Fr& x) {
    Fr v[3];
    for (int k = 0; k < 3; k++) v[k] = evaluate(n, x, [&](u64 i) { return polynomial[k][i]; });
    return sub(mul(v[0], v[1]), v[2]);
  };
  u64 wrong = 0;
  if (layout == Layout::kSnarkjs) {
    for (u64 i : some_indices(n)) {
      const Fr x = mul(ntt::snarkjs_shift<Fr>(log_n), ntt::power(w, i));
      wrong += !equal(scalars[q.position(i)], from_montgomery(difference_at(x)));
    }
  } else {
    const Fr x = ntt::from_integer<Fr>(0x123456789);
    const auto coefficient = [&](u64 i) {
      if (i == n - 1) return Fr::zero();
      return to_montgomery(scalars[q.position(layout == Layout::kGnark ? reverse_bits(i, log_n) : i)]);
    };
    const Fr vanishing = sub(ntt::power(x, n), Fr::one());
    wrong += !equal(mul(evaluate(n, x, coefficient), vanishing), difference_at(x));
  }
  expect(wrong, std::string("large quotient ") + field_name<Fr>() + " layout " + std::to_string(int(layout)));
}

template <class Fr>
void check_large_sizes(u32 generator, int largest) {
  for (int log_n = 14; log_n <= largest; log_n++) check_large<Fr>(generator, log_n, log_n % 2 ? Kind::kRandom : Kind::kSparse, false);
  for (int log_n : {19, 22, 24}) check_large<Fr>(generator, log_n, Kind::kRandom, true);
  for (Layout layout : {Layout::kCoefficients, Layout::kGnark, Layout::kSnarkjs}) check_large_quotient<Fr>(layout, 20);
}

}  // namespace

// The argument is the largest size tried on a device, 27 unless given; with 0 only what the emulator does too.
int main([[maybe_unused]] int argc, [[maybe_unused]] char** argv) {
  check_positions();
  check_snarkjs_shift();
  check_field<Bls12381Fr>({5, 7});
  check_field<Bn254Fr>({5});
  check_plan<Bls12381Fr>(7, ntt::make_plan(6, 6, 6), true);
  check_plan<Bn254Fr>(5, ntt::make_plan(6, 6, 6), false);
  check_plans<Bls12381Fr>(5);
  check_plans<Bn254Fr>(5);
  const int largest = CUZK_EMULATED ? 0 : argc > 1 ? std::atoi(argv[1]) : 27;
  if (largest) {
    check_large_sizes<Bls12381Fr>(7, largest);
    check_large_sizes<Bn254Fr>(5, largest);
  }
  std::printf("%d checks, %d failed\n", checks, failures);
  return failures != 0;
}
