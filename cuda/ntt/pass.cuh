// The kernel of a pass: transforms over one digit of the index, in place or from one array to another.
#pragma once

#include "base/device.h"
#include "ntt/butterfly.cuh"
#include "ntt/planes.cuh"
#include "ntt/shape.h"

namespace cuzk::ntt {

// Roots of unity between the stages of a pass: Shoup pairs, powers of the root of the size named.
template <class Fr>
struct StageRoots {
  Planes<Fr> parts;     // w_size^(k x) at (k - 1) kPart + x: k = 1 .. kParts - 1, x < kPart
  const uint4* stages;  // planes of w_512^(k x) at (k - 1) 64 + x, then of w_64^(k x) at (k - 1) 8 + x: k = 1 .. 7
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

// 16 bytes of shared memory at once. The compiler cuts a load in four where it sees what was stored, and these would meet in
// the same banks.
CUZK_D uint4 load_shared(const uint4* p) {
#if CUZK_DEVICE_CODE
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(u32(__cvta_generic_to_shared(p)))
               : "memory");
  return v;
#else
  return *p;
#endif
}

// One transform of the block, in shared memory: two planes of 16 bytes.
template <class Fr, int kLog, bool kStrided>
class Column {
  using S = Shape<kLog>;

 public:
  CUZK_D Column(uint4* shared, u32 column) : p_(shared + (kStrided ? column : column * S::kSize)) {}
  CUZK_D Fr read(u32 part, u32 index) const {
    const uint4* p = at(part, index);
    Fr v;
    put_quad(v.limb, load_shared(p));
    put_quad(v.limb + 4, load_shared(p + S::kPoints));
    return v;
  }
  CUZK_D void write(u32 part, u32 index, const Fr& v) const {
    uint4* p = at(part, index);
    p[0] = quad(v.limb);
    p[S::kPoints] = quad(v.limb + 4);
  }

 private:
  CUZK_D uint4* at(u32 part, u32 index) const {
    const u32 place = part * S::kPart + swizzle<S::kStages>(index);
    return p_ + (kStrided ? place * S::kColumns : place);
  }
  uint4* p_;
};

// First stage, of radix 2 or 4: from memory to kParts transforms of kPart points in shared memory.
template <class Fr, int kLog, class Tile, class Read>
CUZK_D void split_into_parts(const StageRoots<Fr>& roots, u32 lane, const Tile& tile, Read read) {
  using S = Shape<kLog>;
  CUZK_UNROLL
  for (u32 i = 0; i < 8 / S::kParts; i++) {
    const u32 x = lane + i * S::kLanes;
    Fr v[4];
    CUZK_UNROLL
    for (u32 k = 0; k < S::kParts; k++) v[k] = read(x + k * S::kPart);
    if constexpr (S::kParts == 2) {
      butterfly(v[0], v[1]);
    } else {
      radix_four(roots.eight, v);
    }
    CUZK_UNROLL
    for (u32 k = 0; k < S::kParts; k++) {
      const u32 output = S::kParts == 2 ? k : four_output(k);
      if (output) v[k] = mul_shoup(v[k], roots.parts.at((output - 1) * S::kPart + x));
      tile.write(output, x, v[k]);
    }
  }
}

// The stages of radix 8. Four values are held at a time: once the first butterflies are done, the sums, of which the even
// outputs are made, wait in the thread's own places of shared memory. That saves registers for half as many more warps.
template <class Fr, int kLog, bool kStrided, class Source, class Finish>
__global__ void __launch_bounds__(Shape<kLog>::kThreads, Shape<kLog>::kBlocksPerMultiprocessor)
    pass_kernel(const __grid_constant__ Pass<Fr, Source, Finish> pass) {
  using S = Shape<kLog>;
  CUZK_DYNAMIC_SHARED(uint4, shared);
  const u32 column = kStrided ? threadIdx.x % S::kColumns : threadIdx.x / S::kLanes;
  const u32 lane = kStrided ? threadIdx.x / S::kColumns : threadIdx.x % S::kLanes;
  const u32 part = lane / S::kPartLanes, t = lane % S::kPartLanes;
  const Column<Fr, kLog, kStrided> tile(shared, column);

  const u32 q = blockIdx.x * S::kColumns + column;
  const u32 outer = q >> pass.log_stride;
  const u32 origin = (outer << (pass.log_stride + kLog)) + (q - (outer << pass.log_stride));
  const auto position = [&](u32 row) { return origin + (row << pass.log_stride); };
  const auto read = [&](u32 row) { return pass.source.at(position(row)); };

  if constexpr (S::kParts > 1) {
    split_into_parts<Fr, kLog>(pass.roots, lane, tile, read);
    __syncthreads();
  }
  CUZK_NO_UNROLL
  for (int stage = 0; stage < S::kStages; stage++) {
    const bool from_memory = S::kParts == 1 && stage == 0;
    const bool last = stage == S::kStages - 1;
    const auto index = [&](u32 j) { return stage_index<S::kStages>(stage, t, j); };
    const Planes<Fr> roots{pass.roots.stages, kStageRoots};
    const bool w512 = S::kStages == 3 && stage == 0;
    const u32 root = w512 ? t : kW64At + (t & 7), root_step = w512 ? 64 : 8;
    const auto leave = [&](u32 j, Fr v) {
      if (last) {
        // The inverse transform is the forward one with its outputs in the opposite order.
        const u32 row = part + S::kParts * (t + j * S::kPartLanes);
        const u32 at = position(pass.inverse ? (0u - row) & (S::kSize - 1) : row);
        store_stream(pass.out + at, pass.finish.apply(at, v));
        return;
      }
      if (j) v = mul_shoup(v, roots.at(root + (j - 1) * root_step));
      tile.write(part, index(j), v);
    };

    Fr y[4];
    CUZK_UNROLL
    for (u32 k = 0; k < 4; k++) {
      Fr a = from_memory ? read(t + k * S::kPartLanes) : tile.read(part, index(k));
      Fr b = from_memory ? read(t + (k + 4) * S::kPartLanes) : tile.read(part, index(k + 4));
      butterfly(a, b);
      tile.write(part, index(2 * four_output(k)), a);  // a place that has been read
      y[k] = b;
    }
    odd_half(pass.roots.eight, y);
    CUZK_UNROLL
    for (u32 k = 0; k < 4; k++) leave(odd_output(k), y[k]);
    CUZK_UNROLL
    for (u32 k = 0; k < 4; k++) y[k] = tile.read(part, index(2 * four_output(k)));
    radix_four(pass.roots.eight, y);
    CUZK_UNROLL
    for (u32 k = 0; k < 4; k++) leave(2 * four_output(k), y[k]);
    if (!last) __syncthreads();
  }
}

}  // namespace cuzk::ntt
