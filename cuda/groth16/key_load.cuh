// Loading of keys: what goes where, and how it gets there.
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>

#include "groth16/key.cuh"

namespace cuzk::groth16 {

namespace detail {

inline std::vector<u64> copy_words(const u64* from, std::size_t n) {
  std::vector<u64> v(n);
  std::memcpy(v.data(), from, n * 8);
  return v;
}

// Wires that have a point in A, B1 or B2.
inline std::vector<u64> present_wires(const cuzk_section& section, int index, u64 wires) {
  std::vector<u64> present = wires_from(0, wires);
  if (!section.absent) return present;
  if (section.absent_words < present.size()) {
    throw Invalid("section " + std::string(section_name(index)) + ": " + std::to_string(section.absent_words) +
                  " words tell the absent points of " + std::to_string(wires) + " wires");
  }
  const std::vector<u64> absent = copy_words(section.absent, present.size());
  for (std::size_t i = 0; i < present.size(); i++) present[i] &= ~absent[i];
  return present;
}

// Private wires that no commitment covers.
inline std::vector<u64> uncommitted_wires(const cuzk_key_source& s) {
  std::vector<u64> present = wires_from(s.public_inputs + 1, s.wires);
  for (u64 i = 0; i < s.committed_count; i++) {
    u32 wire;
    std::memcpy(&wire, s.committed + i, 4);
    if (wire >= s.wires || wire <= s.public_inputs) throw Invalid("committed wire " + std::to_string(wire) + " is not a private wire");
    present[wire / 64] &= ~(u64(1) << wire % 64);
  }
  return present;
}

template <class T>
T read_point(const void* from, const char* name) {
  if (!from) throw Invalid(std::string(name) + " is null");
  T t;
  std::memcpy(&t, from, sizeof t);
  return t;
}

// A section's points in the caller's memory, or from its reader.
inline SectionPoints points_of(const cuzk_key_source& source, int index, std::size_t point_bytes) {
  const cuzk_section& s = source.section[index];
  SectionPoints points{section_name(index), static_cast<const char*>(s.points), s.count, point_bytes, {}};
  if (s.points || s.count == 0) return points;
  if (!source.read) throw Invalid("section " + std::string(points.name) + " is null");
  points.read = [read = source.read, context = source.read_context, index](void* to, u64 first, u64 n) {
    if (read(context, u32(index), first, n, to)) throw ReadFailed();
  };
  return points;
}

template <class C>
Vertices<C> read_vertices(const cuzk_key_source& s) {
  using G1 = typename C::G1;
  using G2 = typename C::G2;
  return {read_point<G1>(s.alpha_g1, "alpha_g1"), read_point<G1>(s.beta_g1, "beta_g1"), read_point<G1>(s.delta_g1, "delta_g1"),
          read_point<G2>(s.beta_g2, "beta_g2"), read_point<G2>(s.delta_g2, "delta_g2")};
}

// Tables of transforms take as much as three vectors of the domain where all are large; the small forms serve keys that
// would otherwise not fit.
template <class Fr>
std::size_t table_limit(const KeyShape& shape, u64 available) {
  const std::size_t all = 3 * std::size_t(shape.domain) * sizeof(Fr) + (std::size_t(64) << 20);
  return available / 8 >= all ? ~std::size_t(0) : 0;
}

}  // namespace detail

template <class C>
Key<C>::Key(Engine& engine, const cuzk_key_source& source, const Poll& poll)
    : engine_(engine),
      user_(engine),
      shape_(KeyShape::check<Fr>(source.layout, source.wires, source.public_inputs, source.domain)),
      vertices_(detail::read_vertices<C>(source)) {
  if (source.committed_count && !source.committed) throw Invalid("committed is null");
  const cuzk_section& quotient = source.section[CUZK_SECTION_H];
  if (quotient.count != quotient_points(shape_.layout, shape_.domain)) {
    throw Invalid("section H has " + std::to_string(quotient.count) + " points, " +
                  std::to_string(quotient_points(shape_.layout, shape_.domain)) + " are needed");
  }
  const auto keep = [&](int i, std::vector<u64> present) {
    return KeptPoints(detail::points_of(source, i, i == CUZK_SECTION_B2 ? sizeof(G2) : sizeof(G1)), std::move(present), engine.copy_threads(), poll);
  };
  const KeptPoints kept[kWireSections] = {
      keep(CUZK_SECTION_A, detail::present_wires(source.section[CUZK_SECTION_A], CUZK_SECTION_A, shape_.wires)),
      keep(CUZK_SECTION_B1, detail::present_wires(source.section[CUZK_SECTION_B1], CUZK_SECTION_B1, shape_.wires)),
      keep(CUZK_SECTION_B2, detail::present_wires(source.section[CUZK_SECTION_B2], CUZK_SECTION_B2, shape_.wires)),
      keep(CUZK_SECTION_L, detail::uncommitted_wires(source)),
  };
  const u64 points[kWireSections] = {kept[kA].size(), kept[kB1].size(), kept[kB2].size(), kept[kL].size()};
  plan(points, source.device_budget, source.host_budget, poll);
  engine.allocate([&] { load(source, kept, poll); });
  engine.staging().clear();
  engine.reserve_scratch(scratch_bytes(), poll);
}

template <class C>
template <class Fill>
Key<C>::Key(Engine& engine, const KeyShape& shape, const Vertices<C>& vertices, const Counts& counts, u64 device_budget, Fill fill)
    : engine_(engine), user_(engine), shape_(shape), vertices_(vertices) {
  const Poll never = [] {};
  plan(counts.points, device_budget, 0, never);
  fill(*this);
  engine.reserve_scratch(scratch_bytes(), never);
}

// ---- what goes where ----

template <class C>
void Key<C>::make_sums(const u64 (&points)[kWireSections], std::size_t limit) {
  sums_.clear();
  if (plan_.side_by_side) {
    for (int i : {kA, kB1}) sums_.emplace_back(points[i], 0, points[i], limit, false);
    sums_.emplace_back(0, points[kB2], 0, limit, false);
    sums_.emplace_back(points[kL], 0, points[kL], limit, false);
    sums_.emplace_back(shape_.domain, 0, 0, limit, false);
    return;
  }
  const u64 selected = std::max({points[kA], points[kB1], points[kL]});
  u64 most = std::max(selected, shape_.domain), most_g2 = points[kB2], most_selected = selected;
  sums_.emplace_back(most, most_g2, most_selected, limit, plan_.streamed());
}

template <class C>
std::vector<std::size_t> Key<C>::scratch_shares() const {
  std::vector<std::size_t> shares;
  for (const auto& s : sums_) shares.push_back(s.scratch_bytes);
  return shares;
}

template <class C>
std::size_t Key<C>::scratch_bytes() const {
  const auto shares = scratch_shares();
  return std::accumulate(shares.begin(), shares.end(), std::size_t(0));
}

// Finds the scratch for the sections that plan_ has on the device; false if there is no room for it.
template <class C>
bool Key<C>::try_plan(const u64 (&points)[kWireSections], const KeyDemand& demand, const KeyBudget& budget) {
  u64 device = demand.fixed, host = 0;
  for (int i = 0; i < kSections; i++) (plan_.on_device[i] ? device : host) += demand.section[i];
  const u64 taken = device + demand.lanes;
  if (device > budget.device || host > budget.host || taken >= budget.available) return false;
  const u64 room = std::min(budget.available - taken, budget.scratch);
  // Side by side where five scratches are a small part of what there is.
  plan_.side_by_side = !plan_.streamed();
  if (plan_.side_by_side) {
    make_sums(points, ~std::size_t(0));
    if (scratch_bytes() <= room / 2) return true;
    plan_.side_by_side = false;
  }
  make_sums(points, ~std::size_t(0));
  if (scratch_bytes() <= room) return true;
  // The limit holds for the multiplications alone.
  make_sums(points, 0);
  const std::size_t least = scratch_bytes();
  if (least > room) return false;
  for (std::size_t spare = room - least; spare >= (std::size_t(1) << 20); spare -= spare / 4) {
    make_sums(points, spare);
    if (scratch_bytes() <= room) return true;
  }
  make_sums(points, 0);
  return true;
}

template <class C>
void Key<C>::plan(const u64 (&points)[kWireSections], u64 device_budget, u64 host_budget, const Poll& poll) {
  poll();
  KeyBudget budget;
  const u64 proof = most_proof_bytes();
  budget.available = engine_.reachable(proof);
  budget.device = device_budget ? device_budget : ~u64(0);
  budget.host = host_budget ? host_budget : ~u64(0);
  budget.scratch = engine_.options().scratch_limit ? engine_.options().scratch_limit : ~u64(0);

  engine_.allocate([&] { quotient_.emplace(shape_.layout, shape_.log_n, detail::table_limit<Fr>(shape_, budget.available)); });
  KeyDemand demand;
  demand.fixed = 4 * RankedSet::bytes_for(shape_.wires) + quotient_->table_bytes();
  budget.available += quotient_->table_bytes();  // taken already
  for (int i : {kA, kB1, kB2, kL}) demand.section[i] = points[i] * (i == kB2 ? sizeof(G2) : sizeof(G1));
  demand.section[CUZK_SECTION_H] = shape_.domain * sizeof(G1);
  demand.lanes = engine_.lanes() * proof;

  std::fill(std::begin(plan_.on_device), std::end(plan_.on_device), true);
  // H first: its transfer hides behind the arithmetic of its own sum.
  constexpr int kLeave[] = {CUZK_SECTION_H, CUZK_SECTION_L, CUZK_SECTION_A, CUZK_SECTION_B1, CUZK_SECTION_B2};
  for (std::size_t left = 0; !try_plan(points, demand, budget); left++) {
    if (left == std::size(kLeave)) {
      u64 all = demand.fixed + demand.lanes + scratch_bytes();
      throw OutOfMemory(all, std::min(budget.available, budget.device));
    }
    if (demand.section[kLeave[left]]) plan_.on_device[kLeave[left]] = false;
  }
  u64 device = demand.fixed;
  for (int i = 0; i < kSections; i++)
    if (plan_.on_device[i]) device += demand.section[i];
  held_ = engine_.allocate([&] { return MemoryAccount::Held(engine_.memory(), device); });
}

// ---- how it gets there ----

template <class C>
void Key<C>::load(const cuzk_key_source& source, const KeptPoints (&kept)[kWireSections], const Poll& poll) {
  // What an attempt for which memory did not suffice has loaded would take the room of this one.
  for (Section<G1>* section : {&a, &b1, &l}) *section = {};
  b2 = {};
  h = {};
  load_section(a, kept[kA], plan_.on_device[CUZK_SECTION_A], poll);
  load_section(b1, kept[kB1], plan_.on_device[CUZK_SECTION_B1], poll);
  load_section(b2, kept[kB2], plan_.on_device[CUZK_SECTION_B2], poll);
  load_section(l, kept[kL], plan_.on_device[CUZK_SECTION_L], poll);
  load_quotient_points(detail::points_of(source, CUZK_SECTION_H, sizeof(G1)), poll);
  stream_.synchronize();
}

template <class C>
template <class G>
void Key<C>::load_section(Section<G>& section, const KeptPoints& kept, bool on_device, const Poll& poll) {
  section.set = RankedSet(reinterpret_cast<const u32*>(kept.set().data()), shape_.wires, stream_);
  section.points = Points<G>(kept.size(), on_device);
  HostThreads& threads = engine_.copy_threads();
  if (on_device) {
    engine_.staging().upload(section.points.device(), kept.bytes(), sizeof(G), stream_, poll, [&](void* to, std::size_t offset, std::size_t n) {
      kept.copy(to, offset / sizeof(G), n / sizeof(G), threads);
    });
    return;
  }
  for (u64 first = 0; first < kept.size(); first += kWindowPoints) {
    poll();
    kept.copy(section.points.host() + first, first, std::min(kWindowPoints, kept.size() - first), threads);
  }
}

template <class C>
void Key<C>::load_quotient_points(const SectionPoints& from, const Poll& poll) {
  const u64 n = quotient_points(shape_.layout, shape_.domain);
  const QuotientPlace place(shape_.layout, shape_.log_n);
  h = Points<G1>(shape_.domain, plan_.on_device[CUZK_SECTION_H]);
  HostThreads& threads = engine_.copy_threads();
  if (!h.resident()) {
    std::memset(static_cast<void*>(h.host()), 0, h.host_bytes());
    std::vector<G1> window(std::min(kWindowPoints, n));
    for (u64 first = 0; first < n; first += window.size()) {
      poll();
      const u64 count = std::min<u64>(window.size(), n - first);
      from.copy(window.data(), first, count, threads);
      threads.ranges(count, 4096, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; i++) h.host()[place.of_point(first + i)] = window[i];
      });
    }
    return;
  }
  // The place of the coefficient n − 1, whose scalar is always zero, has no point.
  check(cudaMemsetAsync(h.device(), 0, h.device_bytes(), stream_), "clearing device memory");
  DeviceArray<char> window(Staging::kPiece);
  engine_.staging().through(
      window.get(), n * sizeof(G1), sizeof(G1), stream_, poll,
      [&](void* to, std::size_t offset, std::size_t bytes) { from.copy(to, offset / sizeof(G1), bytes / sizeof(G1), threads); },
      [&](const void* staged, std::size_t offset, std::size_t bytes) {
        const u32 count = u32(bytes / sizeof(G1));
        launch(detail::place_quotient_points_kernel<G1>, detail::gather_blocks(count), detail::kGatherThreads, 0, stream_,
               static_cast<const G1*>(staged), offset / sizeof(G1), count, place, h.device());
      });
  stream_.synchronize();  // before the window goes
}

template <class C>
cuzk_key_info Key<C>::info() const {
  cuzk_key_info i = {};
  i.size = sizeof i;
  i.curve = std::is_same_v<C, Bn254> ? CUZK_BN254 : CUZK_BLS12381;
  i.layout = u32(shape_.layout);
  for (int s = 0; s < kSections; s++) i.streamed |= u32(!plan_.on_device[s]) << s;
  i.wires = shape_.wires;
  i.public_inputs = shape_.public_inputs;
  i.domain = shape_.domain;
  i.device_bytes = held_.bytes();
  i.host_bytes = a.points.host_bytes() + b1.points.host_bytes() + b2.points.host_bytes() + l.points.host_bytes() + h.host_bytes();
  i.proof_device_bytes = most_proof_bytes();
  i.scratch_bytes = scratch_bytes();
  return i;
}

}  // namespace cuzk::groth16
