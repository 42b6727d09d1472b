// What goes wrong on a device or for lack of memory.
#pragma once

#include <stdexcept>
#include <string>

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

// HostOutOfMemory is a shortage of the host's memory, of which more is to be page-locked.
struct HostOutOfMemory : std::runtime_error {
  explicit HostOutOfMemory(std::size_t asked_)
      : std::runtime_error("out of host memory: asked for " + std::to_string(asked_) + " page-locked bytes"), asked(asked_) {}
  std::size_t asked;
};

// Unsupported is a device that lacks what a kernel needs.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void check(cudaError_t e, const char* what) {
  if (e != cudaSuccess) {
    cudaGetLastError();
    throw CudaError(e, what);
  }
}

}  // namespace cuzk
