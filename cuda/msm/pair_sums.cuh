// Sums of many pairs of affine points with one inversion for all pairs of a block (Montgomery's trick).
//
// A block takes a chunk of pairs, every thread some of them at a distance of the block's size. Forward: prefix products of
// the denominators x2 - x1, written out. Then the product over the block's threads, one inversion, and back down. Backward:
// slopes and sums. An addition costs 5M + 1S and a share of the inversion; the forward pass is bound by memory (two x
// coordinates read, one product written), the backward pass by arithmetic.
//
// Pairs whose operands have equal x, or one with x = 0 (infinity, perhaps), take part with the denominator 1, are listed,
// and are added by exact_sums_kernel.
#pragma once

#include "field/inverse_warp.cuh"
#include "msm/pair_adder.h"

namespace cuzk::msm {

// Numbers of the pairs that need the exact path.
struct Exceptions {
  u32* count;
  u32* pairs;
};

// The denominator of a pair; 1, and true, if the pair needs the exact path.
template <class F>
CUZK_D bool denominator(F& d, const F& x1, const F& x2) {
  d = sub(x2, x1);
  const bool exceptional = is_zero(d) || is_zero(x1) || is_zero(x2);
  if (exceptional) d = F::one();
  return exceptional;
}

// Prefix products in device memory, laid out so that a block's accesses are contiguous.
template <class F>
struct Prefixes {
  uint4* own;
  static constexpr u32 kThreads = PairShape<F>::kThreads;
  static constexpr int kVectors = sizeof(F) / sizeof(uint4);

