// What can go wrong beside the CUDA runtime; the C ABI turns each into a code.
#pragma once

#include <stdexcept>
#include <string>

#include "base/poll.h"

namespace cuzk::groth16 {

// Invalid is a fault of what the caller handed over.
struct Invalid : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Cancelled is what a Poll throws.
struct Cancelled : std::runtime_error {
  Cancelled() : std::runtime_error("cancelled") {}
};

struct ReadFailed : std::runtime_error {
  ReadFailed() : std::runtime_error("points of the key could not be read") {}
};

struct Busy : std::runtime_error {
  Busy() : std::runtime_error("all lanes of the engine have a proof under way") {}
};

}  // namespace cuzk::groth16
