/*
 * libcuzk: Groth16 proofs on NVIDIA GPUs, for BN254 and BLS12-381.
 *
 * Rules that hold for every function:
 *  - It returns a code of enum cuzk_code. On anything but CUZK_OK it fills *error, if error is not NULL. It never throws,
 *    prints or exits. It leaves the thread's current device as it was, unless the process has no context on that one.
 *  - It keeps no pointer to the caller's memory after it has returned.
 *  - It may be called from any thread. Calls on one proof handle must not overlap, except cuzk_proof_cancel; calls on
 *    other handles may overlap freely. A handle must not be used after its release or close.
 *  - Structs whose first field is `size` may grow at their end: the caller sets it to the sizeof it was built with, the
 *    library reads and writes no more than that. All padding is explicit; pointers and uint64_t are 8 bytes.
 *
 * Field elements and points are raw limbs, least significant first, as gnark-crypto holds them in memory:
 *  - a scalar is 32 bytes; its form (canonical, or times 2^256 modulo r) is told with it;
 *  - a coordinate is 32 (BN254) or 48 (BLS12-381) bytes in Montgomery form, below the modulus;
 *  - a point of G1 is x, y; one of G2 is x.c0, x.c1, y.c0, y.c1; infinity is all zero.
 * Points, scalars and words of input may have any alignment.
 */
#ifndef CUZK_H
#define CUZK_H

#include <stdint.h>

#if defined(CUZK_BUILDING) && defined(__GNUC__)
#define CUZK_API __attribute__((visibility("default")))
#else
#define CUZK_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Raised by every change after which a caller and a library of different versions do not understand each other: 2 lets callers
 * read the points of a key piece by piece; 3 makes page-locked memory for a device, and has codes for what was INTERNAL. */
#define CUZK_ABI_VERSION 3

enum cuzk_code {
  CUZK_OK = 0,
  CUZK_NO_DEVICE = 1,       /* no driver, or no such device */
  CUZK_DRIVER_TOO_OLD = 2,  /* the driver does not know the CUDA version that the library is built with */
  CUZK_ARCH_NOT_BUILT = 3,  /* the library holds no code for this device */
  CUZK_OUT_OF_MEMORY = 4,   /* of the device; see error.asked and error.free */
  CUZK_INVALID = 5,         /* an argument, or data handed over, is not acceptable */
  CUZK_CANCELLED = 6,
  CUZK_SELFTEST_FAILED = 7, /* the device computes wrongly: it must not be used */
  CUZK_DEVICE_LOST = 8,     /* the device or its context failed; only a new process can use it again */
  CUZK_INTERNAL = 9,
  CUZK_BUSY = 10,           /* all lanes of the engine have a proof under way */
  CUZK_READ_FAILED = 11,    /* a function of the caller that reads points failed */
  CUZK_OUT_OF_HOST_MEMORY = 12, /* see error.asked, which is 0 where that is not known */
  CUZK_UNSUPPORTED = 13     /* the device lacks what a kernel needs */
};

typedef struct cuzk_error {
  int32_t code;
  uint32_t reserved;
  uint64_t asked; /* CUZK_OUT_OF_MEMORY, CUZK_OUT_OF_HOST_MEMORY: bytes */
  uint64_t free;
  char message[512]; /* one line of English, ended by a zero byte */
} cuzk_error;

enum cuzk_curve { CUZK_BN254 = 0, CUZK_BLS12381 = 1 };

enum cuzk_layout {
  /* H holds tau^i·Z(tau)/delta, i < domain-1, in natural order; roots of unity from 5 (BN254), 7 (BLS12-381). */
  CUZK_LAYOUT_COEFFICIENTS = 0,
  /* As before, but the point at place i of H belongs to the exponent that has the bits of i reversed. */
  CUZK_LAYOUT_GNARK = 1,
  /* H holds the Lagrange basis of the odd points of the doubled domain; roots from 5 on both curves; c = a∘b. */
  CUZK_LAYOUT_SNARKJS = 2
};

enum cuzk_form { CUZK_CANONICAL = 0, CUZK_MONTGOMERY = 1 };

/* Indices of cuzk_key_source.section. */
enum cuzk_section_index { CUZK_SECTION_A = 0, CUZK_SECTION_B1 = 1, CUZK_SECTION_B2 = 2, CUZK_SECTION_L = 3, CUZK_SECTION_H = 4 };

