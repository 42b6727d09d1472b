// field_test on the carry chains of the device, with an emulated flag.
#define CUZK_CARRY_CHAINS 1
#include "test/field_test.cu"
