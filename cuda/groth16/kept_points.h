// The points of a key's section that are worth keeping: those that are there and not infinity (in a snarkjs key two of
// three in B are infinity).
#pragma once

#include <functional>
#include <vector>

#include "base/platform.h"
#include "groth16/host_threads.h"
#include "groth16/errors.h"

namespace cuzk::groth16 {

// SectionPoints are the points of one section as the caller has them.
struct SectionPoints {
  using Read = std::function<void(void* to, u64 first, u64 n)>;

  const char* name;
  const char* points;  // at any alignment; null where they are to be read
  u64 count;
  std::size_t point_bytes;
  Read read;

  // Copies or reads n points from the first-th on.
  void copy(void* to, u64 first, u64 n, HostThreads& threads) const;
};

class KeptPoints {
 public:
  // present has one bit a wire, set where the section has a point; they follow each other in the order of the wires. Points
  // that are to be read are all kept: looking at them first would be to read them twice.
  KeptPoints(const SectionPoints& source, std::vector<u64> present, HostThreads& threads, const Poll& poll);

  u64 size() const { return size_; }
  std::size_t bytes() const { return size_ * source_.point_bytes; }
  // One bit a wire, set where a point is kept.
  const std::vector<u64>& set() const { return kept_; }
  // Copies n kept points from the first-th on.
  void copy(void* to, u64 first, u64 n, HostThreads& threads) const;

 private:
  void drop_infinities(HostThreads& threads, const Poll& poll);
  void copy_run(char* to, u64 first, u64 n) const;

  SectionPoints source_;
  std::vector<u64> present_, kept_;
  std::vector<u64> present_before_, kept_before_;  // members before each word
  u64 size_ = 0;
};

// Bits of the wires from first on.
std::vector<u64> wires_from(u64 first, u64 wires);

}  // namespace cuzk::groth16
