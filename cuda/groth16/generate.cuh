// Keys with known exponents, made on the device, of any size that fits.
#pragma once

#include "groth16/key_load.cuh"
#include "groth16/trapdoor.cuh"

namespace cuzk::groth16 {

namespace detail {

// Wires from first on whose exponent is not zero.
template <class Function>
__global__ void __launch_bounds__(kElementThreads) nonzero_kernel(Function exponent, u64 first, u64 n, u32* set) {
  const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  const u32 word = __ballot_sync(~0u, i >= first && i < n && !is_zero(exponent(i)));
  if (i % kWarp == 0) set[i / kWarp] = word;
}

template <class Function>
std::vector<u32> nonzero_wires(const Function& exponent, u64 first, u64 n) {
  const Stream stream;
  DeviceArray<u32> set(bitmap_words(n));
  launch(nonzero_kernel<Function>, selection_blocks(n) * (kWiresPerBlock / kElementThreads), kElementThreads, 0, stream, exponent, first, n, set.get());
  std::vector<u32> host(set.size());
  set.download(host.data(), host.size(), stream);
  stream.synchronize();
  return host;
}

// A wire's point among those of a section.
struct PlaceInSection {
  const u32 *words, *rank;
  CUZK_D u64 operator()(u64 wire) const {
    const u32 word = words[wire / kWarp], bit = u32(wire % kWarp);
    return word >> bit & 1 ? rank[wire / kWarp] + u32(__popc(word & ((1u << bit) - 1))) : kNowhere;
  }
};

struct PlaceInQuotient {
  QuotientPlace place;
  CUZK_HD u64 operator()(u64 term) const { return place.of_term(term); }
};

// Points that `fill` makes on the device; they stay there, or go to the host.
template <class G, class Fill>
void make_points(Points<G>& points, u64 n, bool on_device, const Stream& stream, const Fill& fill) {
  points = {n, on_device};
  if (points.resident()) return fill(points.device());
  DeviceArray<G> made(n);
  fill(made.get());
  made.download(points.host(), n, stream);
  stream.synchronize();
}

}  // namespace detail

// Key with the trapdoor's exponents. Sections that do not fit the budget (0: no bound) are made on the device all the same, and
// then kept on the host.
template <class C>
std::shared_ptr<Key<C>> generate_key(Engine& engine, const KeyShape& shape, const Trapdoor<typename C::Fr>& t, u64 device_budget = 0) {
  using Fr = typename C::Fr;
  using namespace detail;
  const auto g1 = Generators<C>::g1();
  const auto g2 = Generators<C>::g2();
  const auto in_g1 = [&](const Fr& k) { return to_affine(multiply(g1, from_montgomery(k))); };
  const auto in_g2 = [&](const Fr& k) { return to_affine(multiply(g2, from_montgomery(k))); };
  const Vertices<C> vertices{in_g1(t.alpha), in_g1(t.beta), in_g1(t.delta), in_g2(t.beta), in_g2(t.delta)};

  const std::vector<u32> sets[] = {nonzero_wires(t.a, 0, shape.wires), nonzero_wires(t.b, 0, shape.wires),
                                   nonzero_wires(t.l, shape.public_inputs + 1, shape.wires)};
  const auto size = [](const std::vector<u32>& set) {
    u64 n = 0;
    for (u32 w : set) n += u64(__builtin_popcount(w));
    return n;
  };
  const typename Key<C>::Counts counts{{size(sets[0]), size(sets[1]), size(sets[1]), size(sets[2])}};
  const auto fill = [&](Key<C>& key) {
    const Stream stream;
    FixedBase<typename C::Fp, Fr> base(g1, std::max(shape.wires, shape.domain));
    const auto section = [&](auto& s, int index, auto& multiples, const std::vector<u32>& set, u64 n, const RandomScalars<Fr>& exponents) {
      s.set = RankedSet(set.data(), shape.wires, stream);
      make_points(s.points, n, key.on_device(index), stream, [&](auto* to) {
        multiples.fill(shape.wires, exponents, PlaceInSection{s.set.words(), s.set.rank()}, to);
      });
    };
    section(key.a, CUZK_SECTION_A, base, sets[0], counts.points[kA], t.a);
    section(key.b1, CUZK_SECTION_B1, base, sets[1], counts.points[kB1], t.b);
    section(key.l, CUZK_SECTION_L, base, sets[2], counts.points[kL], t.l);
    const PlaceInQuotient place{QuotientPlace(shape.layout, shape.log_n)};
    make_points(key.h, shape.domain, key.on_device(CUZK_SECTION_H), stream, [&](auto* to) {
      if (shape.layout == Layout::kSnarkjs) {
        base.fill(shape.domain, t.odd_values(shape.log_n), place, to);
      } else {
        base.fill(shape.domain, t.powers_of_tau(shape.log_n), place, to);
      }
    });
    FixedBase<typename C::Fp2, Fr> base2(g2, shape.wires);
    section(key.b2, CUZK_SECTION_B2, base2, sets[1], counts.points[kB2], t.b);
  };
  return std::make_shared<Key<C>>(engine, shape, vertices, counts, device_budget, fill);
}

}  // namespace cuzk::groth16
