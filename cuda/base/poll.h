#pragma once

#include <functional>

namespace cuzk {

// Poll throws when the caller has lost interest; long work calls it between its pieces.
using Poll = std::function<void()>;

}  // namespace cuzk
