#include "groth16/kept_points.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace cuzk::groth16 {

namespace {

constexpr std::size_t kWordsPerJob = 1024;
constexpr u64 kPointsPerJob = 4096;

bool is_zero(const char* p, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += 8) {
    u64 word;
    std::memcpy(&word, p + i, 8);
    if (word) return false;  // nearly always the first
  }
  return true;
}

std::vector<u64> members_before(const std::vector<u64>& set) {
  std::vector<u64> before(set.size() + 1);
  for (std::size_t i = 0; i < set.size(); i++) before[i + 1] = before[i] + u64(__builtin_popcountll(set[i]));
  return before;
}

}  // namespace

std::vector<u64> wires_from(u64 first, u64 wires) {
  std::vector<u64> set((wires + 63) / 64, ~u64(0));
  if (wires % 64) set.back() = (u64(1) << wires % 64) - 1;
  for (u64 w = 0; w < std::min(first, wires); w++) set[w / 64] &= ~(u64(1) << w % 64);
  return set;
}

void SectionPoints::copy(void* to, u64 first, u64 n, HostThreads& threads) const {
  if (points) return threads.copy(to, points + first * point_bytes, n * point_bytes);
  read(to, first, n);
}

KeptPoints::KeptPoints(const SectionPoints& source, std::vector<u64> present, HostThreads& threads, const Poll& poll)
    : source_(source), present_(std::move(present)), kept_(present_), present_before_(members_before(present_)) {
  if (source.count != present_before_.back()) {
    throw Invalid("section " + std::string(source.name) + " has " + std::to_string(source.count) + " points, " +
                  std::to_string(present_before_.back()) + " wires have one");
  }
  if (source_.points) drop_infinities(threads, poll);
  kept_before_ = members_before(kept_);
  size_ = kept_before_.back();
}

void KeptPoints::drop_infinities(HostThreads& threads, const Poll& poll) {
  constexpr std::size_t kWordsPerPoll = 64 * kWordsPerJob;
  for (std::size_t start = 0; start < kept_.size(); start += kWordsPerPoll) {
    poll();
    threads.ranges(std::min(kWordsPerPoll, kept_.size() - start), kWordsPerJob, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = start + begin; i < start + end; i++) {
        const char* p = source_.points + present_before_[i] * source_.point_bytes;
        for (u64 rest = present_[i]; rest; rest &= rest - 1, p += source_.point_bytes)
          if (is_zero(p, source_.point_bytes)) kept_[i] &= ~(rest & (0 - rest));
      }
    });
  }
}

void KeptPoints::copy(void* to, u64 first, u64 n, HostThreads& threads) const {
  if (size_ == source_.count) return source_.copy(to, first, n, threads);
  threads.ranges(n, kPointsPerJob, [&](std::size_t begin, std::size_t end) {
    copy_run(static_cast<char*>(to) + begin * source_.point_bytes, first + begin, end - begin);
  });
}

void KeptPoints::copy_run(char* to, u64 first, u64 n) const {
  const std::size_t size = source_.point_bytes;
  std::size_t word = std::size_t(std::upper_bound(kept_before_.begin(), kept_before_.end(), first) - kept_before_.begin()) - 1;
  u64 skip = first - kept_before_[word];
  for (; n; word++) {
    for (u64 rest = kept_[word]; rest && n; rest &= rest - 1) {
      if (skip) {
        skip--;
        continue;
      }
      const u64 below = (rest & (0 - rest)) - 1;
      const u64 at = present_before_[word] + u64(__builtin_popcountll(present_[word] & below));
      std::memcpy(to, source_.points + at * size, size);
      to += size;
      n--;
    }
  }
}

}  // namespace cuzk::groth16
