// How a sum is cut: bits of a window, windows at a time, partitions of the sort, chunks of the bases.
#pragma once

#include <functional>

#include "base/platform.h"
#include "field/moduli.h"
#include "msm/windows.h"

namespace cuzk::msm {

// Pairs of a thread that share an inversion. Twice as many need twice the room for products and gain nothing.
constexpr u32 kPairsPerInversion = 256;

// What a test or a benchmark may force; 0 leaves the choice to the plan.
struct Options {
  u32 window_bits = 0;
  u32 windows_at_once = 0;
  u32 chunk = 0;             // bases at a time
  u32 partition_bits = 0;
  u32 slice = 0;             // partitioned entries that a block takes at a time
  u32 pairs_per_thread = 0;  // that share an inversion
  u32 halved_buckets = 0;    // least number of buckets whose reduction begins with rows and columns; Msm chooses by the group
  u32 affine_ones = 0;       // fewest points that a sum of ones adds in affine pairs
  u32 copies = 1;            // of the bases, at most: with multiples of fixed bases (multiples.cuh)
};

struct Plan {
  u32 chunk = 0;           // bases at a time, at most
  u32 bits = 0;            // of a window
  u32 digits = 0;          // of a scalar, one a window
  u32 copies = 1;          // of the bases; copy k serves the digits from k * windows on
  u32 windows = 0;         // that have buckets of their own
  u32 at_once = 0;         // windows that are sorted and accumulated together
  u32 partition_bits = 0;  // log2 of a window's partitions
  u32 slice = 0;
  u32 pairs_per_thread = 0;
  bool halve = false;      // reduce rows and columns first

  u32 window_buckets() const { return 1u << (bits - 1); }
  u32 low_bits() const { return bits - 1 - partition_bits; }
  u64 buckets() const { return u64(windows) << (bits - 1); }
  u64 window_entries() const { return u64(chunk) * copies; }
  u64 entries() const { return window_entries() * at_once; }  // at a time
  // log2 of the factor between two copies of a base.
  u32 copy_bits() const { return bits * windows; }
  // Parts of a slice that lie in one partition, at most.
  u64 segments() const { return (u64(at_once) << partition_bits) + (entries() + slice - 1) / slice; }
};

// What a plan must make do with, in bytes.
struct Limits {
  std::size_t scratch;
  std::size_t shared;  // memory of a block
};

// The plan for n bases and scalars below the modulus within the limits, where bytes(plan) tells what its scratch is. Where even
// the smallest pieces do not fit, the plan with those; then its scratch is above the limit. Bases with multiples are not cut into
// chunks, since their copies lie one after the other.
Plan make_plan(u64 n, const Words<8>& modulus, const Limits& limits, const Options& options, const std::function<std::size_t(const Plan&)>& bytes);

// `count` windows from `first` on, of n scalars.
Windows make_windows(const Plan& plan, const Words<8>& modulus, u32 n, u32 first, u32 count);

}  // namespace cuzk::msm
