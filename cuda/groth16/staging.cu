#include "groth16/staging.h"

#include <algorithm>
#include <cstring>

namespace cuzk::groth16 {

namespace {
bool page_locked(const void* p) {
#if CUZK_EMULATED
  (void)p;
  return false;
#else
  cudaPointerAttributes a;
  if (cudaPointerGetAttributes(&a, p) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  return a.type == cudaMemoryTypeHost;
#endif
}
}  // namespace

void Staging::upload(void* to, const void* from, std::size_t bytes, cudaStream_t stream, const Poll& poll) {
  if (bytes == 0) return;
  const char* source = static_cast<const char*>(from);
  if (page_locked(source) && page_locked(source + bytes - 1)) {
    // In pieces, so that a cancelled upload ends soon.
    Event crossed(false);
    for (std::size_t at = 0; at < bytes; at += 8 * kPiece) {
      poll();
      const std::size_t n = std::min(8 * kPiece, bytes - at);
      check(cudaMemcpyAsync(static_cast<char*>(to) + at, source + at, n, cudaMemcpyHostToDevice, stream), "copying to the device");
      crossed.record(stream);
      crossed.synchronize();
    }
    return;
  }
  upload(to, bytes, 1, stream, poll,
         [&](void* buffer, std::size_t offset, std::size_t n) { threads_.copy(buffer, source + offset, n); });
}

void Staging::upload(void* to, std::size_t bytes, std::size_t unit, cudaStream_t stream, const Poll& poll, const Piece& fill) {
  const std::size_t piece = kPiece / unit * unit;
  for (std::size_t at = 0; at < bytes; at += piece) {
    poll();
    send(static_cast<char*>(to) + at, at, std::min(piece, bytes - at), stream, fill);
  }
}

void Staging::through(void* window, std::size_t bytes, std::size_t unit, cudaStream_t stream, const Poll& poll, const Piece& fill,
                      const Arrived& arrived) {
  const std::size_t piece = kPiece / unit * unit;
  for (std::size_t at = 0; at < bytes; at += piece) {
    poll();
    const std::size_t n = std::min(piece, bytes - at);
    send(window, at, n, stream, fill);
    arrived(window, at, n);
  }
}

void Staging::send(void* to, std::size_t offset, std::size_t n, cudaStream_t stream, const Piece& fill) {
  std::lock_guard<std::mutex> lock(mu_);
  Buffer& b = buffers_[next_ ^= 1];
  if (b.memory.size() == 0) b.memory = PinnedArray<char>(kPiece);
  b.crossed.synchronize();
  b.dirty = std::max(b.dirty, n);
  fill(b.memory.get(), offset, n);
  check(cudaMemcpyAsync(to, b.memory.get(), n, cudaMemcpyHostToDevice, stream), "copying to the device");
  b.crossed.record(stream);
}

void Staging::clear() {
  std::lock_guard<std::mutex> lock(mu_);
  for (Buffer& b : buffers_) {
    if (b.dirty == 0) continue;
    b.crossed.synchronize();
    std::memset(b.memory.get(), 0, b.dirty);
    b.dirty = 0;
  }
}

void Staging::free() {
  clear();
  std::lock_guard<std::mutex> lock(mu_);
  for (Buffer& b : buffers_) b.memory = PinnedArray<char>();
}

}  // namespace cuzk::groth16
