// Tables of powers, made on the device.
#pragma once

#include "base/device.h"
#include "ntt/pairs.cuh"
#include "ntt/roots.h"

namespace cuzk::ntt {

// At (row, column): constant root^(row column) row_base^row column_base^column.
template <class Fr>
struct TableEntries {
  u32 rows, columns;
  u32 first_row = 0;
  Fr root = Fr::one(), row_base = Fr::one(), column_base = Fr::one(), constant = Fr::one();
  constexpr u32 size() const { return rows * columns; }
};

constexpr u32 kTableThreads = 128;
constexpr u32 kLogWindow = 14;  // two windows reach exponents of 28 bits

template <class Fr>
CUZK_NOINLINE __device__ Fr small_power(Fr base, u64 exponent) {
  Fr r = Fr::one();
  CUZK_NO_UNROLL
  for (; exponent; exponent >>= 1, base = sqr(base))
    if (exponent & 1) r = mul(r, base);
  return r;
}

template <class Fr>
__global__ void pairs_kernel(TableEntries<Fr> t, uint4* words) {
  const u32 i = blockIdx.x * kTableThreads + threadIdx.x;
  if (i >= t.size()) return;
  const u64 row = i / t.columns + t.first_row, column = i % t.columns;
  Fr v = mul(t.constant, small_power(t.root, row * column));
  v = mul(v, small_power(t.row_base, row));
  v = mul(v, small_power(t.column_base, column));
  store_pair(words, i, shoup(v));
}

// out[i] = base^i
template <class Fr>
__global__ void powers_kernel(Fr base, Fr* out, u32 n) {
  const u32 i = blockIdx.x * kTableThreads + threadIdx.x;
  if (i < n) store(out + i, small_power(base, i));
}

// out[row, column] = root^(row column) of_row[row], where root^e = low[e mod 2^14] high[e / 2^14].
template <class Fr>
__global__ void large_table_kernel(const Fr* low, const Fr* high, const Fr* of_row, int log_columns, Fr* out, u32 n) {
  const u32 i = blockIdx.x * kTableThreads + threadIdx.x;
  if (i >= n) return;
  const u32 row = i >> log_columns, e = row * (i & ((1u << log_columns) - 1));
  const Fr power = mul(load_ro(low + (e & ((1u << kLogWindow) - 1))), load_ro(high + (e >> kLogWindow)));
  store_stream(out + i, mul(power, load_ro(of_row + row)));
}

inline u32 table_blocks(u64 entries) { return u32((entries + kTableThreads - 1) / kTableThreads); }

// Words that so many pairs take: eights of four parts each.
constexpr std::size_t pair_words(std::size_t pairs) { return (pairs + 7) / 8 * 32; }

// Writes the pairs of a table from `words` on.
template <class Fr>
void fill_pairs(const TableEntries<Fr>& t, uint4* words, cudaStream_t s) {
  launch(pairs_kernel<Fr>, table_blocks(t.size()), kTableThreads, 0, s, t, words);
}

template <class Fr>
DeviceArray<uint4> make_pairs(const TableEntries<Fr>& t, cudaStream_t s) {
  DeviceArray<uint4> words(pair_words(t.size()));
  fill_pairs(t, words.get(), s);
  return words;
}

template <class Fr>
DeviceArray<Fr> make_powers(const Fr& base, u32 n, cudaStream_t s) {
  DeviceArray<Fr> out(n);
  launch(powers_kernel<Fr>, table_blocks(n), kTableThreads, 0, s, base, out.get(), n);
  return out;
}

// root^(row column) row_base^row for 2^log_rows rows and 2^log_columns columns. Waits until it is made.
template <class Fr>
DeviceArray<Fr> make_large_table(int log_rows, int log_columns, const Fr& root, const Fr& row_base, cudaStream_t s) {
  const u32 n = 1u << (log_rows + log_columns);
  const DeviceArray<Fr> low = make_powers(root, 1u << kLogWindow, s);
  const DeviceArray<Fr> high = make_powers(power(root, u64(1) << kLogWindow), (n >> kLogWindow) + 1, s);
  const DeviceArray<Fr> of_row = make_powers(row_base, 1u << log_rows, s);
  DeviceArray<Fr> out(n);
  launch(large_table_kernel<Fr>, table_blocks(n), kTableThreads, 0, s, low.get(), high.get(), of_row.get(), log_columns, out.get(), n);
  check(cudaStreamSynchronize(s), "making a table");
  return out;
}

}  // namespace cuzk::ntt
