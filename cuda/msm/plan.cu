#include "msm/plan.h"

#include <algorithm>

#include "msm/sort.h"

namespace cuzk::msm {
namespace {

// Bits of a window by the number of bases. From 2^16 on measured on one H200 (msm_bench --bits, BLS12-381 G1, 2026-11-30;
// neighbours are 1 to 10 % slower). What counts besides the balance of additions and buckets is that the scalar's last window
// is nearly full: 15, 17, 20, 22 for scalars of 254 or 255 bits. Small sums are bound by the latency of levels, so they take
// few entries a bucket.
struct WindowRow {
  u32 log_n, bits;  // for n up to 2^log_n
};
constexpr WindowRow kWindowBits[] = {{9, 8}, {12, 10}, {14, 13}, {20, 15}, {23, 17}, {25, 20}, {32, 22}};

// The same with a table of multiples, where all digits share the buckets of few windows: larger windows than for plain bases,
// yet no more buckets than their reduction is worth.
constexpr WindowRow kTableBits[] = {{13, 15}, {20, 17}, {22, 20}, {32, 22}};

template <std::size_t N>
u32 bits_in(const WindowRow (&rows)[N], u64 n) {
  for (const WindowRow& row : rows)
    if (n <= u64(1) << row.log_n) return row.bits;
  return rows[N - 1].bits;
}
u32 window_bits(u64 n, u32 copies) { return copies > 1 ? bits_in(kTableBits, n) : bits_in(kWindowBits, n); }

// A partition of the sort has about 2^14 entries of a window, more where that would need too many partitions (a tile's runs
// get short) or too many buckets in one (they are counted in shared memory).
constexpr u32 kMaxLowBits = 12;
u32 partition_bits(u64 n, u32 bits) {
  u32 h = 0;
  const auto more = [&](u32 entries, u32 most) {
    while (h < most && h < bits - 1 && n >> h > entries) h++;
  };
  more(1 << 14, 10);
  more(1 << 16, 11);
  while (bits - 1 - h > kMaxLowBits) h++;
  return h;
}

// Entries that a block sorts in shared memory, beside what it counts of a partition's buckets, so that two blocks share a
// multiprocessor of 227 KB.
constexpr std::size_t kSliceBytes = 112 << 10;
u32 slice_entries(u32 low_bits, std::size_t shared) {
  return u32((std::min(kSliceBytes, shared) - place_shared_bytes(low_bits, 0)) / kPlacedEntryBytes / 1024 * 1024);
}

constexpr u32 kMinChunk = 1 << 16;
// Entries are numbered by 32 bits, and counted in pairs of positions.
constexpr u64 kMaxEntries = u64(1) << 31;

u32 bit_length(const Words<8>& w) {
  for (u32 i = 256; i-- > 0;)
    if (w.v[i / 32] >> (i % 32) & 1) return i + 1;
  return 0;
}

// The largest that the last digit can be: what half the modulus has there, and a carry.
u32 last_digit(const Words<8>& modulus, u32 bits, u32 digits) {
  const u32 shift = bits * (digits - 1) + 1, word = shift / 32;
  if (word > 7) return 1;
  const u64 two = modulus.v[word] | (word < 7 ? u64(modulus.v[word + 1]) << 32 : 0);
  return u32(two >> (shift % 32)) + 1;
}

// Digits of a scalar: as many as have its bits, and one more if the last digit could be 2^(bits-1), which signed digits
// do not reach.
u32 digits_of(const Words<8>& modulus, u32 bits) {
  const u32 digits = (bit_length(modulus) + bits - 1) / bits;
  return last_digit(modulus, bits, digits) < 1u << (bits - 1) ? digits : digits + 1;
}

Plan plan_of(u64 chunk, const Words<8>& modulus, std::size_t shared, const Options& options) {
  Plan p;
  p.chunk = u32(chunk);
  p.bits = options.window_bits ? options.window_bits : window_bits(chunk, options.copies);
  p.digits = digits_of(modulus, p.bits);
  p.windows = (p.digits + options.copies - 1) / options.copies;
  p.copies = (p.digits + p.windows - 1) / p.windows;
  p.at_once = options.windows_at_once ? std::min(options.windows_at_once, p.windows) : p.windows;
  p.partition_bits = options.partition_bits ? std::min(options.partition_bits, p.bits - 1) : partition_bits(p.window_entries(), p.bits);
  p.slice = options.slice ? options.slice : slice_entries(p.low_bits(), shared);
  p.pairs_per_thread = options.pairs_per_thread ? options.pairs_per_thread : kPairsPerInversion;
  p.halve = p.buckets() >= options.halved_buckets;
  return p;
}

// Groups of windows of nearly the same size.
void balance(Plan& p) {
  const u32 groups = (p.windows + p.at_once - 1) / p.at_once;
  p.at_once = (p.windows + groups - 1) / groups;
}

}  // namespace

Plan make_plan(u64 n, const Words<8>& modulus, const Limits& limits, const Options& options, const std::function<std::size_t(const Plan&)>& bytes) {
  const auto fits = [&](const Plan& p) {
    return p.entries() <= kMaxEntries && digits_shared_bytes(u64(p.at_once) << p.partition_bits) <= limits.shared && bytes(p) <= limits.scratch;
  };
  u64 chunk = std::min(std::max<u64>(n, 1), kMaxEntries);
  if (options.chunk) chunk = std::min<u64>(chunk, options.chunk);
  for (;; chunk = (chunk + 1) / 2) {
    Plan p = plan_of(chunk, modulus, limits.shared, options);
    while (!fits(p) && p.at_once > 1 && !options.windows_at_once) p.at_once--;
    if (fits(p) || chunk <= kMinChunk || options.chunk || p.copies > 1) {
      balance(p);
      return p;
    }
  }
}

Windows make_windows(const Plan& plan, const Words<8>& modulus, u32 n, u32 first, u32 count) {
  Windows w{};
  w.n = n * plan.copies;
  w.scalars = n;
  w.digits = plan.digits;
  w.copies = plan.copies;
  w.bits = plan.bits;
  w.windows = plan.windows;
  w.first = first;
  w.count = count;
  w.partition_bits = plan.partition_bits;
  w.low_bits = w.last_low_bits = plan.low_bits();
  w.buckets = count << (plan.bits - 1);
  if (plan.copies == 1 && first + count == plan.windows) {
    u32 used = 0;  // log2 of the last window's buckets
    while (1u << used < last_digit(modulus, plan.bits, plan.digits)) used++;
    w.last_low_bits = used > plan.partition_bits ? used - plan.partition_bits : 0;
    w.buckets = ((count - 1) << (plan.bits - 1)) + (1u << used);
  }
  for (u32 k = 0; k < plan.digits; k++) {
    const u32 bit = plan.bits * k + plan.bits - 1;
    w.add[bit / 32] |= 1u << (bit % 32);
  }
  return w;
}

}  // namespace cuzk::msm
