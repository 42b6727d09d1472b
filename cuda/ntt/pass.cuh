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

// Keeps the assembler from computing several values at once, for which there are no registers: it moves no store over a
// barrier.
CUZK_D void end_of_value() {
#if CUZK_DEVICE_CODE
  __syncwarp();
#endif
}

// First stage, of radix 2 or 4: from memory to kParts transforms of kPart points in shared memory.
template <class Fr, int kLog, class Write, class Read>
CUZK_D void split_into_parts(const StageRoots<Fr>& roots, u32 lane, Write write, Read read) {
  using S = Shape<kLog>;
  Fr v[8];
  CUZK_UNROLL
  for (u32 j = 0; j < 8; j++) v[j] = read(j);
  constexpr u32 kGroups = 8 / S::kParts;
  CUZK_UNROLL
  for (u32 i = 0; i < kGroups; i++) {
    const u32 x = lane + i * S::kLanes;
    if constexpr (S::kParts == 2) {
      butterfly(v[i], v[i + 4]);
    } else {
      radix_four(roots.eight, v[i], v[i + 2], v[i + 4], v[i + 6]);
    }
    CUZK_UNROLL
    for (u32 k = 0; k < S::kParts; k++) {
      const u32 output = S::kParts == 2 ? k : four_output(k);
      Fr r = v[i + k * kGroups];
      if (output) r = mul_shoup(r, roots.parts.at((output - 1) * S::kPart + x));
      write(output, x, r);
    }
  }
}

// The stages of radix 8. Four values are held at a time: once the first butterflies are done, the sums, of which the even
// outputs are made, wait in the thread's own places of shared memory. That saves registers for half as many more warps.
template <class Fr, int kLog, bool kStrided, class Source, class Finish>
__global__ void __launch_bounds__(Shape<kLog>::kThreads, Shape<kLog>::kBlocksPerMultiprocessor)
    pass_kernel(const __grid_constant__ Pass<Fr, Source, Finish> pass) {
  using S = Shape<kLog>;
  using ThreadSlots = Slots<S::kStages, kStrided ? S::kColumns * 16 : 16>;
  CUZK_DYNAMIC_SHARED(uint4, shared);
  const u32 column = kStrided ? threadIdx.x % S::kColumns : threadIdx.x / S::kLanes;
  const u32 lane = kStrided ? threadIdx.x / S::kColumns : threadIdx.x % S::kLanes;
  const u32 part = lane / S::kPartLanes, t = lane % S::kPartLanes;
  const SharedValues<Fr, S::kPoints * 16> values(shared + (kStrided ? column : column * S::kSize));

  const u32 q = blockIdx.x * S::kColumns + column;
  const u32 outer = q >> pass.log_stride;
  const u32 origin = (outer << (pass.log_stride + kLog)) + (q - (outer << pass.log_stride));
  const auto read = [&](u32 j) { return pass.source.at(origin + ((lane + j * S::kLanes) << pass.log_stride)); };

  if constexpr (S::kParts > 1) {
    split_into_parts<Fr, kLog>(
        pass.roots, lane, [&](u32 k, u32 x, const Fr& v) { values.store(ThreadSlots::of_part(k) + ThreadSlots::of_index(x), v); }, read);
    __syncthreads();
  }
  CUZK_NO_UNROLL
  for (int stage = 0; stage < S::kStages; stage++) {
    const bool last = stage == S::kStages - 1;
    const ThreadSlots slots(stage, part, t);
    const bool w512 = S::kStages == 3 && stage == 0;
    const uint4* root = pass.roots.stages + Pairs<Fr>::place(w512 ? t : kW64At + (t & 7));
    const u32 root_step = Pairs<Fr>::place(w512 ? 64 : 8);
    // What becomes of four outputs, the j-th of which are told by `output`.
    const auto leave = [&](const Fr* v, auto output) {
      if (last) {
        const auto position = [&](u32 k) {
          // The inverse transform is the forward one with its outputs in the opposite order.
          const u32 row = part + S::kParts * (t + output(k) * S::kPartLanes);
          return origin + ((pass.inverse ? (0u - row) & (S::kSize - 1) : row) << pass.log_stride);
        };
        auto next = pass.finish.fetch(position(0));
        CUZK_UNROLL
        for (u32 k = 0; k < 4; k++) {
          const auto fetched = next;
          if (k < 3) next = pass.finish.fetch(position(k + 1));
          store_stream(pass.out + position(k), pass.finish.apply(position(k), v[k], fetched));
          end_of_value();
        }
      } else {
        CUZK_UNROLL
        for (u32 k = 0; k < 4; k++) {
          const u32 j = output(k);
          values.store(slots.at(j), j ? mul_shoup(v[k], load_pair<Fr>(root + (j - 1) * root_step)) : v[k]);
        }
      }
    };
    const auto odd = [](u32 k) { return odd_output(k); };
    const auto even = [](u32 k) { return 2 * four_output(k); };

    Fr x[8];
    if (S::kParts == 1 && stage == 0) {
      CUZK_UNROLL
      for (u32 j = 0; j < 8; j++) x[j] = read(j);
    } else {
      CUZK_UNROLL
      for (u32 j = 0; j < 8; j++) x[j] = values.load(slots.at(j));
    }
    CUZK_UNROLL
    for (u32 k = 0; k < 4; k++) {
      butterfly(x[k], x[k + 4]);
      values.store(slots.at(even(k)), x[k]);
    }
    odd_half(pass.roots.eight, x[4], x[5], x[6], x[7]);
    leave(x + 4, odd);
    CUZK_UNROLL
    for (u32 k = 0; k < 4; k++) x[k] = values.load(slots.at(even(k)));
    radix_four(pass.roots.eight, x[0], x[1], x[2], x[3]);
    leave(x, even);
    if (!last) __syncthreads();
  }
}

}  // namespace cuzk::ntt
