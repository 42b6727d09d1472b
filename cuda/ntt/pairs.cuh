// Arrays of known factors, read through the cache.
#pragma once

#include "field/fr_shoup.h"

namespace cuzk::ntt {

CUZK_HD uint4 quad(const u32* limbs) {
  return make_uint4(limbs[0], limbs[1], limbs[2], limbs[3]);
}
CUZK_HD void put_quad(u32* limbs, const uint4& v) { limbs[0] = v.x, limbs[1] = v.y, limbs[2] = v.z, limbs[3] = v.w; }

// A pair whose first part is at p.
template <class Fr>
CUZK_D Shoup<Fr> load_pair(const uint4* p) {
  Shoup<Fr> s;
  put_quad(s.w, __ldg(p));
  put_quad(s.w + 4, __ldg(p + 8));
  put_quad(s.q, __ldg(p + 16));
  put_quad(s.q + 4, __ldg(p + 24));
  return s;
}

// Shoup pairs, eight together: four rows of 16-byte parts. Lanes that read neighbouring pairs so read neighbouring words,
// and the parts of a pair are at fixed distances.
template <class Fr>
struct Pairs {
  const uint4* words;
  u32 size;  // pairs
  static CUZK_HD u32 place(u32 i) { return i + 3 * (i & ~7u); }
  CUZK_D Shoup<Fr> at(u32 i) const { return load_pair<Fr>(words + place(i)); }
};

template <class Fr>
CUZK_HD void store_pair(uint4* words, u32 i, const Shoup<Fr>& s) {
  uint4* p = words + Pairs<Fr>::place(i);
  p[0] = quad(s.w);
  p[8] = quad(s.w + 4);
  p[16] = quad(s.q);
  p[24] = quad(s.q + 4);
}

}  // namespace cuzk::ntt
