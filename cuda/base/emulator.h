// The part of the CUDA runtime and device language that the engine uses, on the CPU. Blocks of a launch run on the
// machine's cores, the threads of a block as fibers that switch at barriers and warp operations. Streams are in order
// and finish at once. It exists to test logic: memory orders weaker than the CPU's do not show here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>

#define __global__ static
#define __device__
#define __host__
#define __forceinline__ inline
#define __constant__
#define __shared__ static thread_local
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) alignas(n)

// ---- vector types ----
struct uint2 { unsigned x, y; };
struct alignas(8) ulonglong1 { unsigned long long x; };
struct uint3 { unsigned x, y, z; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(16) ulonglong2 { unsigned long long x, y; };
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }

namespace cuzk::emulator {

struct Context {
  uint3 thread, block;
  dim3 block_dim, grid_dim;
};
// The fiber that runs on this core.
extern thread_local Context* current;

void* dynamic_shared();
void sync_block();
// What the lanes of a warp gave to a warp operation. Shuffles of the emulator take more than CUDA's: a field element in one.
class Lanes {
 public:
  static constexpr std::size_t kBytes = 64;

  template <class T>
  T of(int lane) const {
    static_assert(sizeof(T) <= kBytes);
    T r;
    std::memcpy(&r, values[lane], sizeof r);
    return r;
  }

  alignas(16) unsigned char values[32][kBytes];
};
// Meets the lanes of mask, each with a value. What all gave holds until the thread's next barrier or warp operation.
const Lanes& exchange(unsigned mask, const void* value, std::size_t bytes);
template <class T>
inline const Lanes& exchange(unsigned mask, const T& value) {
  static_assert(sizeof(T) <= Lanes::kBytes);
  return exchange(mask, &value, sizeof value);
}
// Whether a device was chosen, or memory or a stream asked for on it: what makes a context.
bool has_context(int device);
// Runs the body once for every thread of the grid.
void run(dim3 grid, dim3 block, std::size_t shared, const std::function<void()>& body);

inline unsigned lane() {
  const Context& c = *current;
  return (c.thread.x + c.block_dim.x * (c.thread.y + c.block_dim.y * c.thread.z)) % 32;
}

}  // namespace cuzk::emulator

#define threadIdx (::cuzk::emulator::current->thread)
#define blockIdx (::cuzk::emulator::current->block)
#define blockDim (::cuzk::emulator::current->block_dim)
#define gridDim (::cuzk::emulator::current->grid_dim)

