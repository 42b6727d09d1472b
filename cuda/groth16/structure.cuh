// A circuit's matrices on the device, and their products with a witness.
//
// Rows are served by their length: a thread for short ones, a warp or a block for the others, so that no lane waits for a
// row a hundred times as long as its own. Each entry costs a 32-byte gather of the witness and, unless the value is zero or
// one, one product in Fr.
#pragma once

#include <cstring>

#include "groth16/engine.h"
#include "groth16/scalars.h"

namespace cuzk::groth16 {

// Coefficient of the dictionary in both forms: times a canonical value the Montgomery form gives a canonical product, and
// the canonical one is the product with one.
template <class Fr>
struct Coefficient {
  Fr montgomery, canonical;
};

// Matrix on the device.
struct DeviceMatrix {
  DeviceArray<u32> start, wire, coefficient;
  DeviceArray<u32> medium, tall;  // rows for a warp, and for a block
  bool present = false;
  std::size_t bytes() const { return start.bytes() + wire.bytes() + coefficient.bytes() + medium.bytes() + tall.bytes(); }
};

namespace detail {

constexpr u32 kShortRow = 16, kMediumRow = 4096;
constexpr u32 kRowThreads = 256;

template <class Fr>
CUZK_D Fr row_part(const u32* wire, const u32* coefficient, const Coefficient<Fr>* dictionary, const Fr* w, u32 begin, u32 end,
                   u32 step) {
  Fr sum = Fr::zero();
  for (u32 j = begin; j < end; j += step) {
    const Fr value = load_ro(w + wire[j]);
    if (is_zero(value)) continue;
    const Coefficient<Fr>& c = dictionary[coefficient[j]];
    sum = add(sum, is_integer_one(value) ? load_ro(&c.canonical) : mul(load_ro(&c.montgomery), value));
  }
  return sum;
}

template <class Fr>
CUZK_D Fr sum_over_warp(Fr v) {
  for (int d = 16; d; d >>= 1) {
    Fr other;
    for (int i = 0; i < Fr::kLimbs; i++) other.limb[i] = __shfl_xor_sync(~0u, v.limb[i], d);
    v = add(v, other);
  }
  return v;
}

template <class Fr>
__global__ void __launch_bounds__(kRowThreads)
    short_rows_kernel(const u32* start, const u32* wire, const u32* coefficient, const Coefficient<Fr>* dictionary, const Fr* w, u32 rows,
                      Fr* out) {
  const u32 row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const u32 begin = start[row], end = start[row + 1];
  if (end - begin <= kShortRow) store(out + row, row_part(wire, coefficient, dictionary, w, begin, end, 1));
}

template <class Fr>
__global__ void __launch_bounds__(kRowThreads)
    medium_rows_kernel(const u32* start, const u32* wire, const u32* coefficient, const Coefficient<Fr>* dictionary, const Fr* w,
                       const u32* list, u32 rows, Fr* out) {
  const u32 i = (blockIdx.x * blockDim.x + threadIdx.x) / kWarp, lane = threadIdx.x % kWarp;
  if (i >= rows) return;
  const u32 row = list[i];
  const Fr sum = sum_over_warp(row_part(wire, coefficient, dictionary, w, start[row] + lane, start[row + 1], kWarp));
  if (lane == 0) store(out + row, sum);
}

template <class Fr>
__global__ void __launch_bounds__(kRowThreads)
    tall_rows_kernel(const u32* start, const u32* wire, const u32* coefficient, const Coefficient<Fr>* dictionary, const Fr* w,
                     const u32* list, Fr* out) {
  __shared__ u32 shared[kRowThreads / kWarp][Fr::kLimbs];
  const u32 row = list[blockIdx.x], lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const Fr part = sum_over_warp(row_part(wire, coefficient, dictionary, w, start[row] + threadIdx.x, start[row + 1], blockDim.x));
  if (lane == 0)
    for (int i = 0; i < Fr::kLimbs; i++) shared[warp][i] = part.limb[i];
  __syncthreads();
  if (threadIdx.x != 0) return;
  Fr sum = part;
  for (u32 k = 1; k < kRowThreads / kWarp; k++) {
    Fr other;
    for (int i = 0; i < Fr::kLimbs; i++) other.limb[i] = shared[k][i];
    sum = add(sum, other);
  }
  store(out + row, sum);
}

}  // namespace detail

// Matrix as the caller has it, copied.
struct HostMatrix {
  const u32* start = nullptr;  // null: the format lacks it
  const u32* wire = nullptr;
  const u32* coefficient = nullptr;
  u64 entries = 0;
};

template <class Fr>
class Structure {
 public:
  struct Source {
    u64 wires = 0, public_inputs = 0, constraints = 0;
    HostMatrix a, b, c;
    const void* coefficients = nullptr;  // in Montgomery form
    u64 coefficient_count = 0;
  };
  // Checks that every index is within its range.
  Structure(const Source& source, Engine& engine, const Poll& poll);

  u64 wires() const { return wires_; }
  u64 public_inputs() const { return public_inputs_; }
  u32 constraints() const { return constraints_; }
  bool has_c() const { return matrices_[2].present; }
  std::size_t bytes() const { return held_.bytes(); }

  // out = M·w for the matrix of this index (A, B, C); w and out are canonical.
  void multiply(cudaStream_t stream, int matrix, const Fr* w, Fr* out) const;

 private:
  DeviceMatrix upload(const char* name, const HostMatrix& m, u64 coefficients, Engine& engine, const Poll& poll) const;
  void upload_dictionary(const Source& source);

