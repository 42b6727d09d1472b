// The current device of a thread: choosing it, and what it has.
#pragma once

#include <vector>

#include "base/errors.h"

namespace cuzk {

inline int current_device() {
  int device = 0;
  check(cudaGetDevice(&device), "asking for the device");
  return device;
}

// Whether this process has made a context on a device.
inline bool has_context(int device) {
#if CUZK_EMULATED
  return emulator::has_context(device);
#else
  using GetState = int (*)(int device, unsigned* flags, int* active);  // cuDevicePrimaryCtxGetState
  static const auto get_state = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found;
    if (cudaGetDriverEntryPointByVersion("cuDevicePrimaryCtxGetState", &function, 7000, cudaEnableDefault, &found) != cudaSuccess) function = nullptr;
    return reinterpret_cast<GetState>(function);
  }();
  unsigned flags = 0;
  int active = 0;
  return get_state && get_state(device, &flags, &active) == 0 && active;
#endif
}

// DeviceGuard makes a device current for a scope. The one before is made current again only if it has a context: to choose a
// device is to make one, and a thread that never chose has device 0, which may be full, broken, or another program's.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) : before_(current_device()) {
    if (before_ == device) return;
    restore_ = has_context(before_);
    check(cudaSetDevice(device), "choosing the device");
  }
  ~DeviceGuard() {
    if (restore_) cudaSetDevice(before_);
  }
  DeviceGuard(const DeviceGuard&) = delete;

 private:
  int before_;
  bool restore_ = false;
};

inline int multiprocessors() {
  const int device = current_device();
  static std::vector<int> cached(64, 0);
  if (device < 64 && cached[device]) return cached[device];
  cudaDeviceProp p;
  check(cudaGetDeviceProperties(&p, device), "asking for the device's properties");
  if (device < 64) cached[device] = p.multiProcessorCount;
  return p.multiProcessorCount;
}

// Kernels that take much dynamic shared memory declare no more than this besides.
constexpr std::size_t kStaticSharedMemory = 1 << 10;

// Bytes of dynamic shared memory that a block can have on the current device: those of compute capability 8.6, 8.9 and 12.0
// give a block 99 KB in all, 8.0 gives 163 KB, 9.0 and 10.0 give 227 KB. Plans must keep to it; launch() refuses what does not.
inline std::size_t shared_memory_limit() {
  int bytes = 0;
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, current_device()), "asking for a block's shared memory");
  return std::size_t(bytes) - kStaticSharedMemory;
}

}  // namespace cuzk
