// Errors, device memory, streams, events and launches, as small owning types.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/platform.h"

namespace cuzk {

// Error of the CUDA runtime, with what was tried.
struct CudaError : std::runtime_error {
  CudaError(cudaError_t c, const std::string& what)
      : std::runtime_error(what + ": " + cudaGetErrorString(c)), code(c) {}
  cudaError_t code;
};

// OutOfMemory tells what was asked for and what was free.
struct OutOfMemory : std::runtime_error {
  OutOfMemory(std::size_t asked_, std::size_t free_)
      : std::runtime_error("out of device memory: asked for " + std::to_string(asked_) + " bytes, " +
                           std::to_string(free_) + " are free"),
        asked(asked_),
        free(free_) {}
  std::size_t asked, free;
};

inline void check(cudaError_t e, const char* what) {
  if (e != cudaSuccess) {
    cudaGetLastError();
    throw CudaError(e, what);
  }
}

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

// Page-locked host memory of n elements, owned.
template <class T>
class PinnedArray {
 public:
  PinnedArray() = default;
  explicit PinnedArray(std::size_t n) : n_(n) {
    if (n) check(cudaMallocHost(reinterpret_cast<void**>(&p_), n * sizeof(T)), "allocating page-locked host memory");
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

// Arena hands out pieces of one allocation; all are given back at once. Without memory it only counts, so that the
// same code that takes pieces can tell how much it will take.
class Arena {
 public:
  Arena() = default;
  Arena(void* p, std::size_t n) : p_(static_cast<char*>(p)), n_(n) {}
  template <class T>
  T* take(std::size_t n) {
    const std::size_t at = (used_ + 255) & ~std::size_t(255);
    used_ = at + n * sizeof(T);
    if (used_ > peak_) peak_ = used_;
    if (!p_) return nullptr;
    if (used_ > n_) throw OutOfMemory(used_, n_);
    return reinterpret_cast<T*>(p_ + at);
  }
  std::size_t mark() const { return used_; }
  void release(std::size_t mark) { used_ = mark; }
  std::size_t peak() const { return peak_; }
  bool counting() const { return p_ == nullptr; }

 private:
  char* p_ = nullptr;
  std::size_t n_ = 0, used_ = 0, peak_ = 0;
};

inline int multiprocessors() {
  int device = 0;
  check(cudaGetDevice(&device), "asking for the device");
  static std::vector<int> cached(64, 0);
  if (device < 64 && cached[device]) return cached[device];
  cudaDeviceProp p;
  check(cudaGetDeviceProperties(&p, device), "asking for the device's properties");
  if (device < 64) cached[device] = p.multiProcessorCount;
  return p.multiProcessorCount;
}

#if !CUZK_EMULATED
// Lets a kernel have this much dynamic shared memory on the current device. What a kernel may have only grows: threads that
// launch it with different amounts at once must not take it away from each other.
inline void allow_shared_memory(const void* kernel, std::size_t bytes) {
  static std::mutex mu;
  static std::map<std::pair<int, const void*>, std::size_t> allowed;
  int device = 0;
  check(cudaGetDevice(&device), "asking for the device");
  std::lock_guard<std::mutex> lock(mu);
  std::size_t& most = allowed[{device, kernel}];
  if (bytes <= most) return;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)), "asking for shared memory");
  most = bytes;
}
#endif

// Launches kernel(args...) on the stream. Shared memory above 48 KB is asked for by itself. An empty grid does nothing.
template <class... Params, class... Args>
void launch(void (*kernel)(Params...), dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream, Args&&... args) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
#if CUZK_EMULATED
  (void)stream;
  emulator::run(grid, block, shared, [&] { kernel(static_cast<Params>(args)...); });
#else
  if (shared > (48 << 10)) allow_shared_memory(reinterpret_cast<const void*>(kernel), shared);
  kernel<<<grid, block, shared, stream>>>(static_cast<Params>(args)...);
  check(cudaGetLastError(), "launching a kernel");
#endif
}

}  // namespace cuzk
