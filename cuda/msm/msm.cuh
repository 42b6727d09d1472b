// Multi-scalar multiplication: sum of s_i P_i, for G1 and G2 of both curves.
//
// Pippenger's method with signed digits. All entries (base, digit) of some windows are sorted into buckets (sort.h), every
// bucket is added up by a tree of affine sums of pairs that share inversions (levels.h, pair_sums.cuh), the buckets are
// reduced to a few points a window (rows_columns.cuh, reduce.cuh), and the host adds those up. Work is split by entries and
// pairs, never by bucket, so that no distribution of digits leaves the device idle.
//
// Additions: n (windows) - buckets for the buckets, at 5M + 1S each, and 2 buckets for their reduction.
#pragma once

#include <memory>

#include "base/device.h"
#include "base/poll.h"
#include "curve/point.h"
#include "msm/plan.h"

namespace cuzk::msm {

// Sums over one group. F is the coordinate field of the bases, Fr the scalars' field.
//
// An object is used by one thread at a time, for one sum after the other: enqueue or enqueue_ones, then finish. Scratch
// belongs to the caller; it may be shared by objects whose sums follow each other on one stream.
template <class F, class Fr>
class Msm {
 public:
  // For up to max_n bases and, if that can be, at most `limit` bytes of scratch, on the current device.
  Msm(u64 max_n, std::size_t limit, const Options& options = {});
  ~Msm();
  Msm(Msm&&) noexcept;
  Msm& operator=(Msm&&) noexcept;

  // Multiples of fixed bases, for sums with other scalars (multiples.cuh): with Options::copies the sums are of max_n bases each,
  // whose copies, as many as table_copies() tells, lie one after the other. make_table makes the others from the first.
  u32 table_copies() const;
  void make_table(cudaStream_t stream, Affine<F>* bases);

  // Scratch that any sum of up to max_n bases needs.
  std::size_t scratch_bytes() const;
  // How a sum of n bases is cut.
  Plan plan(u64 n) const;

  // Enqueues the sum of scalars[i] * bases[i]. Bases are affine with canonical coordinates; scalars are integers below r
  // of 8 limbs, 16-byte aligned, not in Montgomery form; both in device memory. Waits for the stream once for every group
  // of windows, for the number of levels of its bucket tree. Polls before each group and each level; when the poll throws, the
  // scratch is in use until the stream has come to its end.
  void enqueue(cudaStream_t stream, const Affine<F>* bases, const u32* scalars, u64 n, Arena& scratch, const Poll& poll = [] {});
  // Enqueues the sum of bases[indices[i]] for i < n: the ones of a witness. The indices are 8-byte aligned in device memory.
  void enqueue_ones(cudaStream_t stream, const Affine<F>* bases, const u32* indices, u64 n, Arena& scratch);
  // Waits for what was enqueued and gives the sum.
  Xyzz<F> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

extern template class Msm<Bls12381::Fp, Bls12381::Fr>;
extern template class Msm<Bls12381::Fp2, Bls12381::Fr>;
extern template class Msm<Bn254::Fp, Bn254::Fr>;
extern template class Msm<Bn254::Fp2, Bn254::Fr>;

}  // namespace cuzk::msm
