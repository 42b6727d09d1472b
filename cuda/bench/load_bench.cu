// How long it takes to load a key of the size of a Filecoin PoRep partition of 32 GiB, from memory of the host that a function
// copies piece by piece. All points are the generator: what is measured does not depend on them.
//
//   load_bench [LOG_DOMAIN]      # 27 unless given
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "groth16/generators.h"
#include "groth16/host_threads.h"
#include "groth16/prover.h"

using namespace cuzk;
using namespace cuzk::groth16;

namespace {

// Points of one group, as many as a read asks for at most, and threads that copy them.
class Reader {
 public:
  static constexpr std::size_t kPieceBytes = Staging::kPiece;

  Reader() : g1_(kPieceBytes / sizeof(Bls12381::G1), Generators<Bls12381>::g1()), g2_(kPieceBytes / sizeof(Bls12381::G2), Generators<Bls12381>::g2()), threads_(0) {}

  static int32_t read(void* context, uint32_t section, uint64_t, uint64_t count, void* to) {
    Reader& r = *static_cast<Reader*>(context);
    const bool g2 = section == CUZK_SECTION_B2;
    const void* from = g2 ? static_cast<const void*>(r.g2_.data()) : r.g1_.data();
    const std::size_t bytes = count * (g2 ? sizeof(Bls12381::G2) : sizeof(Bls12381::G1));
    if (bytes > kPieceBytes) return 1;
    r.bytes_ += bytes;
    r.threads_.copy(to, from, bytes);
    return 0;
  }
  std::size_t bytes() const { return bytes_; }
  const Bls12381::G1* g1() const { return g1_.data(); }
  const Bls12381::G2* g2() const { return g2_.data(); }

 private:
  std::vector<Bls12381::G1> g1_;
  std::vector<Bls12381::G2> g2_;
  HostThreads threads_;
  std::size_t bytes_ = 0;
};

// Three of four wires.
std::vector<u64> most_wires(u64 wires) { return std::vector<u64>((wires + 63) / 64, 0xeeeeeeeeeeeeeeeeu); }

}  // namespace

int main(int argc, char** argv) {
  const int log_n = argc > 1 ? std::atoi(argv[1]) : 27;
  const u64 domain = u64(1) << log_n, wires = (domain - domain / 64) / 64 * 64;
  const std::vector<u64> absent = most_wires(wires);
  Reader reader;
  cuzk_key_source source = {};
  source.size = sizeof source;
  source.curve = CUZK_BLS12381;
  source.layout = CUZK_LAYOUT_COEFFICIENTS;
  source.wires = wires;
  source.public_inputs = 31;
  source.domain = domain;
  source.alpha_g1 = source.beta_g1 = source.delta_g1 = reader.g1();
  source.beta_g2 = source.delta_g2 = reader.g2();
  source.section[CUZK_SECTION_A].count = wires;
  source.section[CUZK_SECTION_L].count = wires - source.public_inputs - 1;
  source.section[CUZK_SECTION_H].count = domain - 1;
  for (int i : {CUZK_SECTION_B1, CUZK_SECTION_B2}) {
    source.section[i].count = wires / 4;
    source.section[i].absent = absent.data();
    source.section[i].absent_words = absent.size();
  }
  source.read = Reader::read;
  source.read_context = &reader;

  Engine engine({});
  const auto start = std::chrono::steady_clock::now();
  const auto key = load_key(engine, source, [] {});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("domain 2^%d: %.1f GB of points loaded in %.2f s, %.1f GB/s\n", log_n, double(reader.bytes()) / 1e9, seconds, double(reader.bytes()) / seconds / 1e9);
}
