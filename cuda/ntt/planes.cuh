// Arrays of known factors, read through the cache.
#pragma once

#include "field/fr_shoup.h"

namespace cuzk::ntt {

CUZK_HD uint4 quad(const u32* limbs) {
  return make_uint4(limbs[0], limbs[1], limbs[2], limbs[3]);
}
CUZK_HD void put_quad(u32* limbs, const uint4& v) { limbs[0] = v.x, limbs[1] = v.y, limbs[2] = v.z, limbs[3] = v.w; }

// Shoup pairs in four planes of 16 bytes, so that lanes that read neighbouring pairs read neighbouring words.
template <class Fr>
struct Planes {
  const uint4* words;
  u32 size;  // pairs
  CUZK_D Shoup<Fr> at(u32 i) const {
    Shoup<Fr> s;
    put_quad(s.w, __ldg(words + i));
    put_quad(s.w + 4, __ldg(words + i + size));
    put_quad(s.q, __ldg(words + i + 2 * size));
    put_quad(s.q + 4, __ldg(words + i + 3 * size));
    return s;
  }
};

template <class Fr>
CUZK_HD void store_planes(uint4* words, u32 size, u32 i, const Shoup<Fr>& s) {
  words[i] = quad(s.w);
  words[i + size] = quad(s.w + 4);
  words[i + 2 * size] = quad(s.q);
  words[i + 3 * size] = quad(s.q + 4);
}

}  // namespace cuzk::ntt
