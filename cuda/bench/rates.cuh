// Rates of operations in registers: a table with the operation's wide products against what the multiplier pipe can do.
#pragma once

#include <algorithm>
#include <cstdio>
#include <vector>

#include "base/device.h"
#include "field/carry.h"

namespace cuzk::bench {

constexpr u32 kThreads = 128;
constexpr int kRepetitions = 5;

// x = op(x, y) over and over. Op::operator() takes both by value.
template <class Op, class X, class Y>
__global__ void __launch_bounds__(kThreads) chain_kernel(X* x, const Y* y, u32 steps) {
  const u32 i = blockIdx.x * kThreads + threadIdx.x;
  X value = x[i];
  const Y operand = y[i];
  CUZK_NO_UNROLL
  for (u32 k = 0; k < steps; k++) value = Op()(value, operand);
  x[i] = value;
}

// Nothing but two chains of eight products: the limit of the pipe.
constexpr u32 kLinks = 8;
__global__ void __launch_bounds__(kThreads) wide_products_kernel(u32* words, u32 steps) {
  u32 *own = words + (blockIdx.x * kThreads + threadIdx.x) % kThreads, x[2 * kLinks], y[2 * kLinks], factor[2 * kLinks];
  CUZK_UNROLL
  for (u32 k = 0; k < 2 * kLinks; k++) x[k] = own[k], y[k] = own[k + 2 * kLinks], factor[k] = own[k + 4 * kLinks];
  CUZK_NO_UNROLL
  for (u32 s = 0; s < steps; s++) {
    CUZK_UNROLL
    for (int i = 0; i < 8; i++) {
      chain::mad_chain(x, x, factor, y[0], kLinks);
      chain::mad_chain(y, y, factor, x[0], kLinks);
    }
  }
  u32 all = 0;
  CUZK_UNROLL
  for (u32 k = 0; k < 2 * kLinks; k++) all ^= x[k] ^ y[k];
  if (all == 1) *own = all;  // hardly ever, but the compiler does not know
}

__global__ void copy_kernel(const uint4* from, uint4* to, std::size_t n) {
  const std::size_t stride = std::size_t(gridDim.x) * blockDim.x;
  for (std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) __stcs(to + i, __ldcs(from + i));
}

// Best of some runs, in milliseconds.
template <class Run>
float milliseconds(Stream& stream, const Run& run) {
  Event start, stop;
  float best = 1e30f;
  for (int r = 0; r < kRepetitions; r++) {
    start.record(stream);
    run();
    stop.record(stream);
    stop.synchronize();
    best = std::min(best, stop.since(start));
  }
  return best;
}

struct Kernel {
  int registers, local_bytes, blocks_per_multiprocessor;
};
template <class F>
Kernel describe(F kernel) {
  cudaFuncAttributes a;
  check(cudaFuncGetAttributes(&a, reinterpret_cast<const void*>(kernel)), "asking for a kernel's registers");
  Kernel k{a.numRegs, int(a.localSizeBytes), 0};
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&k.blocks_per_multiprocessor, kernel, kThreads, 0), "asking for a kernel's occupancy");
  return k;
}

class Table {
 public:
  Table() {
    constexpr u32 steps = 2000;
    DeviceArray<u32> words(kThreads + 6 * kLinks);
    words.clear(stream_);
    const u32 blocks = multiprocessors() * describe(wide_products_kernel).blocks_per_multiprocessor;
    const float ms = milliseconds(stream_, [&] { launch(wide_products_kernel, blocks, kThreads, 0, stream_, words.get(), steps); });
    limit_ = 16.0 * kLinks * steps * blocks * kThreads / ms / 1e6;
    std::printf("wide products: %.2f T/s\n", limit_ / 1e3);
    std::printf("%-30s %9s %6s %7s %5s %6s %8s\n", "operation", "G/s", "wide", "of pipe", "regs", "local", "threads");
  }

  // wide: products of 32 bits an operation needs; a narrow one counts as half.
  template <class Op, class X, class Y>
  void row(const char* name, double wide, const X& x, const Y& y, u32 steps) {
    const auto kernel = chain_kernel<Op, X, Y>;
    const Kernel k = describe(kernel);
    const u32 blocks = multiprocessors() * k.blocks_per_multiprocessor;
    const std::size_t threads = std::size_t(blocks) * kThreads;
    std::vector<X> xs(threads, x);
    std::vector<Y> ys(threads, y);
    DeviceArray<X> dx(threads);
    DeviceArray<Y> dy(threads);
    dx.upload(xs.data(), threads, stream_);
    dy.upload(ys.data(), threads, stream_);
    const float ms = milliseconds(stream_, [&] { launch(kernel, blocks, kThreads, 0, stream_, dx.get(), dy.get(), steps); });
    const double rate = double(steps) * double(threads) / ms / 1e6;
    std::printf("%-30s %9.2f %6.0f %6.1f%% %5d %6d %8d\n", name, rate, wide, 100 * rate * wide / limit_, k.registers, k.local_bytes,
                int(k.blocks_per_multiprocessor * kThreads));
  }

  void copy() {
    constexpr std::size_t bytes = std::size_t(4) << 30, n = bytes / sizeof(uint4);
    DeviceArray<uint4> from(n), to(n);
    from.clear(stream_);
    const float ms = milliseconds(stream_, [&] { launch(copy_kernel, multiprocessors() * 16, 512, 0, stream_, from.get(), to.get(), n); });
    std::printf("copy, read and written: %.0f GB/s\n", 2.0 * bytes / ms / 1e6);
  }

 private:
  Stream stream_;
  double limit_ = 0;
};

}  // namespace cuzk::bench