  Engine::User user_;
  MemoryAccount::Held held_;
  u64 wires_, public_inputs_;
  u32 constraints_;
  Stream stream_;
  DeviceArray<Coefficient<Fr>> dictionary_;
  DeviceMatrix matrices_[3];
};

template <class Fr>
Structure<Fr>::Structure(const Source& source, Engine& engine, const Poll& poll)
    : user_(engine), wires_(source.wires), public_inputs_(source.public_inputs), constraints_(u32(source.constraints)) {
  if (source.wires == 0 || source.wires > ~u32(0) || source.public_inputs >= source.wires) {
    throw Invalid(std::to_string(source.wires) + " wires with " + std::to_string(source.public_inputs) + " public inputs");
  }
  if (source.constraints >= ~u32(0) || source.coefficient_count > ~u32(0)) throw Invalid("more than 2^32 constraints or coefficients");
  if (!source.a.start || !source.b.start) throw Invalid("the constraint system lacks its matrix A or B");
  const HostMatrix* matrices[] = {&source.a, &source.b, &source.c};
  u64 bytes = source.coefficient_count * sizeof(Coefficient<Fr>);
  for (const HostMatrix* m : matrices)
    if (m->start) bytes += 8 * m->entries + 4 * (source.constraints + 1);
  held_ = engine.allocate([&] { return MemoryAccount::Held(engine.memory(), bytes); });
  engine.allocate([&] {
    for (DeviceMatrix& m : matrices_) m = {};  // those of an attempt for which memory did not suffice
    upload_dictionary(source);
    for (int i = 0; i < 3; i++) matrices_[i] = upload(&"A\0B\0C"[2 * i], *matrices[i], source.coefficient_count, engine, poll);
  });
  stream_.synchronize();
}

template <class Fr>
void Structure<Fr>::upload_dictionary(const Source& source) {
  std::vector<Coefficient<Fr>> dictionary(source.coefficient_count);
  for (u64 i = 0; i < source.coefficient_count; i++) {
    std::memcpy(&dictionary[i].montgomery, static_cast<const char*>(source.coefficients) + i * sizeof(Fr), sizeof(Fr));
    if (!below_modulus(dictionary[i].montgomery)) throw Invalid("coefficient " + std::to_string(i) + " is not below the modulus");
    dictionary[i].canonical = from_montgomery(dictionary[i].montgomery);
  }
  dictionary_ = DeviceArray<Coefficient<Fr>>(dictionary.size());
  dictionary_.upload(dictionary.data(), dictionary.size(), stream_);
  stream_.synchronize();
}

template <class Fr>
DeviceMatrix Structure<Fr>::upload(const char* name, const HostMatrix& m, u64 coefficients, Engine& engine, const Poll& poll) const {
  DeviceMatrix d;
  if (!m.start) return d;
  const auto invalid = [&](const char* what, u64 at) {
    return Invalid("matrix " + std::string(name) + ": " + what + " " + std::to_string(at) + " is out of range");
  };
  std::vector<u32> start(constraints_ + std::size_t(1)), medium, tall;
  std::memcpy(start.data(), m.start, start.size() * 4);
  if (start.front() != 0 || start.back() != m.entries) throw invalid("the start of row", start.front() ? 0 : constraints_);
  for (u32 i = 0; i < constraints_; i++) {
    if (start[i + 1] < start[i]) throw invalid("the start of row", i + 1);
    const u32 length = start[i + 1] - start[i];
    if (length > detail::kMediumRow) {
      tall.push_back(i);
    } else if (length > detail::kShortRow) {
      medium.push_back(i);
    }
  }
  const auto take = [&](const char* what, const u32* from, u64 bound) {
    std::atomic<u64> fault{m.entries};
    engine.copy_threads().ranges(m.entries, 1 << 16, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; i++) {
        u32 v;
        std::memcpy(&v, from + i, 4);
        if (v >= bound) fault = i;
      }
    });
    if (fault != m.entries) throw invalid(what, fault);
    DeviceArray<u32> array(m.entries);
    engine.staging().upload(array.get(), from, m.entries * 4, stream_, poll);
    return array;
  };
  d.wire = take("the wire of entry", m.wire, wires_);
  d.coefficient = take("the coefficient of entry", m.coefficient, coefficients);
  const auto copy = [&](const std::vector<u32>& v) {
    DeviceArray<u32> array(v.size());
    engine.staging().upload(array.get(), v.data(), v.size() * 4, stream_, poll);
    return array;
  };
  d.start = copy(start);
  d.medium = copy(medium);
  d.tall = copy(tall);
  d.present = true;
  return d;
}

template <class Fr>
void Structure<Fr>::multiply(cudaStream_t stream, int matrix, const Fr* w, Fr* out) const {
  using namespace detail;
  const DeviceMatrix& m = matrices_[matrix];
  const u32 *start = m.start.get(), *wire = m.wire.get(), *coefficient = m.coefficient.get();
  const auto* dictionary = dictionary_.get();
  launch(short_rows_kernel<Fr>, (constraints_ + kRowThreads - 1) / kRowThreads, kRowThreads, 0, stream, start, wire, coefficient,
         dictionary, w, constraints_, out);
  const u32 medium = u32(m.medium.size()), tall = u32(m.tall.size());
  launch(medium_rows_kernel<Fr>, (medium + kRowThreads / kWarp - 1) / (kRowThreads / kWarp), kRowThreads, 0, stream, start, wire,
         coefficient, dictionary, w, m.medium.get(), medium, out);
  launch(tall_rows_kernel<Fr>, tall, kRowThreads, 0, stream, start, wire, coefficient, dictionary, w, m.tall.get(), out);
}

}  // namespace cuzk::groth16