typedef struct cuzk_engine cuzk_engine;
typedef struct cuzk_key cuzk_key;
typedef struct cuzk_structure cuzk_structure;
typedef struct cuzk_proof cuzk_proof;

/* ---- devices: usable without an engine ---- */

CUZK_API uint32_t cuzk_abi_version(void);

/* A static text: version of the library's CUDA runtime and the architectures that it holds code for. */
CUZK_API const char* cuzk_build_info(void);

/* *count is the number of devices; CUZK_NO_DEVICE or CUZK_DRIVER_TOO_OLD say why there is none. */
CUZK_API int32_t cuzk_device_count(int32_t* count, cuzk_error* error);

typedef struct cuzk_device_info {
  uint32_t size;
  int32_t device;
  char name[256];
  uint8_t uuid[16];
  int32_t compute_major;
  int32_t compute_minor;
  int32_t driver_version;  /* of CUDA, 1000·major + 10·minor: what the driver knows */
  int32_t runtime_version; /* of CUDA: what the library is built with */
  uint64_t memory;         /* bytes of the device in all */
  int32_t multiprocessors;
  int32_t pci_domain;
  int32_t pci_bus;
  int32_t pci_device;
  int32_t native;            /* 1: the library holds machine code for the device, 0: its kernels are compiled on first use */
  int32_t reserved;
  char architectures[128]; /* built in, such as "80,86,89,90,100,120,ptx120" */
} cuzk_device_info;

CUZK_API int32_t cuzk_device_info_get(int32_t device, cuzk_device_info* info, cuzk_error* error);

CUZK_API int32_t cuzk_device_memory(int32_t device, uint64_t* free_bytes, uint64_t* total_bytes, cuzk_error* error);

/* Page-locked host memory of a device's context: what cuzk_proof_write is given from it crosses to the device about twice as
 * fast. Comes and goes cleared. Making it is slow (0.6 s a GiB): keep it. */
CUZK_API int32_t cuzk_host_alloc(int32_t device, uint64_t bytes, void** memory, cuzk_error* error);
CUZK_API int32_t cuzk_host_free(int32_t device, void* memory, uint64_t bytes, cuzk_error* error);

/* ---- engine: one device with its lanes and scratch memory ---- */

typedef struct cuzk_engine_options {
  uint32_t size;
  int32_t device;
  uint64_t device_limit;  /* bytes of device memory that the engine may take in all; 0: what is free */
  uint64_t scratch_limit; /* bytes of it for the scratch of multi-scalar multiplications; 0: the engine chooses */
  uint32_t lanes;         /* proofs under way at once, 1 or 2; 0: 2 */
  uint32_t copy_threads;  /* host threads that copy pageable memory into staging buffers; 0: the engine chooses */
} cuzk_engine_options;

/* Makes the device's context; options may be NULL (device 0). */
CUZK_API int32_t cuzk_engine_open(const cuzk_engine_options* options, cuzk_engine** engine, cuzk_error* error);

typedef struct cuzk_engine_info {
  uint32_t size;
  int32_t device;
  uint32_t lanes;
  uint32_t lanes_free;
  uint32_t keys;
  uint32_t structures;
  uint64_t device_bytes; /* that the engine holds now: keys, structures, tables, lanes and scratch */
  double open_ms;        /* that making the context took */
  double prepare_ms;     /* that the first self-test took to load kernels, or to compile them where native is 0 */
} cuzk_engine_info;

CUZK_API int32_t cuzk_engine_info_get(cuzk_engine* engine, cuzk_engine_info* info, cuzk_error* error);

/* Makes keys of small circuits from known exponents, proves, and compares with what the exponents say: every curve, layout
 * and family of kernels. CUZK_SELFTEST_FAILED says what differed. The first call also loads or compiles all kernels. Needs a
 * free lane (else CUZK_BUSY), and about 100 MB of device memory. */
CUZK_API int32_t cuzk_engine_selftest(cuzk_engine* engine, cuzk_error* error);

/* Gives idle memory (of lanes, scratch) back; done by itself when the last key is released. */
CUZK_API int32_t cuzk_engine_trim(cuzk_engine* engine, cuzk_error* error);

/* Keys, structures and proofs must be released before; CUZK_INVALID otherwise, and the engine stays open. */
CUZK_API int32_t cuzk_engine_close(cuzk_engine* engine, cuzk_error* error);

/* ---- key ---- */

