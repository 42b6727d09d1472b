// The kernel of a pass: transforms over one digit of the index, in place or from one array to another.
#pragma once

#include "base/device.h"
#include "ntt/butterfly.cuh"
#include "ntt/pairs.cuh"
#include "ntt/shape.h"
#include "ntt/shared_values.cuh"

namespace cuzk::ntt {

// Roots of unity between the stages of a pass: Shoup pairs, powers of the root of the size named.
template <class Fr>
struct StageRoots {
  Pairs<Fr> parts;     // w_size^(k x) at (k - 1) kPart + x: k = 1 .. kParts - 1, x < kPart
  const uint4* stages;  // pairs w_512^(k x) at (k - 1) 64 + x, then of w_64^(k x) at (k - 1) 8 + x: k = 1 .. 7
  RadixEight<Fr> eight;
};
constexpr u32 kW64At = 7 * 64, kStageRoots = kW64At + 7 * 8;

// Source reads the value at a position, Finish turns the transformed value at a position into what is stored.
template <class Fr, class Source, class Finish>
struct Pass {
  Source source;
  Finish finish;
  Fr* out;
  u32 log_stride;  // of the digit
  bool inverse;
  StageRoots<Fr> roots;
};

// What one thread of a block does: eight values of one transform in every stage.
template <class Fr, int kLog, bool kStrided, class Source, class Finish>
class PassThread {
  using S = Shape<kLog>;
  using Slots = StageSlots<S::kStages, kStrided ? S::kColumns * 16 : 16>;

 public:
  CUZK_D PassThread(const Pass<Fr, Source, Finish>& pass, uint4* shared) : PassThread(pass, shared, column()) {}

  // First stage, of radix 2 or 4: from memory to kParts transforms of kPart points in shared memory.
  CUZK_D void split_into_parts() const {
    constexpr u32 kGroups = 8 / S::kParts;
    Fr v[8];
    if constexpr (Source::kCheap) {
      CUZK_UNROLL
      for (u32 j = 0; j < 8; j++) v[j] = read(j);
      CUZK_UNROLL
      for (u32 i = 0; i < kGroups; i++) split_group(i, v + i, kGroups);
    } else {
      CUZK_NO_UNROLL
      for (u32 i = 0; i < kGroups; i++) {
        CUZK_UNROLL
        for (u32 k = 0; k < S::kParts; k++) v[k] = read(i + k * kGroups);
        split_group(i, v, 1);
      }
    }
  }

  // A stage of radix 8, compiled for each: as one loop it takes a tenth more instructions, for addresses. Four values are
  // held at a time: once the first butterflies are done, the sums, of which the even outputs are made, wait in the thread's
  // own places of shared memory. That saves registers for half as many more warps.
  template <int kStage>
  CUZK_D void run_stage() const {
    constexpr bool reads = kStage == 0 && S::kParts == 1, at_once = !reads || Source::kCheap;
    const Slots slots(kStage, part(), t());
    const auto value = [&](u32 j) { return reads ? read(j) : values_.load(slots.at(j)); };
    Fr x[8];
    if constexpr (at_once) {
      CUZK_UNROLL
      for (u32 j = 0; j < 8; j++) x[j] = value(j);
    }
    CUZK_UNROLL
    for (u32 k = 0; k < 4; k++) {
      if constexpr (!at_once) x[k] = value(k), x[k + 4] = value(k + 4);
      butterfly(x[k], x[k + 4]);
      values_.store(slots.at(even(k)), x[k]);
    }
    odd_half(pass_.roots.eight, x[4], x[5], x[6], x[7]);
    leave<kStage>(slots, x + 4, odd_output);
    CUZK_UNROLL
    for (u32 k = 0; k < 4; k++) x[k] = values_.load(slots.at(even(k)));
    radix_four(pass_.roots.eight, x[0], x[1], x[2], x[3]);
    leave<kStage>(slots, x, even);
  }

