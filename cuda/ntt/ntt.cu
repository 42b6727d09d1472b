#include "ntt/ntt.cuh"

#include <stdexcept>
#include <string>

#include "ntt/run.cuh"
#include "ntt/tables.cuh"

namespace cuzk {

using namespace ntt;

namespace {

template <class Fr>
RadixEight<Fr> radix_eight(u32 generator) {
  const Fr w = root_of_unity<Fr>(generator, 3), inverse_w = ::cuzk::inverse(w);
  const Fr half = ::cuzk::inverse(from_integer<Fr>(2));
  const Quarter<Fr> quarter = shoup(sqr(w));
  if (kQuarterIsZCubed<typename Fr::Params> && !is_z_cubed(quarter)) throw std::invalid_argument("no transforms with roots of this generator");
  return {quarter, shoup(mul(half, add(w, inverse_w))), shoup(mul(half, sub(w, inverse_w)))};
}

// The pairs of StageRoots::stages.
template <class Fr>
DeviceArray<uint4> make_stage_roots(u32 generator, cudaStream_t s) {
  DeviceArray<uint4> words(pair_words(kStageRoots));
  TableEntries<Fr> t{7, 64, 1};
  t.root = root_of_unity<Fr>(generator, 9);
  fill_pairs(t, words.get(), s);
  t.columns = 8;
  t.root = root_of_unity<Fr>(generator, 6);
  fill_pairs(t, words.get() + pair_words(kW64At), s);
  return words;
}

u32 parts_of(int log) { return log == 8 ? 4 : log == 7 || log == 10 ? 2 : 1; }

// The pairs of StageRoots::parts for a digit of `log` bits.
template <class Fr>
DeviceArray<uint4> make_part_roots(int log, u32 generator, cudaStream_t s) {
  const u32 parts = parts_of(log);
  if (parts == 1) return {};
  TableEntries<Fr> t{parts - 1, (1u << log) / parts, 1};
  t.root = root_of_unity<Fr>(generator, log);
  return make_pairs(t, s);
}

template <class Fr>
Pairs<Fr> view(const DeviceArray<uint4>& words) {
  return {words.get(), u32(words.size() / 4)};
}

// A vector made from a source, for the kernels that read only vectors.
template <class Fr, class Source>
__global__ void materialize_kernel(Source source, Fr* out, u32 n) {
  const u32 i = blockIdx.x * kTableThreads + threadIdx.x;
  if (i < n) store_stream(out + i, reduce(source.at(i)));
}

}  // namespace

template <class Fr>
Ntt<Fr>::Ntt(int log_n, u32 generator, const Options& options) {
  if (log_n < 0 || log_n > kMaxLog || log_n > two_adicity<Fr>())
    throw std::invalid_argument("there is no transform of 2^" + std::to_string(log_n) + " values");
  plan_ = options.plan ? *options.plan : standard_plan(log_n);
  root_ = root_of_unity<Fr>(generator, log_n);
  const Stream s;
  if (plan_.one_block()) {
    TableEntries<Fr> t{1, std::max(1u, u32(size() / 2)), 1};
    t.root = root_;
    one_block_ = make_pairs(t, s);
  } else {
    eight_ = radix_eight<Fr>(generator);
    stages_ = make_stage_roots<Fr>(generator, s);
    parts_ = make_part_roots<Fr>(plan_.first, generator, s);
    forward_ = make_factors(Fr::one(), false, options.table_limit, s);
  }
  s.synchronize();
}

template <class Fr>
std::size_t Ntt<Fr>::table_bytes() const {
  return stages_.bytes() + parts_.bytes() + one_block_.bytes() + forward_.bytes();
}

template <class Fr>
std::size_t Coset<Fr>::table_bytes() const {
  std::size_t n = factors_.bytes();
  for (const auto& l : last_) n += l.bytes();
  return n;
}

template <class Fr>
PassFactors<Fr> Ntt<Fr>::make_factors(const Fr& shift, bool inverse, std::size_t table_limit, cudaStream_t s) const {
  const Plan& p = plan_;
  const Fr root = inverse ? ::cuzk::inverse(root_) : root_;
  const u32 first = 1u << p.first, middle = 1u << p.middle, last = 1u << p.last;
  PassFactors<Fr> f;
  if (!p.three_passes()) {
    if (inverse) {
      f.large = make_large_table(p.first, p.last, root, shift, s);
    } else {
      TableEntries<Fr> t{first, last};
      t.root = root;
      f.small = make_pairs(t, s);
    }
    return f;
  }
  TableEntries<Fr> t{middle, last};
  t.root = power(root, first);
  t.row_base = power(shift, first);
  f.small = make_pairs(t, s);
  if (size() * sizeof(Fr) <= table_limit) {
    f.large = make_large_table(p.first, p.middle + p.last, root, shift, s);
    return f;
  }
  // Rows and columns are such that what varies within a block of the pass is contiguous: pair_table().
  const Fr high_root = power(root, last);
  if (inverse) {
    TableEntries<Fr> low{last, first}, high{middle, first};
    low.root = root;
    high.root = high_root;
    high.column_base = shift;
    f.low = make_pairs(low, s);
    f.high = make_pairs(high, s);
  } else {
    TableEntries<Fr> low{first, last}, high{first, middle};
    low.root = root;
    high.root = high_root;
    f.low = make_pairs(low, s);
    f.high = make_pairs(high, s);
  }
  return f;
}

template <class Fr>
PairTable<Fr> Ntt<Fr>::pair_table(const PassFactors<Fr>& f, bool inverse) const {
  PairTable<Fr> t;
  t.low = view<Fr>(f.low);
  t.high = view<Fr>(f.high);
  t.log_first_stride = u32(plan_.log_first_stride());
  t.log_low = u32(plan_.last);
  t.low_digit_step = inverse ? 1 : 1u << plan_.last;
  t.low_rest_step = inverse ? 1u << plan_.first : 1;
  t.high_digit_step = inverse ? 1 : 1u << plan_.middle;
  t.high_rest_step = inverse ? 1u << plan_.first : 1;
  return t;
}

template <class Fr>
Coset<Fr> Ntt<Fr>::make_coset(const Fr& shift, const std::vector<Fr>& constants, std::size_t table_limit) const {
  const Stream s;
  Coset<Fr> c;
  // One block scales every coefficient by itself, passes share the powers of the shift out to the digits.
  TableEntries<Fr> last{plan_.one_block() ? u32(size()) : 1u << plan_.last, 1};
  last.row_base = plan_.one_block() ? shift : power(shift, u64(1) << (plan_.first + plan_.middle));
  if (!plan_.one_block()) c.factors_ = make_factors(shift, true, table_limit, s);
  const Fr inverse_n = ::cuzk::inverse(from_integer<Fr>(size()));
  for (const Fr& constant : constants) {
    last.constant = mul(constant, inverse_n);
    c.last_.push_back(make_pairs(last, s));
  }
  s.synchronize();
  return c;
}

template <class Fr>
template <class Source, class Finish>
Pass<Fr, Source, Finish> Ntt<Fr>::make_pass(int log_stride, const Source& source, const Finish& finish, Fr* out, bool inverse) const {
  return {source, finish, out, u32(log_stride), inverse, {view<Fr>(parts_), stages_.get(), eight_}};
}

template <class Fr>
template <class Source, class Finish>
void Ntt<Fr>::run_first(cudaStream_t s, const Source& source, const Finish& finish, Fr* out, bool inverse) const {
  run_strided(plan_.first, make_pass(plan_.log_first_stride(), source, finish, out, inverse), plan_.log_n, s);
}

template <class Fr>
template <class Source, class Finish>
void Ntt<Fr>::run_middle(cudaStream_t s, const Source& source, const Finish& finish, Fr* out, bool inverse) const {
  run_strided(plan_.middle, make_pass(plan_.last, source, finish, out, inverse), plan_.log_n, s);
}

template <class Fr>
template <class Finish>
void Ntt<Fr>::run_last(cudaStream_t s, const Dense<Fr>& source, const Finish& finish, Fr* out, bool inverse) const {
  run_contiguous(plan_.last, make_pass(0, source, finish, out, inverse), plan_.log_n, s);
}

template <class Fr>
void Ntt<Fr>::forward(cudaStream_t s, const Fr* in, Fr* out, const Combine<Fr>& combine) const {
  if (plan_.one_block()) {
    return run_one_block(OneBlock<Fr, Dense<Fr>, Combine<Fr>>{{in}, combine, out, plan_.log_n, false, view<Fr>(one_block_)}, s);
  }
  run_last(s, Dense<Fr>{in}, SmallTable<Fr, false>{view<Fr>(forward_.small)}, out, false);
  const Dense<Fr> written{out};
  if (plan_.three_passes()) {
    const Padded<Fr> whole{out, u32(size())};
    if (forward_.large) {
      run_middle(s, whole, LargeTable<Fr>{forward_.large.get()}, out, false);
    } else {
      run_middle(s, whole, pair_table(forward_, false), out, false);
    }
  }
  run_first(s, written, combine, out, false);
}

template <class Fr>
template <class Source>
void Ntt<Fr>::inverse_of(cudaStream_t s, const Source& source, Fr* out, const Coset<Fr>& coset, std::size_t constant) const {
  const PassFactors<Fr>& f = coset.factors_;
  const SmallTable<Fr, true> last{view<Fr>(coset.last_.at(constant))};
  if (plan_.one_block()) {
    return run_one_block(OneBlock<Fr, Source, SmallTable<Fr, true>>{source, last, out, plan_.log_n, true, view<Fr>(one_block_)}, s);
  }
  const Dense<Fr> written{out};
  if (f.large) {
    run_first(s, source, LargeTable<Fr>{f.large.get()}, out, true);
  } else if constexpr (std::is_same_v<Source, Padded<Fr>>) {
    run_first(s, source, pair_table(f, true), out, true);
  } else {
    launch(materialize_kernel<Fr, Source>, table_blocks(size()), kTableThreads, 0, s, source, out, u32(size()));
    run_first(s, Padded<Fr>{out, u32(size())}, pair_table(f, true), out, true);
  }
  if (plan_.three_passes()) run_middle(s, written, SmallTable<Fr, false>{view<Fr>(f.small)}, out, true);
  run_last(s, written, last, out, true);
}

template class Coset<Bls12381Fr>;
template class Coset<Bn254Fr>;
template class Ntt<Bls12381Fr>;
template class Ntt<Bn254Fr>;
template void Ntt<Bls12381Fr>::inverse_of(cudaStream_t, const Padded<Bls12381Fr>&, Bls12381Fr*, const Coset<Bls12381Fr>&, std::size_t) const;
template void Ntt<Bls12381Fr>::inverse_of(cudaStream_t, const Product<Bls12381Fr>&, Bls12381Fr*, const Coset<Bls12381Fr>&, std::size_t) const;
template void Ntt<Bn254Fr>::inverse_of(cudaStream_t, const Padded<Bn254Fr>&, Bn254Fr*, const Coset<Bn254Fr>&, std::size_t) const;
template void Ntt<Bn254Fr>::inverse_of(cudaStream_t, const Product<Bn254Fr>&, Bn254Fr*, const Coset<Bn254Fr>&, std::size_t) const;

}  // namespace cuzk
