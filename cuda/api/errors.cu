#include "api/errors.h"

#include <cstdio>
#include <new>

#include "groth16/prover.h"

namespace cuzk::api {

namespace {

void fill(cuzk_error* error, int32_t code, const char* message, uint64_t asked = 0, uint64_t free = 0) {
  if (!error) return;
  std::memset(error, 0, sizeof *error);
  error->code = code;
  error->asked = asked;
  error->free = free;
  std::snprintf(error->message, sizeof error->message, "%s", message);
}

// Codes of the CUDA runtime by their numbers, which are part of its interface.
int32_t code_of(int cuda) {
  switch (cuda) {
    case 2: return CUZK_OUT_OF_MEMORY;
    case 35: return CUZK_DRIVER_TOO_OLD;
    case 100:  // no device
    case 101:  // invalid device
      return CUZK_NO_DEVICE;
    case 200:  // invalid kernel image
    case 209:  // no kernel image for the device
    case 218:  // invalid PTX
    case 221:  // no compiler for PTX
    case 222:  // PTX too new for the driver
      return CUZK_ARCH_NOT_BUILT;
    case 46:   // device unavailable
    case 214:  // uncorrectable memory error
    case 700:  // illegal address
    case 702:  // launch timeout
    case 709:  // context destroyed
    case 710:  // device assertion
    case 714:  // stack error
    case 715:  // illegal instruction
    case 716:  // misaligned address
    case 717:  // invalid address space
    case 718:  // invalid program counter
    case 719:  // launch failure
      return CUZK_DEVICE_LOST;
    default: return CUZK_INTERNAL;
  }
}

}  // namespace

int32_t describe(cuzk_error* error) noexcept {
  int32_t code = CUZK_INTERNAL;
  try {
    throw;
  } catch (const OutOfMemory& e) {
    fill(error, code = CUZK_OUT_OF_MEMORY, e.what(), e.asked, e.free);
  } catch (const HostOutOfMemory& e) {
    fill(error, code = CUZK_OUT_OF_HOST_MEMORY, e.what(), e.asked);
  } catch (const std::bad_alloc&) {
    fill(error, code = CUZK_OUT_OF_HOST_MEMORY, "out of host memory");
  } catch (const Unsupported& e) {
    fill(error, code = CUZK_UNSUPPORTED, e.what());
  } catch (const Failure& e) {
    fill(error, code = e.code, e.what());
  } catch (const groth16::Invalid& e) {
    fill(error, code = CUZK_INVALID, e.what());
  } catch (const groth16::Cancelled& e) {
    fill(error, code = CUZK_CANCELLED, e.what());
  } catch (const groth16::ReadFailed& e) {
    fill(error, code = CUZK_READ_FAILED, e.what());
  } catch (const groth16::Busy& e) {
    fill(error, code = CUZK_BUSY, e.what());
  } catch (const groth16::SelfTestFailed& e) {
    fill(error, code = CUZK_SELFTEST_FAILED, e.what());
  } catch (const CudaError& e) {
    fill(error, code = code_of(int(e.code)), e.what());
  } catch (const std::exception& e) {
    fill(error, code, e.what());
  } catch (...) {
    fill(error, code, "unknown error");
  }
  return code;
}

}  // namespace cuzk::api
