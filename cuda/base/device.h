// Device memory, streams, events and launches, as small owning types.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/current_device.h"
#include "base/errors.h"
#include "base/platform.h"

namespace cuzk {

class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&s_, cudaStreamNonBlocking), "creating a stream"); }
  ~Stream() {
    if (s_) cudaStreamDestroy(s_);
  }
  Stream(Stream&& o) noexcept : s_(std::exchange(o.s_, nullptr)) {}
  Stream& operator=(Stream&& o) noexcept {
    std::swap(s_, o.s_);
    return *this;
  }
  operator cudaStream_t() const { return s_; }
  void synchronize() const { check(cudaStreamSynchronize(s_), "waiting for a stream"); }

 private:
  cudaStream_t s_ = nullptr;
};

// Event marks a point of a stream; timed unless said otherwise.
class Event {
 public:
  explicit Event(bool timed = true) {
    check(timed ? cudaEventCreate(&e_) : cudaEventCreateWithFlags(&e_, cudaEventDisableTiming), "creating an event");
  }
  ~Event() {
    if (e_) cudaEventDestroy(e_);
  }
  Event(Event&& o) noexcept : e_(std::exchange(o.e_, nullptr)) {}
  Event& operator=(Event&& o) noexcept {
    std::swap(e_, o.e_);
    return *this;
  }
  operator cudaEvent_t() const { return e_; }
  void record(cudaStream_t s) { check(cudaEventRecord(e_, s), "recording an event"); }
  void synchronize() const { check(cudaEventSynchronize(e_), "waiting for an event"); }
  // Milliseconds since an earlier event; both must have passed.
  float since(const Event& start) const {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start.e_, e_), "reading the time between events");
    return ms;
  }

 private:
  cudaEvent_t e_ = nullptr;
};

// Device memory of n elements, owned.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t n) : n_(n) {
    if (n == 0) return;
    cudaError_t e = cudaMalloc(reinterpret_cast<void**>(&p_), n * sizeof(T));
    if (e != cudaSuccess) {
      cudaGetLastError();
      p_ = nullptr;
      std::size_t free = 0, total = 0;
      if (e == cudaErrorMemoryAllocation && cudaMemGetInfo(&free, &total) == cudaSuccess) throw OutOfMemory(n * sizeof(T), free);
      throw CudaError(e, "allocating device memory");
    }
  }
  ~DeviceArray() {
    if (p_) cudaFree(p_);
  }
  DeviceArray(DeviceArray&& o) noexcept : p_(std::exchange(o.p_, nullptr)), n_(std::exchange(o.n_, 0)) {}
  DeviceArray& operator=(DeviceArray&& o) noexcept {
    std::swap(p_, o.p_);
    std::swap(n_, o.n_);
    return *this;
  }
  T* get() const { return p_; }
  std::size_t size() const { return n_; }
  std::size_t bytes() const { return n_ * sizeof(T); }
  explicit operator bool() const { return p_ != nullptr; }

  void upload(const T* from, std::size_t n, cudaStream_t s, std::size_t at = 0) {
    if (n) check(cudaMemcpyAsync(p_ + at, from, n * sizeof(T), cudaMemcpyHostToDevice, s), "copying to the device");
  }
  void download(T* to, std::size_t n, cudaStream_t s, std::size_t at = 0) const {
    if (n) check(cudaMemcpyAsync(to, p_ + at, n * sizeof(T), cudaMemcpyDeviceToHost, s), "copying from the device");
  }
  void clear(cudaStream_t s) {
    if (n_) check(cudaMemsetAsync(p_, 0, bytes(), s), "clearing device memory");
  }

 private:
  T* p_ = nullptr;
  std::size_t n_ = 0;
};

inline void* allocate_page_locked(std::size_t bytes) {
  void* p = nullptr;
  const cudaError_t e = cudaMallocHost(&p, bytes);
  if (e == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw HostOutOfMemory(bytes);
  }
  check(e, "allocating page-locked host memory");
  return p;
}

