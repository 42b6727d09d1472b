// The four prime fields as compile-time data: a modulus each, and what is derived from it.
#pragma once

#include "base/platform.h"

namespace cuzk {

// An integer of N 32-bit limbs, little-endian.
template <int N>
struct Words {
  u32 v[N];
};

namespace constants {

template <int N>
constexpr bool at_least(const Words<N>& a, const Words<N>& b) {
  for (int i = N - 1; i >= 0; i--)
    if (a.v[i] != b.v[i]) return a.v[i] > b.v[i];
  return true;
}

template <int N>
constexpr Words<N> minus(Words<N> a, const Words<N>& b) {
  u64 borrow = 0;
  for (int i = 0; i < N; i++) {
    const u64 d = u64(a.v[i]) - b.v[i] - borrow;
    a.v[i] = u32(d);
    borrow = d >> 63;
  }
  return a;
}

// 2a, without a reduction.
template <int N>
constexpr Words<N> twice(Words<N> a) {
  u32 carry = 0;
  for (int i = 0; i < N; i++) {
    const u32 top = a.v[i] >> 31;
    a.v[i] = a.v[i] << 1 | carry;
    carry = top;
  }
  return a;
}

template <int N>
constexpr Words<N> plus(Words<N> a, const Words<N>& b) {
  u64 carry = 0;
  for (int i = 0; i < N; i++) {
    carry += u64(a.v[i]) + b.v[i];
    a.v[i] = u32(carry);
    carry >>= 32;
  }
  return a;
}

// a + b and a - b mod p, for a and b below p and p below 2^(32N-1).
template <int N>
constexpr Words<N> sum(const Words<N>& a, const Words<N>& b, const Words<N>& p) {
  const Words<N> s = plus(a, b);
  return at_least(s, p) ? minus(s, p) : s;
}
template <int N>
constexpr Words<N> difference(const Words<N>& a, const Words<N>& b, const Words<N>& p) {
  return at_least(a, b) ? minus(a, b) : minus(plus(a, p), b);
}

// 2^exponent mod p, for p below 2^(32N-1).
template <int N>
constexpr Words<N> power_of_two(const Words<N>& p, int exponent) {
  Words<N> r{{1}};
  for (int i = 0; i < exponent; i++) {
    r = twice(r);
    if (at_least(r, p)) r = minus(r, p);
  }
  return r;
}

template <int N>
constexpr Words<2 * N> widened(const Words<N>& a) {
  Words<2 * N> r{};
  for (int i = 0; i < N; i++) r.v[i] = a.v[i];
  return r;
}

// a b mod 2^(32N)
template <int N>
constexpr Words<N> low_product(const Words<N>& a, const Words<N>& b) {
  Words<N> r{};
  for (int i = 0; i < N; i++) {
    u64 carry = 0;
    for (int j = 0; i + j < N; j++) {
      carry += u64(a.v[i]) * b.v[j] + r.v[i + j];
      r.v[i + j] = u32(carry);
      carry >>= 32;
    }
  }
  return r;
}

// 1/p mod 2^(32N), by Newton's iteration.
template <int N>
constexpr Words<N> inverse(const Words<N>& p) {
  Words<N> x{{1}};
  for (int bits = 1; bits < 32 * N; bits *= 2) {
    x = low_product(x, minus(Words<N>{{2}}, low_product(p, x)));
  }
  return x;
}

// (a f - 1) / 2^32, where a f = 1 mod 2^32.
template <int N>
constexpr Words<N> multiple_above_one(const Words<N>& a, u32 f) {
  Words<N> r{};
  u64 carry = u64(a.v[0]) * f >> 32;
  for (int i = 1; i < N; i++) {
    carry += u64(a.v[i]) * f;
    r.v[i - 1] = u32(carry);
    carry >>= 32;
  }
  r.v[N - 1] = u32(carry);
  return r;
}

// Q, where p = 2^64 Q - 2^32 + 1.
template <int N>
constexpr Words<N> q_of(const Words<N>& p) {
  Words<N> r{};
  for (int i = 2; i < N; i++) r.v[i - 2] = p.v[i];
  r.v[0]++;
  return r;
}

}  // namespace constants

// What follows from a modulus M::kModulus of N limbs with at least one bit to spare.
template <class M, int N>
struct Derived : M {
  static constexpr int kLimbs = N;
  static constexpr Words<N> kTwice = constants::twice(M::kModulus);
  static constexpr Words<N> kOne = constants::power_of_two(M::kModulus, 32 * N);               // R = 2^(32N) mod p
  static constexpr Words<N> kSquare = constants::power_of_two(M::kModulus, 2 * 32 * N);        // R^2 mod p
  static constexpr Words<N> kCube = constants::power_of_two(M::kModulus, 3 * 32 * N);          // R^3 mod p
  static constexpr Words<N> kInverse = constants::inverse(M::kModulus);                        // 1/p mod R
  static constexpr Words<N> kMinusInverse = constants::minus(Words<N>{}, kInverse);            // -1/p mod R
  static constexpr Words<N> kMinusModulus = constants::minus(Words<N>{}, M::kModulus);         // R - p
  struct Modulus {
    static constexpr Words<N> value = M::kModulus;
    static constexpr Words<N> negative = kMinusModulus;
  };
  struct Twice {
    static constexpr Words<N> value = kTwice;
    static constexpr Words<N> negative = constants::minus(Words<N>{}, kTwice);  // R - 2p
  };
  // Bits that 32N has above the modulus. With two, products of values below 2p stay below 2p; with three, sums of two
  // such products do as well.
  static constexpr int kSpareBits = M::kModulus.v[N - 1] >> 30 ? 1 : M::kModulus.v[N - 1] >> 29 ? 2 : 3;
};

struct Bls12381FpModulus {
  static constexpr Words<12> kModulus = {{0xffffaaab, 0xb9feffff, 0xb153ffff, 0x1eabfffe, 0xf6b0f624, 0x6730d2a0,
                                          0xf38512bf, 0x64774b84, 0x434bacd7, 0x4b1ba7b6, 0x397fe69a, 0x1a0111ea}};
};
struct Bls12381FrModulus {
  static constexpr Words<8> kModulus = {
      {0x00000001, 0xffffffff, 0xfffe5bfe, 0x53bda402, 0x09a1d805, 0x3339d808, 0x299d7d48, 0x73eda753}};
};
struct Bn254FpModulus {
  static constexpr Words<8> kModulus = {
      {0xd87cfd47, 0x3c208c16, 0x6871ca8d, 0x97816a91, 0x8181585d, 0xb85045b6, 0xe131a029, 0x30644e72}};
};
struct Bn254FrModulus {
  static constexpr Words<8> kModulus = {
      {0xf0000001, 0x43e1f593, 0x79b97091, 0x2833e848, 0x8181585d, 0xb85045b6, 0xe131a029, 0x30644e72}};
};

using Bls12381FpParams = Derived<Bls12381FpModulus, 12>;
using Bls12381FrParams = Derived<Bls12381FrModulus, 8>;
using Bn254FpParams = Derived<Bn254FpModulus, 8>;
using Bn254FrParams = Derived<Bn254FrModulus, 8>;

}  // namespace cuzk
