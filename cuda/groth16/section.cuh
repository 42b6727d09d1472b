// Sections of a key that are multiplied by wires: points for some of the wires, the others having none or infinity.
#pragma once

#include "groth16/points.cuh"
#include "groth16/selection.h"

namespace cuzk::groth16 {

template <class G>
struct Section {
  RankedSet set;  // wires that have a point
  Points<G> points;

  std::size_t device_bytes() const { return set.bytes() + points.device_bytes(); }
};

// Part of a section: blocks of its set and the points of their wires.
struct Window {
  u32 first_block, end_block;
  Range points;
};

// The parts in which a section is read: all at once if it is on the device, else windows of whole blocks.
template <class G>
std::vector<Window> windows_of(const Section<G>& section) {
  const RankedSet& set = section.set;
  std::vector<Window> windows;
  if (set.size() == 0) return windows;
  if (section.points.resident()) return {{0, set.blocks(), {0, set.size()}}};
  for (u32 first = 0; first < set.blocks();) {
    u32 end = first + 1;
    while (end < set.blocks() && set.before(end + 1) - set.before(first) <= kWindowPoints) end++;
    const u32 count = set.before(end) - set.before(first);
    if (count) windows.push_back({first, end, {set.before(first), count}});
    first = end;
  }
  return windows;
}

// The parts of a run that belongs to no wires.
template <class G>
std::vector<Range> ranges_of(const Points<G>& points) {
  if (points.resident()) return {{0, points.size()}};
  std::vector<Range> ranges;
  for (u64 first = 0; first < points.size(); first += kRangePoints)
    ranges.push_back({first, std::min(kRangePoints, points.size() - first)});
  return ranges;
}

}  // namespace cuzk::groth16