 private:
  static CUZK_D u32 column() { return kStrided ? threadIdx.x % S::kColumns : threadIdx.x / S::kLanes; }
  CUZK_D PassThread(const Pass<Fr, Source, Finish>& pass, uint4* shared, u32 column)
      : pass_(pass),
        values_(shared + (kStrided ? column : column * S::kSize)),
        lane_(kStrided ? threadIdx.x / S::kColumns : threadIdx.x % S::kLanes) {
    const u32 q = blockIdx.x * S::kColumns + column, outer = q >> pass.log_stride;
    origin_ = (outer << (pass.log_stride + kLog)) + (q - (outer << pass.log_stride));
  }

  // A transform of kParts values, i-th of the thread's: v[0], v[step], ...
  CUZK_D void split_group(u32 i, Fr* v, u32 step) const {
    const u32 x = lane_ + i * S::kLanes;
    if constexpr (S::kParts == 2) {
      butterfly(v[0], v[step]);
    } else {
      radix_four(pass_.roots.eight, v[0], v[step], v[2 * step], v[3 * step]);
    }
    CUZK_UNROLL
    for (u32 k = 0; k < S::kParts; k++) {
      const u32 output = S::kParts == 2 ? k : four_output(k);
      Fr r = v[k * step];
      if (output) r = mul_shoup(r, pass_.roots.parts.at((output - 1) * S::kPart + x));
      values_.store(Slots::of_part(output) + Slots::of_index(x), r);
    }
  }

  CUZK_D u32 part() const { return lane_ / S::kPartLanes; }
  CUZK_D u32 t() const { return lane_ % S::kPartLanes; }
  CUZK_D Fr read(u32 j) const { return pass_.source.at(origin_ + ((lane_ + j * S::kLanes) << pass_.log_stride)); }
  static constexpr CUZK_HD u32 even(u32 k) { return 2 * four_output(k); }

  // The inverse transform is the forward one with its outputs in the opposite order.
  CUZK_D u32 position(u32 j) const {
    const u32 row = part() + S::kParts * (t() + j * S::kPartLanes);
    return origin_ + ((pass_.inverse ? (0u - row) & (S::kSize - 1) : row) << pass_.log_stride);
  }

  // Four outputs go to the next stage, times roots of unity, or out of the pass. The k-th of them is number output(k).
  template <int kStage, class Output>
  CUZK_D void leave(const Slots& slots, const Fr* v, Output output) const {
    if constexpr (kStage < S::kStages - 1) {
      constexpr bool w512 = S::kStages == 3 && kStage == 0;
      const uint4* root = pass_.roots.stages + Pairs<Fr>::place(w512 ? t() : kW64At + (t() & 7));
      CUZK_UNROLL
      for (u32 k = 0; k < 4; k++) {
        const u32 j = output(k);
        values_.store(slots.at(j), j ? mul_shoup(v[k], load_pair<Fr>(root + (j - 1) * Pairs<Fr>::place(w512 ? 64 : 8))) : v[k]);
      }
    } else {
      CUZK_UNROLL
      for (u32 k = 0; k < 4; k++) {
        const u32 at = position(output(k));
        store_stream(pass_.out + at, pass_.finish.apply(at, v[k]));
      }
    }
  }

  const Pass<Fr, Source, Finish>& pass_;
  SharedValues<Fr, S::kPoints * 16> values_;
  u32 lane_, origin_;
};

template <class Fr, int kLog, bool kStrided, class Source, class Finish>
__global__ void __launch_bounds__(Shape<kLog>::kThreads, Shape<kLog>::kBlocksPerMultiprocessor)
    pass_kernel(const __grid_constant__ Pass<Fr, Source, Finish> pass) {
  using S = Shape<kLog>;
  CUZK_DYNAMIC_SHARED(uint4, shared);
  const PassThread<Fr, kLog, kStrided, Source, Finish> thread(pass, shared);
  if constexpr (S::kParts > 1) {
    thread.split_into_parts();
    __syncthreads();
  }
  thread.template run_stage<0>();
  __syncthreads();
  thread.template run_stage<1>();
  if constexpr (S::kStages == 3) {
    __syncthreads();
    thread.template run_stage<2>();
  }
}

}  // namespace cuzk::ntt
