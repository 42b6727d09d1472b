// The memory of a lane, as one proof uses it.
#pragma once

#include "groth16/key_shape.h"
#include "groth16/witness.cuh"

namespace cuzk::groth16 {

// What a proof's memory depends on besides its key.
struct AssignmentShape {
  bool packed;  // bits are kept apart; only where a structure makes the vectors
  u64 witness;  // elements
};

// Sections that are multiplied by wires, in the order of their lists.
enum WireSection { kA, kB1, kB2, kL, kWireSections };

template <class Fr>
struct ProofMemory {
  DeviceWitness<Fr> witness;
  Fr* vector[3];  // a, b and c; the quotient comes out in c
  u32* counts;    // members by section: ones, then others
  Faults* faults;

  ProofMemory() = default;
  ProofMemory(const KeyShape& key, const AssignmentShape& assignment, Arena& arena) {
    for (Fr*& v : vector) v = arena.take<Fr>(key.domain);
    // c is made from the sorted witness, so elements that come beside bits can lie there before.
    Fr* full = vector[2];
    if (assignment.packed && assignment.witness > key.domain) full = arena.take<Fr>(assignment.witness);
    witness = {key.wires, assignment.packed, assignment.witness, full, arena};
    counts = arena.take<u32>(2 * kWireSections * (std::size_t(selection_blocks(key.wires)) + 1));
    faults = arena.take<Faults>(1);
  }

  static std::size_t bytes(const KeyShape& key, const AssignmentShape& assignment) {
    Arena counting;
    ProofMemory m(key, assignment, counting);
    return counting.peak();
  }
};

}  // namespace cuzk::groth16
