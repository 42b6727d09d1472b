// Assignments of any size for measurements, made on the device, with what a proof of them must be.
#pragma once

#include <cstring>
#include <memory>

#include "groth16/exponents.cuh"
#include "groth16/host_threads.h"
#include "groth16/witness.cuh"

namespace cuzk::bench {

using namespace groth16;

// Some of 200 values are full-size, of the others half are 0 and half 1.
template <class Fr>
struct WitnessValues {
  RandomScalars<Fr> random;
  u32 full_size;

  CUZK_HD bool is_bit(u64 i) const { return i == 0 || kind(i) >= full_size; }
  CUZK_HD Fr operator()(u64 i) const {
    if (!is_bit(i)) return random(i);
    return i == 0 || kind(i) % 2 ? integer_one<Fr>() : Fr::zero();
  }

 private:
  static CUZK_HD u32 kind(u64 i) { return u32(RandomScalars<Fr>::mix(i * 3 + 1) % 200); }
};

// Rows of a circuit that every witness satisfies: A adds up some wires, B is a wire that is a bit, and C repeats A where that
// is one.
template <class Fr>
struct Rows {
  static constexpr u32 kEntries = 3;  // of A
  WitnessValues<Fr> witness;
  u64 wires;

  CUZK_HD u32 wire(u64 row, u32 entry) const { return u32(RandomScalars<Fr>::mix(8 * row + entry) % wires); }
  CUZK_HD u32 bit(u64 row) const {
    u32 w = wire(row, kEntries);
    while (!witness.is_bit(w)) w--;  // wire 0 is one
    return w;
  }
  CUZK_HD bool is_one(u64 row) const { return !is_zero(witness(bit(row))); }
};
template <class Fr>
struct ValueOfA {
  Rows<Fr> rows;
  CUZK_HD Fr operator()(u64 row) const {
    Fr sum = Fr::zero();
    for (u32 k = 0; k < Rows<Fr>::kEntries; k++) sum = add(sum, rows.witness(rows.wire(row, k)));
    return sum;
  }
};
template <class Fr>
struct ValueOfB {
  Rows<Fr> rows;
  CUZK_HD Fr operator()(u64 row) const { return rows.witness(rows.bit(row)); }
};

template <class Fr, class Function>
__global__ void __launch_bounds__(256) fill_kernel(Function f, u64 n, Fr* out) {
  const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) store(out + i, f(i));
}
template <class Fr, class Function>
DeviceArray<Fr> filled(const Stream& stream, const Function& f, u64 n) {
  DeviceArray<Fr> out(n);
  launch(fill_kernel<Fr, Function>, u32((n + 255) / 256), 256, 0, stream, f, n, out.get());
  return out;
}

template <class Fr>
__global__ void __launch_bounds__(256) multiply_kernel(const Fr* a, const Fr* b, u64 n, Fr* c) {
  const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) store(c + i, mul(to_montgomery(load(a + i)), load(b + i)));
}

// An assignment on the host: the witness, and a, b and c, all page-locked integers, or no more than a witness.
template <class Fr>
struct Assignment {
  PinnedArray<Fr> vector[4];
  Fr r, s;
  ProofExponents<Fr> want;
  WitnessValues<Fr> witness;
  u64 constraints;

