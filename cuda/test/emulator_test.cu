// The emulator itself: barriers, warp operations, atomics, a launch of many blocks, and what a launch can ask for.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/device.h"

using namespace cuzk;

__global__ void reverse_kernel(const u32* in, u32* out, u32 n) {
  CUZK_DYNAMIC_SHARED(u32, s);
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) s[threadIdx.x] = in[i];
  __syncthreads();
  if (i < n) out[i] = s[blockDim.x - 1 - threadIdx.x];
}

__global__ void scan_kernel(u32* v, u32* total) {
  const u32 lane = threadIdx.x & 31;
  u32 x = v[blockIdx.x * blockDim.x + threadIdx.x];
  for (u32 d = 1; d < 32; d <<= 1) {
    const u32 y = __shfl_up_sync(~0u, x, d);
    if (lane >= d) x += y;
  }
  v[blockIdx.x * blockDim.x + threadIdx.x] = x;
  if (lane == 31) atomicAdd(total, x);
}

int main() {
  constexpr u32 n = 1 << 14, block = 128;
  std::vector<u32> in(n), out(n);
  for (u32 i = 0; i < n; i++) in[i] = i * 7 + 1;
  Stream stream;
  DeviceArray<u32> a(n), b(n), total(1);
  total.clear(stream);
  a.upload(in.data(), n, stream);
  launch(reverse_kernel, n / block, block, block * 4, stream, a.get(), b.get(), n);
  b.download(out.data(), n, stream);
  stream.synchronize();
  for (u32 i = 0; i < n; i++)
    if (out[i] != in[i / block * block + block - 1 - i % block]) return std::printf("reversal differs at %u\n", i), 1;
  launch(scan_kernel, n / block, block, 0, stream, a.get(), total.get());
  a.download(out.data(), n, stream);
  u32 sum = 0, want = 0;
  total.download(&sum, 1, stream);
  stream.synchronize();
  for (u32 i = 0, run = 0; i < n; i++) {
    run = i % 32 ? run + in[i] : in[i];
    want += in[i];
    if (out[i] != run) return std::printf("scan differs at %u\n", i), 1;
  }
  if (sum != want) return std::printf("sum %u, want %u\n", sum, want), 1;
  try {
    DeviceArray<u8> huge(std::size_t(1) << 62);
    return std::printf("a huge allocation succeeded\n"), 1;
  } catch (const OutOfMemory&) {
  }
  // A block of some devices can have 99 KB of shared memory, of which kernels declare some themselves.
  setenv("CUZK_EMULATOR_SHARED_MEMORY", "101376", 1);
  launch(reverse_kernel, n / block, block, 98 << 10, stream, a.get(), b.get(), n);
  try {
    launch(reverse_kernel, n / block, block, (98 << 10) + 1, stream, a.get(), b.get(), n);
    return std::printf("a launch had more shared memory than there is\n"), 1;
  } catch (const Unsupported&) {
  }
  std::printf("ok\n");
}
