// Devices and page-locked memory.
#include <cstdio>

#include "api/errors.h"

// The build names the architectures that it compiles for.
#ifndef CUZK_ARCHITECTURES
#define CUZK_ARCHITECTURES "emulated"
#endif

namespace cuzk::api {
namespace {

using groth16::Invalid;

std::string version(int v) { return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10); }

// Number of devices, or why there is none.
int device_count() {
  int driver = 0, runtime = 0, count = 0;
  cudaRuntimeGetVersion(&runtime);
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
    cudaGetLastError();
    throw Failure(CUZK_NO_DEVICE, "there is no NVIDIA driver on this machine");
  }
  const cudaError_t e = cudaGetDeviceCount(&count);
  cudaGetLastError();
  if (int(e) == 35) {
    throw Failure(CUZK_DRIVER_TOO_OLD, "the NVIDIA driver knows CUDA " + version(driver) + ", this library needs " + version(runtime) +
                                           ": install a newer driver");
  }
  if (e != cudaSuccess) throw Failure(CUZK_NO_DEVICE, std::string("no NVIDIA device can be used: ") + cudaGetErrorString(e));
  if (count == 0) throw Failure(CUZK_NO_DEVICE, "there is no NVIDIA device on this machine");
  return count;
}

void check_device(int device) {
  const int count = device_count();
  if (device < 0 || device >= count)
    throw Failure(CUZK_NO_DEVICE, "there is no device " + std::to_string(device) + ": devices are numbered from 0 to " + std::to_string(count - 1));
}

// Whether the list of architectures, such as "80,90,ptx90", has machine code for a device: its code runs on later minor
// versions of the same major.
bool is_native(int major, int minor) {
#if CUZK_EMULATED
  (void)major, (void)minor;
  return true;
#else
  int arch = 0;
  for (const char* p = CUZK_ARCHITECTURES; *p;) {
    int n = 0;
    if (std::sscanf(p, "%d%n", &arch, &n) == 1 && arch / 10 == major && arch % 10 <= minor) return true;
    while (*p && *p != ',') p++;
    if (*p == ',') p++;
  }
  return false;
#endif
}

cuzk_device_info info(int device) {
  check_device(device);
  cudaDeviceProp p;
  check(cudaGetDeviceProperties(&p, device), "asking for the device's properties");
  cuzk_device_info i;
  std::memset(&i, 0, sizeof i);
  i.size = sizeof i;
  i.device = device;
  std::snprintf(i.name, sizeof i.name, "%s", p.name);
  std::memcpy(i.uuid, p.uuid.bytes, sizeof i.uuid);
  i.compute_major = p.major;
  i.compute_minor = p.minor;
  check(cudaDriverGetVersion(&i.driver_version), "asking for the driver's version");
  check(cudaRuntimeGetVersion(&i.runtime_version), "asking for the runtime's version");
  i.memory = p.totalGlobalMem;
  i.multiprocessors = p.multiProcessorCount;
  i.pci_domain = p.pciDomainID;
  i.pci_bus = p.pciBusID;
  i.pci_device = p.pciDeviceID;
  i.native = is_native(p.major, p.minor);
  std::snprintf(i.architectures, sizeof i.architectures, "%s", CUZK_ARCHITECTURES);
  return i;
}

}  // namespace
}  // namespace cuzk::api

using namespace cuzk;
using namespace cuzk::api;

extern "C" {

uint32_t cuzk_abi_version(void) { return CUZK_ABI_VERSION; }

const char* cuzk_build_info(void) {
#if CUZK_EMULATED
  return "emulated on the CPU, for tests";
#else
  static const std::string text = [] {
    int runtime = 0;
    cudaRuntimeGetVersion(&runtime);
    return "CUDA " + version(runtime) + ", architectures " CUZK_ARCHITECTURES;
  }();
  return text.c_str();
#endif
}

int32_t cuzk_device_count(int32_t* count, cuzk_error* error) {
  return guarded(error, [&] {
    required(count, "count") = 0;
    *count = device_count();
  });
}

int32_t cuzk_device_info_get(int32_t device, cuzk_device_info* out, cuzk_error* error) {
  return guarded(error, [&] { write_sized(out, info(device), "info"); });
}

int32_t cuzk_device_memory(int32_t device, uint64_t* free_bytes, uint64_t* total_bytes, cuzk_error* error) {
  return guarded(error, [&] {
    check_device(device);
    DeviceGuard guard(device);
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "asking for free device memory");
    required(free_bytes, "free_bytes") = free;
    required(total_bytes, "total_bytes") = total;
  });
}

int32_t cuzk_host_alloc(int32_t device, uint64_t bytes, void** memory, cuzk_error* error) {
  return guarded(error, [&] {
    required(memory, "memory") = nullptr;
    if (bytes == 0) throw Invalid("zero bytes of memory");
    check_device(device);
    DeviceGuard guard(device);
    *memory = allocate_page_locked(bytes);
    std::memset(*memory, 0, bytes);
  });
}

int32_t cuzk_host_free(int32_t device, void* memory, uint64_t bytes, cuzk_error* error) {
  return guarded(error, [&] {
    if (!memory) return;
    std::memset(memory, 0, bytes);
    check_device(device);
    DeviceGuard guard(device);
    check(cudaFreeHost(memory), "freeing page-locked host memory");
  });
}

}  // extern "C"