  // a and b are dense and random, or those of Rows; then they stay on the device.
  Assignment(const KeyShape& shape, const Trapdoor<Fr>& trapdoor, u64 constraints_, u32 full_size, bool packed)
      : r(RandomScalars<Fr>{7, 0}(0)), s(RandomScalars<Fr>{7, 0}(1)), witness{{8, 0}, full_size}, constraints(constraints_) {
    const Stream stream;
    const Rows<Fr> rows{witness, shape.wires};
    const auto evaluated = [&](u64 seed, const auto& of_rows) {
      return packed ? filled<Fr>(stream, of_rows, constraints) : filled<Fr>(stream, RandomScalars<Fr>{seed, 0}, constraints);
    };
    DeviceArray<Fr> device[] = {filled<Fr>(stream, witness, shape.wires), evaluated(9, ValueOfA<Fr>{rows}), evaluated(10, ValueOfB<Fr>{rows}),
                                DeviceArray<Fr>(constraints)};
    launch(multiply_kernel<Fr>, u32((constraints + 255) / 256), 256, 0, stream, device[1].get(), device[2].get(), constraints, device[3].get());
    want = expected_exponents(cudaStream_t(stream), shape, trapdoor, device[0].get(), constraints, device[1].get(), device[2].get(),
                              device[3].get(), r, s);
    for (int i = 0; i < (packed ? 1 : 4); i++) {
      vector[i] = PinnedArray<Fr>(device[i].size());
      device[i].download(vector[i].get(), device[i].size(), stream);
    }
    stream.synchronize();
  }
};

// The matrices of Rows, and a witness with its bits apart.
template <class Fr>
class PackedCircuit {
 public:
  PackedCircuit(const KeyShape& shape, const Assignment<Fr>& a, HostThreads& threads) : wires_(shape.wires), public_inputs_(shape.public_inputs), rows_(a.constraints) {
    const Rows<Fr> rows{a.witness, wires_};
    constexpr u32 kEntries = Rows<Fr>::kEntries;
    make_matrix(threads, matrix_[0], [&](u64) { return kEntries; }, [&](u64 row, u32 k) { return rows.wire(row, k); });
    make_matrix(threads, matrix_[1], [&](u64) { return 1u; }, [&](u64 row, u32) { return rows.bit(row); });
    make_matrix(threads, matrix_[2], [&](u64 row) { return rows.is_one(row) ? kEntries : 0u; }, [&](u64 row, u32 k) { return rows.wire(row, k); });
    coefficient_.resize(rows_ * kEntries);
    bits.resize((wires_ + 63) / 64);
    values.resize(bits.size());
    for (u64 i = 0; i < wires_; i++) {
      const Fr& v = a.vector[0][i];
      if (!a.witness.is_bit(i)) {
        others.push_back(v);
        continue;
      }
      bits[i / 64] |= u64(1) << i % 64;
      if (!is_zero(v)) values[i / 64] |= u64(1) << i % 64;
    }
  }

  cuzk_structure_source source(u32 curve) const {
    cuzk_structure_source s = {};
    s.size = sizeof s;
    s.curve = curve;
    s.wires = wires_;
    s.public_inputs = public_inputs_;
    s.constraints = rows_;
    const auto view = [&](const Matrix& m) { return cuzk_matrix{m.start.data(), m.wire.get(), coefficient_.data(), m.start.back()}; };
    s.a = view(matrix_[0]);
    s.b = view(matrix_[1]);
    s.c = view(matrix_[2]);
    s.coefficients = &one_;
    s.coefficient_count = 1;
    return s;
  }

  std::vector<u64> bits, values;
  std::vector<Fr> others;

 private:
  struct Matrix {
    std::vector<u32> start;
    std::unique_ptr<u32[]> wire;
  };
  template <class Length, class Wire>
  void make_matrix(HostThreads& threads, Matrix& m, const Length& length, const Wire& wire) {
    m.start.resize(rows_ + 1);
    threads.ranges(rows_, 1 << 16, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; row++) m.start[row + 1] = length(row);
    });
    for (u64 row = 0; row < rows_; row++) m.start[row + 1] += m.start[row];
    m.wire.reset(new u32[m.start.back()]);
    threads.ranges(rows_, 1 << 16, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; row++)
        for (u32 k = m.start[row]; k < m.start[row + 1]; k++) m.wire[k] = wire(row, k - m.start[row]);
    });
  }

  u64 wires_, public_inputs_, rows_;
  Matrix matrix_[3];
  std::vector<u32> coefficient_;  // of any matrix: all are one
  Fr one_ = Fr::one();
};

}  // namespace cuzk::bench
