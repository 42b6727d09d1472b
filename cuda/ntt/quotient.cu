#include "ntt/quotient.cuh"

#include <algorithm>
#include <stdexcept>

#include "ntt/roots.h"

namespace cuzk {

using namespace ntt;

namespace {

// The generator of the field's group that a layout's domain goes by.
template <class Fr>
u32 generator_of(Layout layout) {
  return std::is_same_v<Fr, Bls12381Fr> && layout != Layout::kSnarkjs ? 7 : 5;
}

template <class Fr>
Fr shift_of(Layout layout, int log_n) {
  return layout == Layout::kSnarkjs ? snarkjs_shift<Fr>(log_n) : from_integer<Fr>(generator_of<Fr>(layout));
}

// Constants by which coefficients are multiplied on the way to the coset, so that the products come out as integers: one
// factor of a product of Montgomery's must be in Montgomery form and the other not. Elements of the table are in Montgomery
// form themselves: one() keeps the form, 1/R leaves Montgomery form and R enters it.
enum Constant : std::size_t { kKeep, kLeaveMontgomery, kEnterMontgomery };
template <class Fr>
std::vector<Fr> form_constants() {
  const Fr r = to_montgomery(Fr::one());
  return {Fr::one(), inverse(r), r};
}

// What is left of a limit.
std::size_t less(std::size_t limit, std::size_t used) { return limit - std::min(limit, used); }

}  // namespace

template <class Fr>
Quotient<Fr>::Quotient(Layout layout, int log_n, std::size_t table_limit)
    : layout_(layout), ntt_(log_n, generator_of<Fr>(layout), {table_limit}) {
  const Fr shift = shift_of<Fr>(layout, log_n);
  table_limit = less(table_limit, ntt_.table_bytes());
  to_coset_ = ntt_.make_coset(shift, form_constants<Fr>(), table_limit);
  if (layout == Layout::kSnarkjs) return;
  table_limit = less(table_limit, to_coset_.table_bytes());
  const Fr vanishing = sub(power(shift, ntt_.size()), Fr::one());
  from_coset_ = ntt_.make_coset(inverse(shift), {inverse(vanishing)}, table_limit);
}

template <class Fr>
u64 Quotient<Fr>::position(u64 i) const {
  switch (layout_) {
    case Layout::kSnarkjs: return i;
    case Layout::kCoefficients: return ntt_.position(i);
    case Layout::kGnark: break;
  }
  u64 reversed = 0;
  for (int bit = 0; bit < ntt_.log_size(); bit++) reversed |= (i >> bit & 1) << (ntt_.log_size() - 1 - bit);
  return ntt_.position(reversed);
}

template <class Fr>
std::size_t Quotient<Fr>::table_bytes() const {
  return ntt_.table_bytes() + to_coset_.table_bytes() + from_coset_.table_bytes();
}

template <class Fr>
void Quotient<Fr>::coset_product(cudaStream_t s, Fr* a, Fr* b, u64 rows, Form form) const {
  if (rows > domain()) throw std::invalid_argument("more rows than the domain holds");
  ntt_.inverse_of(s, Padded<Fr>{a, u32(rows)}, a, to_coset_, kKeep);
  ntt_.forward(s, a, a);
  ntt_.inverse_of(s, Padded<Fr>{b, u32(rows)}, b, to_coset_, form == Form::kMontgomery ? kLeaveMontgomery : kEnterMontgomery);
  ntt_.forward(s, b, b, {Pointwise::kMultiply, a});
}

template <class Fr>
void Quotient<Fr>::subtract(cudaStream_t s, const Fr* product, Fr* c, u64 rows, Form form) const {
  ntt_.inverse_of(s, Padded<Fr>{c, u32(rows)}, c, to_coset_, form == Form::kMontgomery ? kLeaveMontgomery : kKeep);
  finish(s, product, c);
}

// From the coefficients of c, scaled for the coset.
template <class Fr>
void Quotient<Fr>::finish(cudaStream_t s, const Fr* product, Fr* c) const {
  ntt_.forward(s, c, c, {Pointwise::kSubtractFrom, product});
  if (layout_ != Layout::kSnarkjs) ntt_.inverse(s, c, c, from_coset_);
}

template <class Fr>
void Quotient<Fr>::compute(cudaStream_t s, Fr* a, Fr* b, Fr* c, u64 rows, Form form, bool c_given) const {
  if (c_given) {
    coset_product(s, a, b, rows, form);
    return subtract(s, b, c, rows, form);
  }
  // The product of two integers by Montgomery lacks a factor R, that of two elements has one too many.
  ntt_.inverse_of(s, Product<Fr>{a, b, u32(rows)}, c, to_coset_, form == Form::kMontgomery ? kLeaveMontgomery : kEnterMontgomery);
  coset_product(s, a, b, rows, form);
  finish(s, b, c);
}

template class Quotient<Bls12381Fr>;
template class Quotient<Bn254Fr>;

}  // namespace cuzk
