// Keys as their files hold them, from keys that were generated on the device.
#pragma once

#include "groth16/generate.cuh"

namespace cuzk::groth16 {

// RawKey is what a key's source gives: gnark's and bellman's leave infinities out, snarkjs's does not.
template <class C>
class RawKey {
 public:
  using G1 = typename C::G1;
  using G2 = typename C::G2;

  RawKey(const Key<C>& key, bool leave_out) : vertices_(key.vertices()) {
    const KeyShape& shape = key.shape();
    source_.size = sizeof source_;
    source_.curve = std::is_same_v<C, Bn254> ? CUZK_BN254 : CUZK_BLS12381;
    source_.layout = u32(shape.layout);
    source_.wires = shape.wires;
    source_.public_inputs = shape.public_inputs;
    source_.domain = shape.domain;
    put_section(CUZK_SECTION_A, key.a, shape.wires, leave_out);
    put_section(CUZK_SECTION_B1, key.b1, shape.wires, leave_out);
    put_section(CUZK_SECTION_B2, key.b2, shape.wires, leave_out);
    put_private(key.l, shape, leave_out);
    put_quotient(key.h, shape);
  }

  cuzk_key_source source() const {
    cuzk_key_source s = source_;
    s.alpha_g1 = &vertices_.alpha;
    s.beta_g1 = &vertices_.beta;
    s.delta_g1 = &vertices_.delta;
    s.beta_g2 = &vertices_.beta2;
    s.delta_g2 = &vertices_.delta2;
    for (int i = 0; i < kSections; i++) {
      s.section[i].points = points_[i].data() + kOffset;
      if (!absent_[i].empty()) {
        s.section[i].absent = absent_[i].data();
        s.section[i].absent_words = absent_[i].size();
      }
    }
    if (!committed_.empty()) {
      s.committed = committed_.data();
      s.committed_count = committed_.size();
    }
    return s;
  }

 private:
  // Files have their sections at any offset.
  static constexpr std::size_t kOffset = 4;

  template <class G>
  static std::vector<G> download(const G* from, u64 n) {
    std::vector<G> v(n);
    if (n) check(cudaMemcpy(v.data(), from, n * sizeof(G), cudaMemcpyDeviceToHost), "copying from the device");
    return v;
  }
  static std::vector<u32> words_of(const RankedSet& set) { return download(set.words(), std::size_t(set.blocks()) * kWordsPerBlock); }

  template <class G>
  void append(int i, const G& p) {
    auto& bytes = points_[i];
    if (bytes.empty()) bytes.resize(kOffset);
    const auto* raw = reinterpret_cast<const char*>(&p);
    bytes.insert(bytes.end(), raw, raw + sizeof p);
    source_.section[i].count++;
  }

  // Calls f(wire, whether it has a point, the point).
  template <class G, class F>
  void each(const Section<G>& section, u64 first, u64 wires, F f) {
    const std::vector<G> points = download(section.points.device(), section.points.size());
    const std::vector<u32> set = words_of(section.set);
    std::size_t next = 0;
    for (u64 w = first; w < wires; w++) {
      const bool there = set[w / 32] >> w % 32 & 1;
      f(w, there, there ? points[next++] : G::infinity());
    }
  }

  template <class G>
  void put_section(int i, const Section<G>& section, u64 wires, bool leave_out) {
    points_[i].resize(kOffset);
    if (leave_out) absent_[i].resize((wires + 63) / 64);
    each(section, 0, wires, [&](u64 w, bool there, const G& p) {
      if (there || !leave_out) return append(i, p);
      // Of those left out a few stand in the file as infinities all the same.
      if (w % 5 == 0) return append(i, p);
      absent_[i][w / 64] |= u64(1) << w % 64;
    });
  }

  void put_private(const Section<G1>& section, const KeyShape& shape, bool leave_out) {
    points_[CUZK_SECTION_L].resize(kOffset);
    each(section, shape.public_inputs + 1, shape.wires, [&](u64 w, bool there, const G1& p) {
      if (there || !leave_out) return append(CUZK_SECTION_L, p);
      committed_.push_back(u32(w));
    });
  }

  void put_quotient(const Points<G1>& h, const KeyShape& shape) {
    points_[CUZK_SECTION_H].resize(kOffset);
    const std::vector<G1> points = download(h.device(), h.size());
    const QuotientPlace place(shape.layout, shape.log_n);
    for (u64 i = 0; i < quotient_points(shape.layout, shape.domain); i++) append(CUZK_SECTION_H, points[place.of_point(i)]);
  }

  Vertices<C> vertices_;
  cuzk_key_source source_ = {};
  std::vector<char> points_[kSections];
  std::vector<u64> absent_[kSections];
  std::vector<u32> committed_;
};

}  // namespace cuzk::groth16