  CUZK_D Prefixes(uint4* all, u32 per_thread)
      : own(all + std::size_t(blockIdx.x) * per_thread * kVectors * kThreads + threadIdx.x) {}
  CUZK_D void store(u32 k, const F& v) const {
    CUZK_UNROLL
    for (int i = 0; i < kVectors; i++) __stcs(own + (k * kVectors + i) * kThreads, cuzk::detail::pack(v, i));
  }
  CUZK_D F load(u32 k) const {
    F r;
    CUZK_UNROLL
    for (int i = 0; i < kVectors; i++) cuzk::detail::unpack(r, i, __ldcs(own + (k * kVectors + i) * kThreads));
    return r;
  }
};

// The inverse of v, for all threads of the block together. tree: twice as many elements as threads. Not inlined: it would cost
// the passes registers.
template <class F>
CUZK_NOINLINE __device__ F invert_in_block(const F& v, F* tree) {
  constexpr u32 n = PairShape<F>::kThreads;
  const u32 i = threadIdx.x;
  store(&tree[n + i], v);
  __syncthreads();
  CUZK_NO_UNROLL
  for (u32 h = n / 2; h >= 1; h /= 2) {
    if (i < h) store(&tree[h + i], mul_lazy(load(&tree[2 * (h + i)]), load(&tree[2 * (h + i) + 1])));
    __syncthreads();
  }
  if (i < kWarp) {
    const F all = inverse_in_warp(load(&tree[1]));
    __syncwarp();  // all lanes have read it
    if (i == 0) store(&tree[1], all);
  }
  __syncthreads();
  CUZK_NO_UNROLL
  for (u32 h = 1; h < n; h *= 2) {  // a child's inverse is its parent's times its sibling
    F r;
    if (i < 2 * h) r = mul_lazy(load(&tree[h + i / 2]), load(&tree[(2 * h + i) ^ 1]));
    __syncthreads();
    if (i < 2 * h) store(&tree[2 * h + i], r);
    __syncthreads();
  }
  return load(&tree[n + i]);
}

// The forward pass over a thread's n pairs t, t + kThreads, ...: product of their denominators. Operands are loaded a round
// ahead.
template <class F, class Source>
CUZK_D F multiply_denominators(const Source& source, const Prefixes<F>& prefixes, u32 t, u32 n) {
  constexpr u32 step = PairShape<F>::kThreads;
  F product = F::one();
  if (n == 0) return product;
  Operands next = source.operands(t);
  F next1 = source.x(next.first), next2 = source.x(next.second);
  if (n > 1) next = source.operands(t + step);
  CUZK_NO_UNROLL
  for (u32 k = 0; k < n; k++) {
    const F x1 = next1, x2 = next2;
    next1 = source.x(next.first);
    next2 = source.x(next.second);
    if (k + 2 < n) next = source.operands(t + (k + 2) * step);
    F d;
    denominator(d, x1, x2);
    if (k == 0) {
      product = d;
    } else {
      prefixes.store(k, product);
      product = mul_lazy(product, d);
    }
  }
  return product;
}

// The backward pass: `inverse` is that of the product of all n denominators.
template <class F, class Source>
CUZK_D void add_pairs(const Source& source, const Prefixes<F>& prefixes, u32 t, u32 n, F inverse, const PairResults<F>& out,
                      const Exceptions& exceptions) {
  constexpr u32 step = PairShape<F>::kThreads;
  if (n == 0) return;
  t += (n - 1) * step;
  const u32 first_result = out.first();
  Operands next = source.operands(t);
  CUZK_NO_UNROLL
  for (u32 k = n; k-- > 0; t -= step) {
    const Operands pair = next;
    const F x1 = source.x(pair.first), x2 = source.x(pair.second);
    F before = F::one();
    if (k > 0) {
      before = prefixes.load(k);
      next = source.operands(t - step);
    }
    const F y1 = source.y(pair.first), y2 = source.y(pair.second);
    F d;
    const bool exceptional = denominator(d, x1, x2);
    if (exceptional) exceptions.pairs[atomicAdd(exceptions.count, 1u)] = t;
    const F i = mul_lazy(inverse, before);
    inverse = mul_lazy(inverse, d);
    // With signs s1, s2: slope s2 (y2 s2 - y1 s1) / d, up to s2; y3 s2 = slope (x1 - x3) s2 - y1 s1 s2.
    const bool negative1 = Source::kSigned && pair.first & kSign, negative2 = Source::kSigned && pair.second & kSign;
    F rise;
    if (negative1 != negative2) rise = add(y1, y2);
    else rise = sub(y2, y1);
    const F slope = mul_lazy(rise, i);
    const F x3 = reduce(sub_lazy(sqr_lazy(slope), add(x1, x2)));
    F run;
    if (negative2) run = sub(x3, x1);
    else run = sub(x1, x3);
    const F fall = mul_lazy(slope, run);
    F y3;
    if (negative1) y3 = add_lazy(fall, y1);
    else y3 = sub_lazy(fall, y1);
    if (exceptional) continue;
    out.points.store_x(first_result + t, x3);
    out.points.store_y(first_result + t, reduce(y3));
  }
}

template <class F, class Source>
__global__ void __launch_bounds__(PairShape<F>::kThreads, PairShape<F>::kBlocks)
    pair_sums_kernel(Source source, PairResults<F> out, uint4* prefix, u32 per_thread, Exceptions exceptions) {
  constexpr u32 threads = PairShape<F>::kThreads;
  __shared__ F tree[2 * threads];
  const u32 pairs = source.size();
  const u32 share = ((pairs + gridDim.x - 1) / gridDim.x + kWarp - 1) / kWarp * kWarp;
  const u32 begin = u32(min(u64(blockIdx.x) * share, u64(pairs))), end = u32(min(u64(begin) + share, u64(pairs)));
  if (begin >= end) return;
  const u32 chunks = (end - begin + threads * per_thread - 1) / (threads * per_thread);
  const u32 chunk = ((end - begin + chunks - 1) / chunks + kWarp - 1) / kWarp * kWarp;
  const Prefixes<F> prefixes(prefix, per_thread);
  for (u32 first = begin; first < end; first += chunk) {
    const u32 last = min(first + chunk, end), t = first + threadIdx.x;
    const u32 n = t < last ? (last - 1 - t) / threads + 1 : 0;
    const F product = multiply_denominators<F>(source, prefixes, t, n);
    const F inverse = invert_in_block(product, tree);
    add_pairs<F>(source, prefixes, t, n, inverse, out, exceptions);
    __syncthreads();
  }
}

// ---- the exact path ----

constexpr u32 kExactThreads = 128;
constexpr u32 kExactPerThread = 16;  // pairs that share an inversion

template <class F, class Source>
struct ExactPair {
  Affine<F> a, b;