typedef struct cuzk_section {
  const void* points;
  uint64_t count;         /* points */
  const uint64_t* absent; /* A, B1, B2: one bit a wire, least significant first, set where the section leaves the
                             wire's point (infinity) out; NULL where it leaves none out */
  uint64_t absent_words;  /* at least (wires+63)/64 where absent is not NULL */
} cuzk_section;

/* Writes `count` points of a section (cuzk_section_index), from number `first` on, to `to`, and returns 0; anything else ends
 * the loading with CUZK_READ_FAILED. Called by the thread that loads the key. */
typedef int32_t (*cuzk_read_points)(void* context, uint32_t section, uint64_t first, uint64_t count, void* to);

typedef struct cuzk_key_source {
  uint32_t size;
  uint32_t curve;
  uint32_t layout;
  uint32_t reserved;
  uint64_t wires;         /* all, with the one */
  uint64_t public_inputs; /* without the one */
  uint64_t domain;        /* a power of two */
  const void* alpha_g1;
  const void* beta_g1;
  const void* delta_g1;
  const void* beta_g2;
  const void* delta_g2;
  /* A, B1 (G1) and B2 (G2): a point a wire, less the absent. L (G1): a point a private wire, less the committed ones.
   * H (G1): domain-1 points, domain points for snarkjs's layout. */
  cuzk_section section[5];
  const uint32_t* committed; /* ascending; private wires that L leaves out; NULL where there is none */
  uint64_t committed_count;
  uint64_t device_budget; /* bytes of device memory for the key's points and tables; 0: no bound but the engine's. What
                             does not fit stays on the host and is streamed for every proof */
  uint64_t host_budget;   /* bytes of page-locked host memory for such points; 0: no bound */
  const uint32_t* cancel; /* polled while loading; CUZK_CANCELLED once it is not zero. NULL: cannot be cancelled */
  /* Not NULL: reads the points of sections whose `points` is NULL, piece by piece, so that a large key need not lie in memory.
   * Points that are read are kept though they be infinity. */
  cuzk_read_points read;
  void* read_context;
} cuzk_key_source;

CUZK_API int32_t cuzk_key_load(cuzk_engine* engine, const cuzk_key_source* source, cuzk_key** key, cuzk_error* error);

typedef struct cuzk_key_info {
  uint32_t size;
  uint32_t curve;
  uint32_t layout;
  uint32_t streamed; /* one bit a section (1 << index): set where its points stay on the host */
  uint64_t wires;
  uint64_t public_inputs;
  uint64_t domain;
  uint64_t device_bytes;       /* points, bitmaps and tables on the device */
  uint64_t host_bytes;         /* page-locked */
  uint64_t proof_device_bytes; /* more for each proof under way (a lane), at most */
  uint64_t scratch_bytes;      /* more, once an engine, whatever the number of proofs and keys (the largest counts) */
} cuzk_key_info;

CUZK_API int32_t cuzk_key_info_get(cuzk_key* key, cuzk_key_info* info, cuzk_error* error);

/* The memory goes with the last proof that uses the key. */
CUZK_API int32_t cuzk_key_release(cuzk_key* key, cuzk_error* error);

/* ---- structure: a circuit's matrices, for assignments that are a witness alone ---- */

typedef struct cuzk_matrix {
  const uint32_t* start;       /* constraints+1: the entries of row i are start[i] .. start[i+1]-1 */
  const uint32_t* wire;        /* of each entry */
  const uint32_t* coefficient; /* of each entry, an index into the dictionary */
  uint64_t entries;
} cuzk_matrix;

typedef struct cuzk_structure_source {
  uint32_t size;
  uint32_t curve;
  uint64_t wires;
  uint64_t public_inputs;
  uint64_t constraints;
  cuzk_matrix a;
  cuzk_matrix b;
  cuzk_matrix c;            /* start is NULL where the format lacks it (snarkjs: c = a∘b) */
  const void* coefficients; /* the dictionary: scalars in Montgomery form */
  uint64_t coefficient_count;
  const uint32_t* cancel; /* as in cuzk_key_source */
} cuzk_structure_source;

CUZK_API int32_t cuzk_structure_load(cuzk_engine* engine, const cuzk_structure_source* source, cuzk_structure** structure,
                                     cuzk_error* error);

/* *bytes is the device memory that the structure occupies. */
CUZK_API int32_t cuzk_structure_bytes(cuzk_structure* structure, uint64_t* bytes, cuzk_error* error);

