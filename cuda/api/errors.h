// Exceptions to codes, and structs that may grow.
#pragma once

#include <cstring>

#include "base/device.h"
#include "groth16/errors.h"
#include "include/cuzk.h"

namespace cuzk::api {

// Fails with a code of its own.
struct Failure : std::runtime_error {
  Failure(cuzk_code c, const std::string& what) : std::runtime_error(what), code(c) {}
  cuzk_code code;
};

// Puts the exception that is being handled into *error, which may be null, and returns its code.
int32_t describe(cuzk_error* error) noexcept;

// Runs f and turns what it throws into a code.
template <class F>
int32_t guarded(cuzk_error* error, F f) noexcept {
  try {
    f();
    return CUZK_OK;
  } catch (...) {
    return describe(error);
  }
}

template <class T>
T& required(T* p, const char* what) {
  if (!p) throw groth16::Invalid(std::string(what) + " is null");
  return *p;
}

// The caller's struct as this library knows it: what the caller does not know is zero.
template <class T>
T read_sized(const T* from, const char* what) {
  const T& f = required(from, what);
  if (f.size < 2 * sizeof(uint32_t)) throw groth16::Invalid(std::string(what) + ".size is not set");
  T t;
  std::memset(&t, 0, sizeof t);
  std::memcpy(&t, &f, f.size < sizeof t ? f.size : sizeof t);
  return t;
}

// Writes as much as the caller knows of.
template <class T>
void write_sized(T* to, const T& value, const char* what) {
  T& t = required(to, what);
  if (t.size < 2 * sizeof(uint32_t)) throw groth16::Invalid(std::string(what) + ".size is not set");
  const uint32_t size = t.size;
  std::memcpy(&t, &value, size < sizeof value ? size : sizeof value);
  t.size = size;
}

}  // namespace cuzk::api
