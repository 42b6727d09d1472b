// Numbers of a key, and how its memory is laid out.
#pragma once

#include <string>

#include "groth16/errors.h"
#include "groth16/layout.h"
#include "include/cuzk.h"
#include "ntt/roots.h"

namespace cuzk::groth16 {

struct KeyShape {
  Layout layout;
  u64 wires, public_inputs, domain;
  int log_n;

  // Throws Invalid.
  template <class Fr>
  static KeyShape check(u32 layout, u64 wires, u64 public_inputs, u64 domain) {
    if (layout > u32(Layout::kSnarkjs)) throw Invalid("unknown layout " + std::to_string(layout));
    if (wires == 0 || wires > ~u32(0) || public_inputs >= wires)
      throw Invalid(std::to_string(wires) + " wires with " + std::to_string(public_inputs) + " public inputs");
    if (domain == 0 || (domain & (domain - 1))) throw Invalid("a domain of " + std::to_string(domain) + " elements, which is no power of two");
    int log_n = 0;
    while (u64(1) << log_n < domain) log_n++;
    if (log_n > std::min(ntt::kMaxLog, ntt::two_adicity<Fr>())) throw Invalid("a domain of 2^" + std::to_string(log_n) + " elements is more than can be proved");
    return {Layout(layout), wires, public_inputs, domain, log_n};
  }
};

// Sections by the index that the C ABI gives them.
constexpr int kSections = 5;
inline const char* section_name(int i) {
  constexpr const char* names[] = {"A", "B1", "B2", "L", "H"};
  return names[i];
}

// What of a key is where.
struct KeyPlan {
  bool on_device[kSections];
  bool side_by_side;          // sums have a stream each
  std::size_t scratch_limit;  // of multi-scalar multiplications; each, where side by side

  bool streamed() const {
    for (bool d : on_device)
      if (!d) return true;
    return false;
  }
};

// What a plan must find room for, in bytes.
struct KeyDemand {
  u64 section[kSections];
  u64 fixed;  // on the device in any case: bitmaps and tables
  u64 lanes;  // of proofs under way
};

struct KeyBudget {
  u64 device;     // for the key
  u64 host;       // for what is streamed
  u64 available;  // on the device, for everything
  u64 scratch;    // for the scratch of sums
};

}  // namespace cuzk::groth16
