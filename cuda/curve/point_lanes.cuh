// Sums of points by several neighbouring lanes: one for each component of X, Y, ZZ and ZZZ, so four for a point over Fp and
// eight over Fp2.
//
// A sum in XYZZ coordinates is fourteen products, of which up to four do not wait for each other: here it takes four rounds
// of one product in every lane. Sums that wait for one another so take a third of the time of sums by single threads, in a
// quarter of the code, which fits the instruction cache, and no lane holds more than a few coordinates, where a thread's
// registers do not hold the operands of a sum over Fp2. Where there are sums enough to fill the device, single threads over
// Fp are quicker: sixteen products are computed for fourteen, squares cost as much as products, and no two share a reduction.
#pragma once

#include "curve/point.h"

namespace cuzk {

namespace detail {

// What another lane holds, where `shuffle` does so for words of 64 bits.
template <class F, class Shuffle>
CUZK_D F exchanged(const F& v, const Shuffle& shuffle) {
#if CUZK_EMULATED
  return shuffle(v);  // at once, since every shuffle is a switch of fibers
#else
  F r;
  CUZK_UNROLL
  for (int i = 0; i < F::kLimbs; i += 2) {
    const u64 word = shuffle(v.limb[i] | u64(v.limb[i + 1]) << 32);
    r.limb[i] = u32(word);
    r.limb[i + 1] = u32(word >> 32);
  }
  return r;
#endif
}

// How the components of coordinates over F lie in lanes, and their products.
template <class F>
struct Components {
  using Component = F;
  static constexpr u32 kCount = 1;

  static CUZK_D F one() { return F::one(); }
  static CUZK_D F mul(const F& a, const F& b) { return mul_lazy(a, b); }
  static CUZK_D bool all(bool value) { return value; }
};

template <class F>
struct Components<Fp2<F>> {
  using Component = F;
  static constexpr u32 kCount = 2;

  static CUZK_D bool imaginary() { return threadIdx.x % 2 != 0; }
  static CUZK_D F one() { return select(imaginary(), F::zero(), F::one()); }
  // a0 b0 - a1 b1 and a0 b1 + a1 b0
  static CUZK_D F mul(const F& a, const F& b) {
    const F other = neighbour(a);
    return mul_add_lazy(select(imaginary(), other, a), b, select(imaginary(), a, neg_lazy(other)), neighbour(b));
  }
  static CUZK_D bool all(bool value) { return value & (__shfl_xor_sync(~0u, u32(value), 1) != 0); }

 private:
  static CUZK_D F neighbour(const F& v) {
    return exchanged(v, [](const auto& word) { return __shfl_xor_sync(~0u, word, 1); });
  }
};

}  // namespace detail

// What one lane holds of a point over F. All functions are for whole warps: every lane takes part, and what it adds for no
// one's use is thrown away.
template <class F>
class PointLanes {
  using Split = detail::Components<F>;
  enum Coordinate : u32 { kX, kY, kZz, kZzz };

 public:
  using Component = typename Split::Component;
  static constexpr u32 kLanes = 4 * Split::kCount;  // of a point

  static CUZK_D PointLanes infinity() { return PointLanes(Component::zero()); }
  static CUZK_D PointLanes load(const Xyzz<F>* p) { return PointLanes(cuzk::load(component(p))); }
  CUZK_D void store(Xyzz<F>* p) const { cuzk::store(component(p), own_); }

  // A point from the components of its affine coordinates (x, y): every lane gives the one that affine_component names.
  static CUZK_D u32 affine_component() { return threadIdx.x % (2 * Split::kCount); }
  static CUZK_D PointLanes of_affine(const Component& v) {
    const bool zero = Split::all(is_zero(v)), infinite = of(kX, zero) & of(kY, zero);
    return PointLanes(select(coordinate() < kZz, v, select(infinite, Component::zero(), Split::one())));
  }

  CUZK_D void add(const PointLanes& other);
  CUZK_D PointLanes doubled() const;

 private:
  explicit CUZK_D PointLanes(const Component& own) : own_(own) {}

  static CUZK_D u32 coordinate() { return threadIdx.x % kLanes / Split::kCount; }
  static CUZK_D const Component* component(const Xyzz<F>* p) { return reinterpret_cast<const Component*>(p) + threadIdx.x % kLanes; }
  static CUZK_D Component* component(Xyzz<F>* p) { return reinterpret_cast<Component*>(p) + threadIdx.x % kLanes; }

