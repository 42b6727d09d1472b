// Field elements in shared memory.
#pragma once

#include "ntt/pairs.cuh"

namespace cuzk::ntt {

// Values in shared memory, as halves of 16 bytes in two planes, by their offset in bytes in the first. Accesses are written
// as such: where the compiler sees what was stored it cuts a load in four, which then meet in the same banks.
template <class Fr, u32 kPlane>
class SharedValues {
 public:
#if CUZK_DEVICE_CODE
  CUZK_D explicit SharedValues(uint4* p) : p_(u32(__cvta_generic_to_shared(p))) {}
  CUZK_D Fr load(u32 offset) const {
    Fr v;
    load_half(v.limb, p_ + offset);
    load_half(v.limb + 4, p_ + offset + kPlane);
    return v;
  }
  CUZK_D void store(u32 offset, const Fr& v) const {
    store_half(p_ + offset, v.limb);
    store_half(p_ + offset + kPlane, v.limb + 4);
  }

 private:
  static CUZK_D void load_half(u32* v, u32 at) {
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(at) : "memory");
  }
  static CUZK_D void store_half(u32 at, const u32* v) {
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]) : "memory");
  }
  u32 p_;
#else
  explicit SharedValues(uint4* p) : p_(reinterpret_cast<char*>(p)) {}
  Fr load(u32 offset) const {
    Fr v;
    put_quad(v.limb, *half(offset));
    put_quad(v.limb + 4, *half(offset + kPlane));
    return v;
  }
  void store(u32 offset, const Fr& v) const {
    *half(offset) = quad(v.limb);
    *half(offset + kPlane) = quad(v.limb + 4);
  }

 private:
  uint4* half(u32 offset) const { return reinterpret_cast<uint4*>(p_ + offset); }
  char* p_;
#endif
};

}  // namespace cuzk::ntt
