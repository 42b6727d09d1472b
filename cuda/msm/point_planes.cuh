// Points as planes of 16 bytes: plane k holds the k-th 16 bytes of every point, x before y. Neighbouring lanes then read
// and write whole lines, and a pass over the x coordinates moves no y.
#pragma once

#include "curve/point_lanes.cuh"

namespace cuzk::msm {

template <class F>
struct PointPlanes {
  static constexpr int kVectors = sizeof(F) / sizeof(uint4);  // of a coordinate
  static constexpr int kPlanes = 2 * kVectors;

  uint4* data;
  u64 capacity;  // points

  template <class T>
  CUZK_D T load(u32 i, int plane) const {
    T r;
    CUZK_UNROLL
    for (int k = 0; k < int(sizeof(T) / sizeof(uint4)); k++) cuzk::detail::unpack(r, k, __ldg(data + (plane + k) * capacity + i));
    return r;
  }
  CUZK_D F x(u32 i) const { return load<F>(i, 0); }
  CUZK_D F y(u32 i) const { return load<F>(i, kVectors); }
  CUZK_D Affine<F> point(u32 i) const { return {x(i), y(i)}; }
  // By the lanes that hold a point; all of a warp take part.
  CUZK_D PointLanes<F> lanes(u32 i) const {
    using Component = typename PointLanes<F>::Component;
    const int plane = int(PointLanes<F>::affine_component() * (sizeof(Component) / sizeof(uint4)));
    return PointLanes<F>::of_affine(load<Component>(i, plane));
  }

  CUZK_D void store(u32 i, const F& v, int plane) const {
    CUZK_UNROLL
    for (int k = 0; k < kVectors; k++) data[(plane + k) * capacity + i] = cuzk::detail::pack(v, k);
  }
  CUZK_D void store_x(u32 i, const F& v) const { store(i, v, 0); }
  CUZK_D void store_y(u32 i, const F& v) const { store(i, v, kVectors); }
  CUZK_D void store_point(u32 i, const Affine<F>& p) const {
    store_x(i, p.x);
    store_y(i, p.y);
  }
};

}  // namespace cuzk::msm
