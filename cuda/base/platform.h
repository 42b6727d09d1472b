// What every source of the engine stands on: the CUDA runtime under nvcc, or its emulation on the CPU under an ordinary
// C++ compiler. The same kernels are compiled both ways, so that their logic is tested where there is no GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#define CUZK_EMULATED 0
// Dynamic shared memory of a kernel, 16-byte aligned.
#define CUZK_DYNAMIC_SHARED(type, name)                       \
  extern __shared__ __align__(16) unsigned char cuzk_smem[]; \
  type* name = reinterpret_cast<type*>(cuzk_smem)
#else
#include "base/emulator.h"
#define CUZK_EMULATED 1
#define CUZK_DYNAMIC_SHARED(type, name) type* name = reinterpret_cast<type*>(::cuzk::emulator::dynamic_shared())
#endif

// CUZK_DEVICE_CODE is 1 in the pass that compiles for the GPU: where PTX may be used.
#if defined(__CUDA_ARCH__)
#define CUZK_DEVICE_CODE 1
#else
#define CUZK_DEVICE_CODE 0
#endif

#if defined(__CUDACC__)
#define CUZK_HD __host__ __device__ __forceinline__
#define CUZK_D __device__ __forceinline__
#define CUZK_NOINLINE __noinline__
#define CUZK_UNROLL _Pragma("unroll")
#define CUZK_NO_UNROLL _Pragma("unroll 1")
#else
#define CUZK_HD inline
#define CUZK_D inline
#define CUZK_NOINLINE __attribute__((noinline))
#define CUZK_UNROLL
#define CUZK_NO_UNROLL
#endif

namespace cuzk {
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

constexpr u32 kWarp = 32;
}  // namespace cuzk
