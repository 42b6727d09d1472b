// Multi-scalar multiplications and sums of ones against known exponents: sizes around powers of two, infinite, equal and
// opposite bases, scalars of every kind, every way in which a plan can cut a sum. On a device also large ones.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "msm/msm.cuh"
#include "msm/sort.h"
#include "test/msm_reference.h"

using namespace cuzk;
using namespace cuzk::reference;

namespace {

u32 failures = 0, sums = 0;

void report(bool good, const char* group, const char* what, const char* scalars, u64 n) {
  sums++;
  if (good) return;
  failures++;
  std::printf("FAIL %s, %s, scalars %s, n = %llu\n", group, what, scalars, (unsigned long long)n);
}

// An object, the scratch it asks for, and room for the input.
template <class Group>
class Case {
 public:
  using F = typename Group::F;
  using Fr = typename Group::Fr;

  Case(const char* group, const char* what, const Bases<Group>& bases, Signs signs, u32 max_n, std::size_t limit, const msm::Options& options)
      : group_(group), what_(what), bases_(bases), signs_(signs), msm_(max_n, limit, options), scratch_(msm_.scratch_bytes()),
        points_(u64(max_n) * msm_.table_copies()), scalars_(8 * std::size_t(max_n)) {
    bases.make(points_.get(), max_n, signs);
    check(cudaDeviceSynchronize(), "making bases");
    msm_.make_table(stream_, points_.get());
    if (msm_.scratch_bytes() > limit) report(false, group, "scratch above the limit", "", max_n);
  }

  void sum(u32 n, Scalars kind) {
    launch(make_scalars_kernel<Fr>, Bases<Group>::blocks(n, 256), 256, 0, stream_, scalars_.get(), n, kind, n);
    Arena arena(scratch_.get(), scratch_.size());
    check(cudaDeviceSynchronize(), "making scalars");
    msm_.enqueue(stream_, points_.get(), scalars_.get(), n, arena);
    const Affine<F> got = to_affine(msm_.finish());
    report(same(got, bases_.sum(n, kind, n, signs_)), group_, what_, kScalarNames[u32(kind)], n);
  }

  // The bases whose numbers have an odd mix, of the first n.
  void ones(u32 n) {
    std::vector<u32> list;
    for (u32 k = 0; k < n; k++)
      if (mix(k) & 1) list.push_back(k);
    const u32 m = u32(list.size());
    DeviceArray<u32> indices(m);
    indices.upload(list.data(), m, stream_);
    stream_.synchronize();
    Arena arena(scratch_.get(), scratch_.size());
    msm_.enqueue_ones(stream_, points_.get(), indices.get(), m, arena);
    const Affine<F> got = to_affine(msm_.finish());
    report(same(got, bases_.sum(indices.get(), m, signs_)), group_, what_, "ones", m);
  }

