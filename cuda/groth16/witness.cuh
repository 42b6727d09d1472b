// A witness on the device: values as integers, sorted by what their product with a point costs.
//
// Cost: one pass over the values (32 bytes a wire), a product in Fr for those that come in Montgomery form.
#pragma once

#include "groth16/scalars.h"
#include "groth16/selection.h"
#include "ntt/quotient.cuh"

namespace cuzk::groth16 {

// What the kernels found wrong in a proof's input: indices of elements, ~0 where there is none.
struct Faults {
  u32 witness;      // an element not below the modulus
  u32 one;          // 0: wire 0 is not one
  u32 evaluated[3]; // elements of A, B and C not below the modulus
};

namespace detail {

constexpr u32 kElementThreads = 256;

inline u32 element_blocks(u64 n) { return u32((n + kElementThreads - 1) / kElementThreads); }

// Makes values canonical and tells for each word of 32 which are one, and which neither zero nor one. The grid covers whole
// blocks of the bitmaps.
template <class Fr>
__global__ void __launch_bounds__(kElementThreads) classify_kernel(Fr* values, u64 n, Form form, u32* ones, u32* others, Faults* faults) {
  const u64 wire = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  bool one = false, other = false;
  if (wire < n) {
    Fr v = load(values + wire);
    if (!below_modulus(v)) atomicMin(&faults->witness, u32(wire));
    one = equal(v, form == Form::kMontgomery ? Fr::one() : integer_one<Fr>());
    other = !one && !is_zero(v);
    if (form == Form::kMontgomery && (one || other)) store(values + wire, one ? integer_one<Fr>() : from_montgomery(v));
    if (wire == 0 && !one) faults->one = 0;
  }
  const u32 word_ones = __ballot_sync(~0u, one), word_others = __ballot_sync(~0u, other);
  if (wire % kWarp == 0) {
    ones[wire / kWarp] = word_ones;
    others[wire / kWarp] = word_others;
  }
}

// Spreads a witness whose bits are kept apart: the value of a wire that is no bit stands at its rank among those.
template <class Fr>
__global__ void __launch_bounds__(kElementThreads)
    spread_kernel(const u32* bits, const u32* bit_values, const u32* not_bits, const u32* rank, const Fr* full, u64 full_count, Fr one,
                 u64 n, Fr* values) {
  const u64 wire = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (wire >= n) return;
  const u32 word = u32(wire / kWarp), lane = u32(wire % kWarp);
  Fr v;
  if (bits[word] >> lane & 1) {
    v = bit_values[word] >> lane & 1 ? one : Fr::zero();
  } else {
    const u64 at = rank[word] + __popc(not_bits[word] & ((1u << lane) - 1));
    v = at < full_count ? load(full + at) : Fr::zero();  // too few are an error that the caller finds
  }
  store(values + wire, v);
}

template <class Fr>
__global__ void __launch_bounds__(kElementThreads) check_below_modulus_kernel(const Fr* values, u64 n, u32* fault) {
  const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n && !below_modulus(load(values + i))) atomicMin(fault, u32(i));
}

}  // namespace detail

template <class Fr>
class DeviceWitness {
 public:
  DeviceWitness() = default;
  // If the witness is packed, `count` elements that come beside bits lie at `full` until they are sorted.
  DeviceWitness(u64 wires, bool packed, u64 count, Fr* full, Arena& arena) : wires_(wires), packed_(packed), full_count_(count), full_(full) {
    const std::size_t words = bitmap_words(wires);
    values_ = arena.take<Fr>(wires);
    ones_ = arena.take<u32>(words);
    others_ = arena.take<u32>(words);
    if (!packed) return;
    bits_ = arena.take<u32>(words);
    bit_values_ = arena.take<u32>(words);
    not_bits_ = arena.take<u32>(words);
    rank_ = arena.take<u32>(words);
    sums_ = arena.take<u32>(selection_blocks(wires) + 1);
  }

  u64 wires() const { return wires_; }
  const Fr* values() const { return values_; }
  const u32* ones() const { return ones_; }
  const u32* others() const { return others_; }

  // Where what comes from the caller goes.
  Fr* elements() const { return packed_ ? full_ : values_; }
  u32* bits() const { return bits_; }
  u32* bit_values() const { return bit_values_; }

  // Number of wires that are no bits, on the device, once `sort` has been enqueued.
  const u32* full_count() const { return packed_ ? sums_ + selection_blocks(wires_) : nullptr; }

  // Makes values, ones and others from what came in this form.
  void sort(cudaStream_t stream, Form form, Faults* faults) {
    using namespace detail;
    const u32 blocks = selection_blocks(wires_);
    if (packed_) {
      complement(stream, bits_, wires_, not_bits_);
      count_members(stream, {{not_bits_}, {not_bits_}}, 1, blocks, sums_);
      rank_members(stream, not_bits_, sums_, blocks, rank_);
      const Fr one = form == Form::kMontgomery ? Fr::one() : integer_one<Fr>();
      launch(spread_kernel<Fr>, element_blocks(wires_), kElementThreads, 0, stream, bits_, bit_values_, not_bits_, rank_, full_,
             full_count_, one, wires_, values_);
    }
    launch(classify_kernel<Fr>, blocks * (kWiresPerBlock / kElementThreads), kElementThreads, 0, stream, values_, wires_, form, ones_,
           others_, faults);
  }

 private:
  u64 wires_ = 0;
  bool packed_ = false;
  u64 full_count_ = 0;
  Fr* values_ = nullptr;
  u32 *ones_ = nullptr, *others_ = nullptr;
  Fr* full_ = nullptr;
  u32 *bits_ = nullptr, *bit_values_ = nullptr, *not_bits_ = nullptr, *rank_ = nullptr, *sums_ = nullptr;
};

}  // namespace cuzk::groth16