  CUZK_D ExactPair(const Source& source, u32 t) {
    const Operands o = source.operands(t);
    a = operand(source, o.first);
    b = operand(source, o.second);
  }
  static CUZK_D Affine<F> operand(const Source& source, u32 o) {
    const Affine<F> p{source.x(o), source.y(o)};
    return Source::kSigned ? neg_if((o & kSign) != 0, p) : p;
  }
  // Of the slope; 1 where there is none.
  CUZK_D F denominator() const {
    if (is_infinity(a) || is_infinity(b)) return F::one();
    if (!equal(a.x, b.x)) return sub(b.x, a.x);
    return equal(a.y, b.y) ? dbl(a.y) : F::one();
  }
  CUZK_D Affine<F> sum(const F& inverse) const {
    if (is_infinity(a)) return b;
    if (is_infinity(b)) return a;
    F rise = sub(b.y, a.y);
    if (equal(a.x, b.x)) {
      if (!equal(a.y, b.y)) return Affine<F>::infinity();
      const F xx = sqr(a.x);
      rise = add(dbl(xx), xx);
    }
    const F slope = mul(rise, inverse), x = sub(sub(sqr(slope), a.x), b.x);
    return {x, sub(mul(slope, sub(a.x, x)), a.y)};
  }
};

template <class F, class Source>
__global__ void __launch_bounds__(kExactThreads) exact_sums_kernel(Source source, PairResults<F> out, Exceptions exceptions) {
  const u32 count = *exceptions.count, threads = gridDim.x * blockDim.x;
  F before[kExactPerThread];
  for (u64 first = blockIdx.x * blockDim.x + threadIdx.x; first < count; first += u64(threads) * kExactPerThread) {
    F all = F::one();
    u32 n = 0;
    CUZK_NO_UNROLL
    for (; n < kExactPerThread && first + u64(n) * threads < count; n++) {
      before[n] = all;
      all = mul_lazy(all, ExactPair<F, Source>(source, exceptions.pairs[first + u64(n) * threads]).denominator());
    }
    F i = equal(reduce(all), F::one()) ? F::one() : inverse(all);  // infinite operands need no inverse
    CUZK_NO_UNROLL
    while (n-- > 0) {
      const u32 t = exceptions.pairs[first + u64(n) * threads];
      const ExactPair<F, Source> pair(source, t);
      const Affine<F> sum = pair.sum(mul_lazy(i, before[n]));
      i = mul_lazy(i, pair.denominator());
      out.points.store_point(out.first() + t, sum);
    }
  }
}

// ---- launching ----

template <class F>
template <class Source>
void PairAdder<F>::launch_sums(cudaStream_t stream, const Source& source, const PairResults<F>& out) {
  const u32 sms = u32(multiprocessors());
  const Exceptions exceptions{counters + used++, exceptional};
  launch(pair_sums_kernel<F, Source>, sms * PairShape<F>::kBlocks, PairShape<F>::kThreads, 0, stream, source, out, prefix, per_thread, exceptions);
  launch(exact_sums_kernel<F, Source>, sms, kExactThreads, 0, stream, source, out, exceptions);
}

template <class F>
void PairAdder<F>::add(cudaStream_t stream, const BasePairs<F>& source, const PairResults<F>& out) {
  launch_sums(stream, source, out);
}
template <class F>
void PairAdder<F>::add(cudaStream_t stream, const ListedPairs<F>& source, const PairResults<F>& out) {
  launch_sums(stream, source, out);
}
template <class F>
void PairAdder<F>::add(cudaStream_t stream, const HalvedPairs<F>& source, const PairResults<F>& out) {
  launch_sums(stream, source, out);
}

}  // namespace cuzk::msm