// ---- barriers and warp operations ----
inline void __syncthreads() { cuzk::emulator::sync_block(); }
inline void __syncwarp(unsigned mask = ~0u) { cuzk::emulator::exchange(mask, nullptr, 0); }
template <class T>
inline T __shfl_sync(unsigned mask, T v, int lane, int width = 32) {
  const auto& all = cuzk::emulator::exchange(mask, v);
  const int base = int(cuzk::emulator::lane()) & ~(width - 1);
  return all.template of<T>(base + (lane & (width - 1)));
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T v, unsigned d, int width = 32) {
  const auto& all = cuzk::emulator::exchange(mask, v);
  const int l = int(cuzk::emulator::lane()), base = l & ~(width - 1);
  return l - int(d) >= base ? all.template of<T>(l - int(d)) : v;
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T v, unsigned d, int width = 32) {
  const auto& all = cuzk::emulator::exchange(mask, v);
  const int l = int(cuzk::emulator::lane()), end = (l & ~(width - 1)) + width;
  return l + int(d) < end ? all.template of<T>(l + int(d)) : v;
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T v, int x) {
  return cuzk::emulator::exchange(mask, v).template of<T>(int(cuzk::emulator::lane()) ^ x);
}
inline unsigned __ballot_sync(unsigned mask, int p) {
  const auto& all = cuzk::emulator::exchange(mask, unsigned(p != 0));
  unsigned r = 0;
  for (int i = 0; i < 32; i++)
    if (mask >> i & 1) r |= all.of<unsigned>(i) << i;
  return r;
}
inline int __all_sync(unsigned mask, int p) { return __ballot_sync(mask, p) == mask; }
inline int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }
inline unsigned __match_any_sync(unsigned mask, unsigned v) {
  const auto& all = cuzk::emulator::exchange(mask, v);
  unsigned r = 0;
  for (int i = 0; i < 32; i++)
    if (mask >> i & 1 && all.of<unsigned>(i) == v) r |= 1u << i;
  return r;
}
inline unsigned __reduce_max_sync(unsigned mask, unsigned v) {
  const auto& all = cuzk::emulator::exchange(mask, v);
  unsigned r = 0;
  for (int i = 0; i < 32; i++)
    if (mask >> i & 1) r = std::max(r, all.of<unsigned>(i));
  return r;
}
inline unsigned __reduce_add_sync(unsigned mask, unsigned v) {
  const auto& all = cuzk::emulator::exchange(mask, v);
  unsigned r = 0;
  for (int i = 0; i < 32; i++)
    if (mask >> i & 1) r += all.of<unsigned>(i);
  return r;
}
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// ---- atomics: blocks run beside each other ----
template <class T> inline T atomicAdd(T* p, T v) { return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST); }
template <class T> inline T atomicSub(T* p, T v) { return __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST); }
template <class T> inline T atomicOr(T* p, T v) { return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST); }
template <class T> inline T atomicAnd(T* p, T v) { return __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST); }
template <class T> inline T atomicExch(T* p, T v) { return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST); }
template <class T> inline T atomicCAS(T* p, T expected, T v) {
  __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
}
template <class T> inline T atomicMax(T* p, T v) {
  T old = __atomic_load_n(p, __ATOMIC_SEQ_CST);
  while (old < v && !__atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return old;
}
template <class T> inline T atomicMin(T* p, T v) {
  T old = __atomic_load_n(p, __ATOMIC_SEQ_CST);
  while (v < old && !__atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return old;
}

// ---- intrinsics ----
template <class T> inline T __ldg(const T* p) { return *p; }
template <class T> inline T __ldcs(const T* p) { return *p; }
template <class T> inline T __ldcg(const T* p) { return *p; }
template <class T> inline void __stcs(T* p, T v) { *p = v; }
template <class T> inline void __stcg(T* p, T v) { *p = v; }
inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline int __clz(int v) { return v ? __builtin_clz(unsigned(v)) : 32; }
inline int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
inline unsigned __brev(unsigned v) {
  unsigned r = 0;
  for (int i = 0; i < 32; i++) r |= (v >> i & 1) << (31 - i);
  return r;
}
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s) {
  return unsigned(((std::uint64_t(hi) << 32) | lo) >> (s & 31));
}
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) {
  return unsigned((((std::uint64_t(hi) << 32) | lo) << (s & 31)) >> 32);
}
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((std::uint64_t(a) * b) >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
inline void __trap() { std::abort(); }
using std::max;
using std::min;

// ---- runtime ----
enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorNotReady = 600 };
enum cudaMemcpyKind {
  cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault
};
enum cudaDeviceAttr { cudaDevAttrMaxSharedMemoryPerBlockOptin = 97 };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2, cudaHostRegisterDefault = 0, cudaHostAllocDefault = 0 };
struct cudaStream_emulated;
struct cudaEvent_emulated;
using cudaStream_t = cudaStream_emulated*;
using cudaEvent_t = cudaEvent_emulated*;
struct cudaUUID_t { char bytes[16]; };
struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  std::size_t totalGlobalMem, sharedMemPerBlockOptin;
  int major, minor, multiProcessorCount, l2CacheSize, pciBusID, pciDeviceID, pciDomainID;
};

const char* cudaGetErrorString(cudaError_t);
const char* cudaGetErrorName(cudaError_t);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
cudaError_t cudaGetDeviceCount(int*);
cudaError_t cudaGetDevice(int*);
cudaError_t cudaSetDevice(int);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp*, int);
cudaError_t cudaDeviceGetAttribute(int*, cudaDeviceAttr, int device);
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute, int);
cudaError_t cudaDriverGetVersion(int*);
cudaError_t cudaRuntimeGetVersion(int*);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
// Memory comes filled with a pattern, not with zeros.
cudaError_t cudaMalloc(void**, std::size_t);
cudaError_t cudaFree(void*);
cudaError_t cudaMallocHost(void**, std::size_t);
cudaError_t cudaHostAlloc(void**, std::size_t, unsigned flags);
cudaError_t cudaFreeHost(void*);
cudaError_t cudaHostRegister(void*, std::size_t, unsigned flags);
cudaError_t cudaHostUnregister(void*);
cudaError_t cudaMemcpy(void*, const void*, std::size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t = nullptr);
cudaError_t cudaMemset(void*, int, std::size_t);
cudaError_t cudaMemsetAsync(void*, int, std::size_t, cudaStream_t = nullptr);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamQuery(cudaStream_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned flags = 0);
cudaError_t cudaEventCreate(cudaEvent_t*);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventQuery(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t);

template <class T> inline cudaError_t cudaMalloc(T** p, std::size_t n) { return cudaMalloc(reinterpret_cast<void**>(p), n); }
template <class T> inline cudaError_t cudaMallocHost(T** p, std::size_t n) { return cudaMallocHost(reinterpret_cast<void**>(p), n); }
