// A run of a key's points: on the device or, where they do not fit, page-locked on the host and read through windows.
#pragma once

#include <algorithm>
#include <optional>

#include "base/device.h"

namespace cuzk::groth16 {

template <class G>
class Points {
 public:
  Points() = default;
  Points(u64 n, bool on_device) : size_(n) {
    if (on_device) {
      device_ = DeviceArray<G>(n);
    } else {
      host_ = PinnedArray<G>(n);
    }
  }
  u64 size() const { return size_; }
  bool resident() const { return host_.size() == 0; }
  G* device() const { return device_.get(); }
  G* host() const { return host_.get(); }
  std::size_t device_bytes() const { return device_.bytes(); }
  std::size_t host_bytes() const { return host_.size() * sizeof(G); }

 private:
  u64 size_ = 0;
  DeviceArray<G> device_;
  PinnedArray<G> host_;
};

// Range of places in a run of points.
struct Range {
  u64 first, count;
};

// Points that a window of a streamed section holds; two windows of G2 on BLS12-381 take 400 MB. Where kernels are emulated
// it is as small as can be, a block of a bitmap, so that small keys have several.
constexpr u64 kWindowPoints = CUZK_EMULATED ? u64(1) << 13 : u64(1) << 20;
// Points of a range of a streamed run in G1 that belongs to no wires: as large as two windows of wires in G2, since sums of more
// points cost less a point.
constexpr u64 kRangePoints = CUZK_EMULATED ? u64(1) << 9 : u64(1) << 22;

// Reads a run of points range by range. Of a run on the host the next range crosses while the present one is used.
template <class G>
class PointReader {
 public:
  PointReader(const Points<G>& points, std::vector<Range> ranges, Arena& arena, cudaStream_t stream, cudaStream_t copies)
      : points_(points), ranges_(std::move(ranges)), copies_(copies) {
    if (points.resident()) return;
    u64 most = 0;
    for (const Range& r : ranges_) most = std::max(most, r.count);
    for (Slot& s : slots_) {
      s.memory = arena.take<G>(most);
      s.used.record(stream);  // what came before in the stream may use the memory
    }
    fetch(0);
  }

  // The device memory of the i-th range, in the order of the stream; ranges must be taken in order.
  const G* range(std::size_t i, cudaStream_t stream) {
    if (points_.resident()) return points_.device() + ranges_[i].first;
    Slot& s = slots_[i % 2];
    check(cudaStreamWaitEvent(stream, s.copied), "waiting for points");
    fetch(i + 1);
    return s.memory;
  }
  // Tells that the i-th range is not needed by what follows in the stream.
  void done(std::size_t i, cudaStream_t stream) {
    if (!points_.resident()) slots_[i % 2].used.record(stream);
  }

 private:
  struct Slot {
    G* memory = nullptr;
    Event copied{false}, used{false};
  };
  void fetch(std::size_t i) {
    if (i >= ranges_.size()) return;
    Slot& s = slots_[i % 2];
    check(cudaStreamWaitEvent(copies_, s.used), "waiting for a window");
    check(cudaMemcpyAsync(s.memory, points_.host() + ranges_[i].first, ranges_[i].count * sizeof(G), cudaMemcpyHostToDevice, copies_),
          "streaming points");
    s.copied.record(copies_);
  }

  const Points<G>& points_;
  std::vector<Range> ranges_;
  cudaStream_t copies_;
  Slot slots_[2];
};

}  // namespace cuzk::groth16