// Page-locked host memory of n elements, owned.
template <class T>
class PinnedArray {
 public:
  PinnedArray() = default;
  explicit PinnedArray(std::size_t n) : n_(n) {
    if (n) p_ = static_cast<T*>(allocate_page_locked(n * sizeof(T)));
  }
  ~PinnedArray() {
    if (p_) cudaFreeHost(p_);
  }
  PinnedArray(PinnedArray&& o) noexcept : p_(std::exchange(o.p_, nullptr)), n_(std::exchange(o.n_, 0)) {}
  PinnedArray& operator=(PinnedArray&& o) noexcept {
    std::swap(p_, o.p_);
    std::swap(n_, o.n_);
    return *this;
  }
  T* get() const { return p_; }
  T& operator[](std::size_t i) const { return p_[i]; }
  std::size_t size() const { return n_; }

 private:
  T* p_ = nullptr;
  std::size_t n_ = 0;
};

// Arena hands out pieces of one allocation; all are given back at once. One without an allocation only counts, so that the
// same code that takes pieces can tell how much it will take.
class Arena {
 public:
  Arena() : counting_(true) {}
  Arena(void* p, std::size_t n) : p_(static_cast<char*>(p)), n_(n) {}
  template <class T>
  T* take(std::size_t n) {
    const std::size_t at = (used_ + 255) & ~std::size_t(255), end = at + n * sizeof(T);
    if (!counting_ && end > n_) throw OutOfMemory(end, n_);
    used_ = end;
    if (used_ > peak_) peak_ = used_;
    return counting_ ? nullptr : reinterpret_cast<T*>(p_ + at);
  }
  std::size_t mark() const { return used_; }
  void release(std::size_t mark) { used_ = mark; }
  std::size_t peak() const { return peak_; }
  // An arena of a part of this one's allocation.
  Arena part(std::size_t offset, std::size_t n) const {
    if (offset + n > n_) throw OutOfMemory(offset + n, n_);
    return {p_ + offset, n};
  }
  // Clears what was ever taken.
  cudaError_t clear(cudaStream_t s) const { return peak_ ? cudaMemsetAsync(p_, 0, peak_, s) : cudaSuccess; }

 private:
  char* p_ = nullptr;
  std::size_t n_ = 0, used_ = 0, peak_ = 0;
  bool counting_ = false;
};

// Lets a kernel have this much dynamic shared memory on the current device. What a kernel may have only grows: threads that
// launch it with different amounts at once must not take it away from each other.
inline void allow_shared_memory(const void* kernel, std::size_t bytes) {
  static std::mutex mu;
  static std::map<std::pair<int, const void*>, std::size_t> allowed;
  const int device = current_device();
  std::lock_guard<std::mutex> lock(mu);
  std::size_t& most = allowed[{device, kernel}];
  if (bytes <= most) return;
  if (const std::size_t limit = shared_memory_limit(); bytes > limit) {
    throw Unsupported("a kernel needs " + std::to_string(bytes) + " bytes of shared memory, a block of the device can have " + std::to_string(limit));
  }
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)), "asking for shared memory");
  most = bytes;
}

// Launches kernel(args...) on the stream. Shared memory above 48 KB is asked for by itself. An empty grid does nothing.
template <class... Params, class... Args>
void launch(void (*kernel)(Params...), dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream, Args&&... args) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  if (shared > (48 << 10)) allow_shared_memory(reinterpret_cast<const void*>(kernel), shared);
#if CUZK_EMULATED
  (void)stream;
  emulator::run(grid, block, shared, [&] { kernel(static_cast<Params>(args)...); });
#else
  kernel<<<grid, block, shared, stream>>>(static_cast<Params>(args)...);
  check(cudaGetLastError(), "launching a kernel");
#endif
}

}  // namespace cuzk