  // What the lanes of a coordinate hold.
  static CUZK_D Component of(Coordinate c, const Component& v) {
    const int lane = int(c * Split::kCount + threadIdx.x % Split::kCount);
    return detail::exchanged(v, [lane](const auto& word) { return __shfl_sync(~0u, word, lane, int(kLanes)); });
  }
  static CUZK_D bool of(Coordinate c, bool v) { return __shfl_sync(~0u, u32(v), c * Split::kCount, kLanes) != 0; }
  // X for ZZ, Y for ZZZ, and the other way.
  static CUZK_D Component across(const Component& v) {
    return detail::exchanged(v, [](const auto& word) { return __shfl_xor_sync(~0u, word, int(2 * Split::kCount)); });
  }
  static CUZK_D Component mul(const Component& a, const Component& b) { return Split::mul(a, b); }

  CUZK_D bool is_infinity() const { return of(kZz, Split::all(is_zero(own_))); }

  Component own_;
};

// The formula of dbl(Xyzz). Comments say what the lanes of X, Y, ZZ, ZZZ get.
template <class F>
CUZK_D PointLanes<F> PointLanes<F>::doubled() const {
  const u32 c = coordinate();
  const Component y = of(kY, own_), u = dbl_lazy(y);
  const Component squares = select(c == kX, own_, u);
  const Component first = mul(squares, squares);  // X^2, V = U^2, -, -
  const Component v = of(kY, first), xx = of(kX, first), m = add_lazy(dbl_lazy(xx), xx);
  const bool straight = c == kX || c == kZz;
  const Component second = mul(select(straight, own_, u), v);  // S = X V, W = U V, ZZ3 = ZZ V, W
  const Component third = mul(select(c == kX, m, second), select(c == kX, m, own_));  // M^2, W Y, -, ZZZ3 = W ZZZ
  const Component x3 = sub_lazy(sub_lazy(third, second), second);                     // X3 = M^2 - 2S, -, -, -
  const Component fourth = mul(m, sub_lazy(second, x3));                              // M (S - X3), -, -, -
  const Component y3 = sub_lazy(of(kX, fourth), third);                               // -, Y3, -, -
  const Component twice = select(c == kX, x3, select(c == kY, y3, select(c == kZz, second, third)));
  return PointLanes(select(is_infinity(), own_, twice));
}

// The formula of add(Xyzz&, Xyzz).
template <class F>
CUZK_D void PointLanes<F>::add(const PointLanes& b) {
  const u32 c = coordinate();
  const bool a_infinite = is_infinity(), b_infinite = b.is_infinity();
  const Component kept = select(a_infinite, b.own_, own_);  // the sum, if one of them is infinite

  const Component scaled = mul(own_, across(b.own_));            // U1 = X1 ZZ2, S1 = Y1 ZZZ2, U2, S2
  const Component difference = sub_lazy(across(scaled), scaled);  // P = U2 - U1, R = S2 - S1, -, -
  const bool zero = Split::all(is_zero_lazy(difference));
  const bool same_x = of(kX, zero), same_y = of(kY, zero);

  const bool lower = c == kX || c == kY;
  const Component second = mul(select(lower, difference, kept), select(lower, difference, b.own_));  // PP, RR, ZZ1 ZZ2, ZZZ1 ZZZ2
  const Component p = of(kX, difference);
  const Component third = mul(select(c == kX, scaled, select(c == kZz, second, p)), of(kX, second));  // Q = U1 PP, PPP, ZZ3, PPP
  const Component q = of(kX, third), ppp = of(kY, third), s1 = of(kY, scaled);
  const Component x3 = sub_lazy(sub_lazy(sub_lazy(second, third), q), q);  // -, X3 = RR - PPP - 2Q, -, -
  const Component fourth = mul(select(c == kX, s1, select(c == kY, difference, second)), select(c == kY, sub_lazy(q, x3), ppp));  // S1 PPP, R (Q - X3), -, ZZZ3
  const Component y3 = sub_lazy(fourth, of(kX, fourth));
  const Component moved = of(kY, x3);
  Component sum = select(c == kX, moved, select(c == kY, y3, select(c == kZz, third, fourth)));

  const bool ordinary = !a_infinite & !b_infinite;
  if (__any_sync(~0u, same_x & ordinary)) {  // seldom
    const PointLanes twice = PointLanes(kept).doubled();
    sum = select(same_x, select(same_y, twice.own_, Component::zero()), sum);
  }
  own_ = select(ordinary, sum, kept);
}

}  // namespace cuzk