/* The memory goes with the last proof that uses the structure. */
CUZK_API int32_t cuzk_structure_release(cuzk_structure* structure, cuzk_error* error);

/* ---- proof ----
 * begin, write every vector in any order and in pieces, compute, release. The engine works while vectors are written:
 * write the witness first, then a, b and c. */

typedef struct cuzk_proof_options {
  uint32_t size;
  uint32_t bits;              /* 1, with a structure alone: BITS and VALUES are written, and WITNESS holds only the other wires */
  cuzk_structure* structure;  /* packed assignment: a, b and c are computed with it. NULL: A, B and C are written */
  uint64_t constraints;       /* evaluated assignment: elements of A, B and C, at most the domain; else 0 */
  uint64_t witness;           /* elements of WITNESS: the wires, or those that BITS leaves */
} cuzk_proof_options;

/* Takes a lane and all memory that the proof will need. CUZK_BUSY: no lane is free, try again after a release. */
CUZK_API int32_t cuzk_proof_begin(cuzk_engine* engine, cuzk_key* key, const cuzk_proof_options* options, cuzk_proof** proof,
                                  cuzk_error* error);

enum cuzk_vector {
  CUZK_VECTOR_WITNESS = 0, /* scalars; wire 0, which must be one, first */
  CUZK_VECTOR_A = 1,       /* scalars, in the order of the constraints; evaluated assignments only */
  CUZK_VECTOR_B = 2,
  CUZK_VECTOR_C = 3,       /* not needed for snarkjs's layout, and ignored there */
  CUZK_VECTOR_BITS = 4,    /* words of 64 wires, least significant first: set where a wire is a bit */
  CUZK_VECTOR_VALUES = 5   /* words of 64 wires: the values of those that are */
};

/* Writes elements (words for BITS and VALUES) offset .. offset+count-1 of a vector, each exactly once. form (cuzk_form) is
 * that of the elements, the same for all pieces of a vector; 0 for BITS and VALUES. Elements must be below the modulus. */
CUZK_API int32_t cuzk_proof_write(cuzk_proof* proof, uint32_t vector, uint32_t form, uint64_t offset, uint64_t count,
                                  const void* data, cuzk_error* error);

typedef struct cuzk_proof_result {
  uint32_t size;
  uint32_t curve;
  uint8_t a[96];  /* G1: the first 64 bytes on BN254 */
  uint8_t b[192]; /* G2: the first 128 bytes on BN254 */
  uint8_t c[96];  /* G1 */
} cuzk_proof_result;

/* Milliseconds. Families are sums of their parts on the device by its own clock; parts of two families, and of two proofs,
 * may overlap. */
typedef struct cuzk_proof_timings {
  uint32_t size;
  uint32_t reserved;
  double upload;    /* copying and converting what was written */
  double evaluate;  /* a, b and c from the structure */
  double prep_msm;  /* sorting the witness into zeros, ones and others, for each section */
  double ntt;       /* of which ntt_msm_h: the transforms */
  double ntt_msm_h; /* transforms, and the sum of section H */
  double batch_add; /* sums of the points whose scalar is one */
  double b_g2_msm;  /* sum of B2 with the other scalars */
  double tail_msm;  /* sums of A, B1 and L with the other scalars */
  double wait;      /* for another proof's multiplications to end */
  double gpu_total; /* from the first kernel of the proof to its last */
  double wall;      /* from cuzk_proof_begin to the result, on the host's clock */
} cuzk_proof_timings;

/* Waits for the device and assembles
 *   A = alpha + Σ w·A + r·delta, B = beta + Σ w·B + s·delta, C = Σ w·L + Σ h·H + s·A + r·B1 − r·s·delta.
 * r and s are canonical scalars: uniform, independent, used once. Equal (key, assignment, r, s) give equal bytes, those of
 * every other backend. timings may be NULL. May be called once. */
CUZK_API int32_t cuzk_proof_compute(cuzk_proof* proof, const void* r, const void* s, cuzk_proof_result* result,
                                    cuzk_proof_timings* timings, cuzk_error* error);

/* Makes the call that is under way, and all later ones, end with CUZK_CANCELLED: what the device has to do ends after the
 * windows, or the level of additions, that it is at. */
CUZK_API int32_t cuzk_proof_cancel(cuzk_proof* proof);

/* Cancels what is under way, clears the memory that held the witness, and gives the lane back. */
CUZK_API int32_t cuzk_proof_release(cuzk_proof* proof, cuzk_error* error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* CUZK_H */
