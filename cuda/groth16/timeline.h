// How long the device worked on a proof, by families of kernels.
#pragma once

#include <algorithm>
#include <deque>
#include <mutex>

#include "base/device.h"

namespace cuzk::groth16 {

enum class Family { kUpload, kEvaluate, kPrepare, kTransforms, kSumH, kOnes, kTailB2, kTails };

class Timeline {
  struct Part {
    Family family;
    Event start, end;
    bool ended = false;
  };

 public:
  // Span is what is enqueued on a stream during its life.
  class Span {
   public:
    Span(Timeline& line, Family family, cudaStream_t stream) : part_(line.add(family)), stream_(stream) { part_.start.record(stream); }
    ~Span() { part_.ended = cudaEventRecord(part_.end, stream_) == cudaSuccess; }
    Span(const Span&) = delete;

   private:
    Part& part_;
    cudaStream_t stream_;
  };

  // Milliseconds of the spans of a family; all must have passed on the device.
  double of(Family family) const {
    double ms = 0;
    for (const Part& p : parts_)
      if (p.family == family && p.ended) ms += p.end.since(p.start);
    return ms;
  }
  // Milliseconds from the first start to the last end.
  double total() const {
    float first = 0, last = 0;
    for (const Part& p : parts_) {
      if (!p.ended) continue;
      first = std::min(first, p.start.since(parts_.front().start));
      last = std::max(last, p.end.since(parts_.front().start));
    }
    return last - first;
  }

 private:
  Part& add(Family family) {
    std::lock_guard<std::mutex> lock(mu_);
    parts_.emplace_back();
    parts_.back().family = family;
    return parts_.back();
  }

  std::mutex mu_;
  std::deque<Part> parts_;  // stays where it is while others are added
};

}  // namespace cuzk::groth16
