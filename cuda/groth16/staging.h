// Copies from pageable host memory to the device, through two page-locked buffers: while one crosses, the other is filled.
#pragma once

#include <functional>
#include <mutex>

#include "base/device.h"
#include "groth16/host_threads.h"
#include "groth16/errors.h"

namespace cuzk::groth16 {

class Staging {
 public:
  explicit Staging(HostThreads& threads) : threads_(threads) {}

  // Copies bytes to the device, in the stream's order. The host memory is not needed any more when it returns.
  // Memory that is page-locked already is copied as it lies.
  void upload(void* to, const void* from, std::size_t bytes, cudaStream_t stream, const Poll& poll);

  // Piece fills n bytes that stand at offset of the whole.
  using Piece = std::function<void(void* to, std::size_t offset, std::size_t n)>;
  // Like upload, of bytes that fill produces; pieces are multiples of unit.
  void upload(void* to, std::size_t bytes, std::size_t unit, cudaStream_t stream, const Poll& poll, const Piece& fill);

  // Arrived is told when a piece is on its way to the device memory at staged, and uses it in the stream.
  using Arrived = std::function<void(const void* staged, std::size_t offset, std::size_t n)>;
  // Like upload, but every piece goes to the same window of device memory, of kPiece bytes, to be used from there.
  void through(void* window, std::size_t bytes, std::size_t unit, cudaStream_t stream, const Poll& poll, const Piece& fill,
               const Arrived& arrived);

  // Clears what the buffers held.
  void clear();
  // Gives the buffers back, cleared.
  void free();

  static constexpr std::size_t kPiece = std::size_t(32) << 20;

 private:
  struct Buffer {
    PinnedArray<char> memory;
    Event crossed{false};
    std::size_t dirty = 0;
  };
  // Fills the next buffer and sends it.
  void send(void* to, std::size_t offset, std::size_t n, cudaStream_t stream, const Piece& fill);

  HostThreads& threads_;
  std::mutex mu_;  // of the buffers, for one piece at a time: proofs that upload at once take turns
  Buffer buffers_[2];
  unsigned next_ = 0;
};

}  // namespace cuzk::groth16
