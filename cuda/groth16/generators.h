// The standard generators of the groups, as gnark-crypto, snarkjs and zcash have them.
#pragma once

#include "curve/point.h"

namespace cuzk::groth16 {

namespace detail {
// Coordinates as integers.
inline constexpr Words<8> kBn254G1[] = {{{1}}, {{2}}};
inline constexpr Words<8> kBn254G2[] = {
    {{0xd992f6ed, 0x46debd5c, 0xf75edadd, 0x674322d4, 0x5e5c4479, 0x426a0066, 0x121f1e76, 0x1800deef}},
    {{0xaef312c2, 0x97e485b7, 0x35a9e712, 0xf1aa4933, 0x31fb5d25, 0x7260bfb7, 0x920d483a, 0x198e9393}},
    {{0x66fa7daa, 0x4ce6cc01, 0x0c43d37b, 0xe3d1e769, 0x8dcb408f, 0x4aab7180, 0xdb8c6deb, 0x12c85ea5}},
    {{0xd122975b, 0x55acdadc, 0x70b38ef3, 0xbc4b3133, 0x690c3395, 0xec9e99ad, 0x585ff075, 0x090689d0}},
};
inline constexpr Words<12> kBls12381G1[] = {
    {{0xdb22c6bb, 0xfb3af00a, 0xf97a1aef, 0x6c55e83f, 0x171bac58, 0xa14e3a3f, 0x9774b905, 0xc3688c4f, 0x4fa9ac0f, 0x2695638c, 0x3197d794,
      0x17f1d3a7}},
    {{0x46c5e7e1, 0x0caa2329, 0xa2888ae4, 0xd03cc744, 0x2c04b3ed, 0x00db18cb, 0xd5d00af6, 0xfcf5e095, 0x741d8ae4, 0xa09e30ed, 0xe3aaa0f1,
      0x08b3f481}},
};
inline constexpr Words<12> kBls12381G2[] = {
    {{0xc121bdb8, 0xd48056c8, 0xa805bbef, 0x0bac0326, 0x7ae3d177, 0xb4510b64, 0xfa403b02, 0xc6e47ad4, 0x2dc51051, 0x26080527, 0xf08f0a91,
      0x024aa2b2}},
    {{0x5d042b7e, 0xe5ac7d05, 0x13945d57, 0x334cf112, 0xdc7f5049, 0xb5da61bb, 0x9920b61a, 0x596bd0d0, 0x88274f65, 0x7dacd3a0, 0x52719f60,
      0x13e02b60}},
    {{0x08b82801, 0xe1935486, 0x3baca289, 0x923ac9cc, 0x5160d12c, 0x6d429a69, 0x8cbdd3a7, 0xadfd9baa, 0xda2e351a, 0x8cc9cdc6, 0x727d6e11,
      0x0ce5d527}},
    {{0xf05f79be, 0xaaa9075f, 0x5cec1da1, 0x3f370d27, 0x572e99ab, 0x267492ab, 0x85a763af, 0xcb3e287e, 0x2bc28b99, 0x32acd2b0, 0x2ea734cc,
      0x0606c4a0}},
};

template <class F, int N>
F element(const Words<N>& w) {
  return to_montgomery(F::of(w));
}
template <class C, int N>
typename C::G1 g1(const Words<N> (&w)[2]) {
  using F = typename C::Fp;
  return {element<F>(w[0]), element<F>(w[1])};
}
template <class C, int N>
typename C::G2 g2(const Words<N> (&w)[4]) {
  using F = typename C::Fp;
  return {{element<F>(w[0]), element<F>(w[1])}, {element<F>(w[2]), element<F>(w[3])}};
}
}  // namespace detail

template <class C>
struct Generators;

template <>
struct Generators<Bn254> {
  static Bn254::G1 g1() { return detail::g1<Bn254>(detail::kBn254G1); }
  static Bn254::G2 g2() { return detail::g2<Bn254>(detail::kBn254G2); }
};

template <>
struct Generators<Bls12381> {
  static Bls12381::G1 g1() { return detail::g1<Bls12381>(detail::kBls12381G1); }
  static Bls12381::G2 g2() { return detail::g2<Bls12381>(detail::kBls12381G2); }
};

}  // namespace cuzk::groth16