 private:
  const char *group_, *what_;
  const Bases<Group>& bases_;
  Signs signs_;
  Stream stream_;
  msm::Msm<F, Fr> msm_;
  DeviceArray<u8> scratch_;
  DeviceArray<Affine<F>> points_;
  DeviceArray<u32> scalars_;
};

constexpr std::size_t kAmple = std::size_t(4) << 30;
constexpr Scalars kAllScalars[] = {Scalars::kUniform, Scalars::kEqual, Scalars::kZeroOne, Scalars::kTiny,
                                   Scalars::kEdges,   Scalars::kZero,  Scalars::kLargest, Scalars::kWitness};

// What a block can have of shared memory, in all: of compute capability 8.6, 8.9 and 12.0; of 8.0; of 9.0 and 10.0.
constexpr std::size_t kBlockSharedBytes[] = {99 << 10, 163 << 10, 227 << 10};

msm::Options small_windows(u32 bits) {
  msm::Options o;
  o.window_bits = bits;
  o.pairs_per_thread = 4;
  o.slice = 700;
  return o;
}

template <class Group>
void test_group(const char* name) {
  const Bases<Group> wide(64, 32, 1), narrow(2, 1, 3);

  {  // every kind of scalar and base
    Case<Group> c(name, "plain bases", wide, Signs::kPlain, 300, kAmple, small_windows(8));
    for (Scalars s : kAllScalars) c.sum(300, s);
    for (u32 n : {0u, 1u, 2u, 3u, 7u}) c.sum(n, Scalars::kUniform);
    for (u32 n : {0u, 1u, 2u, 3u, 300u}) c.ones(n);
  }
  {
    Case<Group> c(name, "infinite and negated bases", wide, Signs::kMixed, 257, kAmple, small_windows(6));
    for (Scalars s : {Scalars::kUniform, Scalars::kEdges, Scalars::kZeroOne}) c.sum(257, s);
    c.ones(257);
  }
  {
    Case<Group> c(name, "equal and opposite bases", narrow, Signs::kMixed, 200, kAmple, small_windows(5));
    for (u32 n : {2u, 3u, 200u})
      for (Scalars s : {Scalars::kUniform, Scalars::kEqual, Scalars::kLargest}) c.sum(n, s);
    c.ones(200);
  }
  for (u32 copies : {2u, 100u}) {  // multiples of fixed bases: of some digits, and of each
    msm::Options o = small_windows(7);
    o.copies = copies;
    Case<Group> c(name, "multiples", wide, Signs::kMixed, 100, kAmple, o);
    for (Scalars s : {Scalars::kUniform, Scalars::kEqual, Scalars::kEdges, Scalars::kLargest}) c.sum(100, s);
    c.ones(100);
  }
  {  // sizes around powers of two, with the plan's own choices but for its smallest pieces
    msm::Options o;
    o.pairs_per_thread = 4;
    Case<Group> c(name, "own plan", wide, Signs::kMixed, 257, kAmple, o);
    for (u32 n : {63u, 64u, 65u, 255u, 256u, 257u}) c.sum(n, Scalars::kUniform);
  }
#if CUZK_EMULATED
  {  // on a device that gives a block as little shared memory as any
    setenv("CUZK_EMULATOR_SHARED_MEMORY", std::to_string(kBlockSharedBytes[0]).c_str(), 1);
    msm::Options o;
    o.pairs_per_thread = 4;
    Case<Group> c(name, "little shared memory", wide, Signs::kMixed, 257, kAmple, o);
    c.sum(257, Scalars::kUniform);
    unsetenv("CUZK_EMULATOR_SHARED_MEMORY");
  }
#endif
}

// Ways to cut a sum, which do not depend on the group.
template <class Group>
void test_plans(const char* name) {
  const Bases<Group> wide(64, 32, 1);
  const auto sums = [&](const char* what, u32 n, const msm::Options& o) {
    Case<Group> c(name, what, wide, Signs::kMixed, n, kAmple, o);
    for (Scalars s : {Scalars::kUniform, Scalars::kEqual, Scalars::kEdges}) c.sum(n, s);
  };
  for (u32 bits : {2u, 3u, 7u, 11u}) sums("window bits", 100, small_windows(bits));
  for (u32 at_once : {1u, 5u, 7u}) {
    msm::Options o = small_windows(9);
    o.windows_at_once = at_once;
    sums("windows at a time", 200, o);
  }
  for (u32 chunk : {1u, 64u, 65u}) {
    msm::Options o = small_windows(chunk == 1 ? 9 : 8);
    o.chunk = chunk;
    sums("chunks", chunk == 1 ? 3 : 200, o);
  }
  for (u32 partition_bits : {1u, 3u, 7u}) {
    msm::Options o = small_windows(8);
    o.partition_bits = partition_bits;
    o.slice = 97;
    sums("partitions", 300, o);
  }
  for (u32 bits : {2u, 3u, 8u, 9u}) {
    msm::Options o = small_windows(bits);
    o.halved_buckets = 1;
    sums("rows and columns", 150, o);
  }
  for (u32 bits : {2u, 3u, 9u})
    for (u32 copies : {2u, 3u, 100u}) {
      msm::Options o = small_windows(bits);
      o.copies = copies;
      sums("multiples", copies == 2 ? 1 : 100, o);
      o.windows_at_once = 2;
      sums("multiples, windows at a time", 33, o);
    }
  {
    msm::Options o = small_windows(8);
    o.affine_ones = 16;
    Case<Group> c(name, "affine sums of ones", wide, Signs::kMixed, 1000, kAmple, o);
    for (u32 n : {33u, 64u, 1000u}) c.ones(n);
  }
  {  // short of scratch: as much as three windows at a time need
    msm::Options o = small_windows(10);
    o.windows_at_once = 3;
    const std::size_t limit = msm::Msm<typename Group::F, typename Group::Fr>(200, kAmple, o).scratch_bytes();
    o.windows_at_once = 0;
    Case<Group> c(name, "short of scratch", wide, Signs::kMixed, 200, limit, o);
    for (u32 n : {1u, 100u, 200u}) c.sum(n, Scalars::kUniform);
  }
}

// No plan asks for more shared memory than a block can have, and the slices of a device with much of it are as measured.
template <class Fr>
void test_shared_memory(const char* name) {
  for (const std::size_t bytes : kBlockSharedBytes)
    for (u32 log_n = 0; log_n <= 28; log_n++)
      for (u32 copies : {1u, 2u, 100u}) {
        msm::Options o;
        o.copies = copies;
        const std::size_t limit = bytes - kStaticSharedMemory;
        const msm::Plan p = msm::make_plan(u64(1) << log_n, Fr::Params::kModulus, {~std::size_t(0), limit}, o, [](const msm::Plan&) { return 0; });
        const std::size_t most = std::max({msm::digits_shared_bytes(u64(p.at_once) << p.partition_bits), msm::partition_shared_bytes(p.partition_bits),
                                           msm::place_shared_bytes(p.low_bits(), p.slice)});
        report(most <= limit && p.slice >= 8192, name, "shared memory of a plan", std::to_string(bytes).c_str(), u64(1) << log_n);
        if (bytes == kBlockSharedBytes[2]) {
          report(p.slice == ((112u << 10) - (12u << p.low_bits())) / 6 / 1024 * 1024, name, "slices of a plan", "", u64(1) << log_n);
        }
      }
}

struct GivenUp {};

// A poll that gives up ends a sum where it stands; the object makes others as well as before.
template <class Group>
void test_poll(const char* name) {
  using F = typename Group::F;
  using Fr = typename Group::Fr;
  constexpr u32 n = 100;
  const Bases<Group> bases(64, 32, 1);
  msm::Options o = small_windows(5);
  o.windows_at_once = 9;
  msm::Msm<F, Fr> msm(n, kAmple, o);
  const Stream stream;
  DeviceArray<Affine<F>> points(n);
  DeviceArray<u32> scalars(8 * n);
  DeviceArray<u8> scratch(msm.scratch_bytes());
  bases.make(points.get(), n, Signs::kPlain);
  launch(make_scalars_kernel<Fr>, 1, 256, 0, stream, scalars.get(), n, Scalars::kEqual, n);
  check(cudaDeviceSynchronize(), "making a sum's input");
  const auto sum = [&](u32 polls) {
    Arena arena(scratch.get(), scratch.size());
    msm.enqueue(stream, points.get(), scalars.get(), n, arena, [&] {
      if (polls-- == 0) throw GivenUp();
    });
    return same(to_affine(msm.finish()), bases.sum(n, Scalars::kEqual, n, Signs::kPlain));
  };
  const msm::Plan p = msm.plan(n);
  const u32 groups = (p.windows + p.at_once - 1) / p.at_once, levels = 6;  // of buckets with all of the bases, after the first
  for (u32 polls = 0; polls < groups * (1 + levels); polls += 3) {
    bool given_up = false;
    try {
      sum(polls);
    } catch (const GivenUp&) {
      given_up = true;
    }
    stream.synchronize();
    report(given_up, name, "a sum that is given up", "all equal", polls);
  }
  report(sum(~0u), name, "a sum after others were given up", "all equal", n);
}

// What only a device does in reasonable time.
template <class Group>
void test_large(const char* name, u32 log_n) {
  const Bases<Group> wide(1 << 12, 1 << 11, 5);
  for (u32 k : {12u, 16u, log_n}) {
    const u32 n = 1u << k;
    Case<Group> c(name, "large, own plan", wide, Signs::kMixed, n + 1, kAmple * 10, {});
    for (u32 size : {n - 1, n, n + 1}) c.sum(size, Scalars::kUniform);
    if (k < log_n)
      for (Scalars s : kAllScalars) c.sum(n, s);
    c.ones(n);
  }
  for (u32 k : {10u, 16u, 18u}) {
    msm::Options o;
    o.copies = k == 18 ? 4 : 100;
    const u32 n = (1u << k) + 1;
    Case<Group> c(name, "large, multiples", wide, Signs::kMixed, n, kAmple * 10, o);
    for (Scalars s : kAllScalars) c.sum(n, s);
  }
}

}  // namespace

int main(int argc, char** argv) {
  // Groups may be named, the small cases alone asked for by --small.
  std::string only;
  bool large = !CUZK_EMULATED;
  for (int i = 1; i < argc; i++) {
    if (std::string(argv[i]) == "--small") large = false;
    else only = argv[i];
  }
  const auto wanted = [&](const char* name) { return only.empty() || only == name; };
  const auto test = [&](auto group, const char* name, u32 log_n) {
    if (!wanted(name)) return;
    test_group<decltype(group)>(name);
    if (large) test_large<decltype(group)>(name, log_n);
  };
  if (wanted("BN254 G1")) {
    test_plans<Group1<Bn254>>("BN254 G1");
    test_poll<Group1<Bn254>>("BN254 G1");
    test_shared_memory<Bn254Fr>("BN254");
    test_shared_memory<Bls12381Fr>("BLS12-381");
  }
  test(Group1<Bn254>(), "BN254 G1", 24);
  test(Group1<Bls12381>(), "BLS12-381 G1", 24);
  test(Group2<Bn254>(), "BN254 G2", 22);
  test(Group2<Bls12381>(), "BLS12-381 G2", 22);
  std::printf("%u sums, %u wrong\n", sums, failures);
  return failures != 0;
}
