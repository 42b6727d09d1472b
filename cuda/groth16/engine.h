// One device with what proofs share: staging buffers, lanes (a proof each), and the scratch memory of multi-scalar
// multiplications with the turn to use it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "base/device.h"
#include "groth16/host_threads.h"
#include "groth16/errors.h"
#include "groth16/staging.h"

namespace cuzk::groth16 {

// Account of the device memory that an engine holds, with a limit.
class MemoryAccount {
 public:
  explicit MemoryAccount(u64 limit) : limit_(limit) {}

  // Held is a part of the account, given back when it ends.
  class Held {
   public:
    Held() = default;
    Held(MemoryAccount& account, u64 bytes) : account_(&account), bytes_(bytes) { account.take(bytes); }
    ~Held() {
      if (account_) account_->held_ -= bytes_;
    }
    Held(Held&& o) noexcept : account_(std::exchange(o.account_, nullptr)), bytes_(std::exchange(o.bytes_, 0)) {}
    Held& operator=(Held&& o) noexcept {
      std::swap(account_, o.account_);
      std::swap(bytes_, o.bytes_);
      return *this;
    }
    u64 bytes() const { return bytes_; }

   private:
    MemoryAccount* account_ = nullptr;
    u64 bytes_ = 0;
  };

  u64 held() const { return held_; }
  // Bytes that can still be taken: within the limit, and free on the device.
  u64 available() const;

 private:
  void take(u64 bytes);

  const u64 limit_;  // 0: none
  std::atomic<u64> held_{0};
};

// Memory of the device that only grows, until it is dropped.
class Pool {
 public:
  std::size_t size() const { return memory_.bytes(); }
  // Makes it at least this large; what it held is lost. Where memory does not suffice it stays as large as it was.
  void grow(std::size_t bytes, MemoryAccount& account);
  // Gives the memory back, cleared.
  void drop();
  Arena arena() const { return {memory_.get(), memory_.bytes()}; }

 private:
  void take(std::size_t bytes, MemoryAccount& account);

  DeviceArray<char> memory_;
  MemoryAccount::Held held_;
};

// Lane is what one proof under way has for itself.
struct Lane {
  bool busy = false;
  Pool memory;
  // Page-locked words for what the host must know of a proof. Making and freeing them would wait for the device.
  PinnedArray<u32> words;
  Stream uploads, work;
};

// Sums of small proofs run side by side, each on a stream of its own: one alone leaves most of the device idle.
constexpr unsigned kSumStreams = 5;

struct EngineOptions {
  int device = 0;
  u64 device_limit = 0;   // 0: none
  u64 scratch_limit = 0;  // 0: chosen when a key is loaded
  unsigned lanes = 2;
  unsigned copy_threads = 0;
};

class Engine {
 public:
  explicit Engine(const EngineOptions& options);
  ~Engine();

  int device() const { return options_.device; }
  const EngineOptions& options() const { return options_; }
  HostThreads& copy_threads() { return copy_threads_; }
  // A thread for each of kSumStreams; used only by who has the turn.
  HostThreads& sum_threads() { return sum_threads_; }
  Staging& staging() { return staging_; }
  MemoryAccount& memory() { return memory_; }
  unsigned lanes() const { return unsigned(lanes_.size()); }
  unsigned free_lanes();

  // Runs an allocation and, if memory does not suffice, gives what is idle back and tries again.
  template <class Make>
  auto allocate(Make make) {
    try {
      return make();
    } catch (const OutOfMemory&) {
      trim();
    }
    return make();
  }

  // LaneHold has a lane for itself.
  class LaneHold {
   public:
    LaneHold(Engine& engine, Lane& lane) : engine_(engine), lane_(lane) {}
    ~LaneHold();
    LaneHold(const LaneHold&) = delete;
    Lane& operator*() const { return lane_; }
    Lane* operator->() const { return &lane_; }

   private:
    Engine& engine_;
    Lane& lane_;
  };
  // Takes a lane with this much memory and so many page-locked words, or throws Busy or OutOfMemory.
  std::unique_ptr<LaneHold> take_lane(std::size_t bytes, std::size_t words);

  // Turn has the scratch memory and the multiplications' streams for itself.
  class Turn {
   public:
    explicit Turn(Engine& engine) : engine_(engine) {}
    ~Turn() { give(); }
    Turn(const Turn&) = delete;
    // Waits for the turn and shares the scratch memory out, so many bytes to each stream. Throws OutOfMemory if it is smaller
    // and cannot grow.
    void take(const std::vector<std::size_t>& shares, const Poll& poll);
    Arena& scratch(unsigned stream) { return shares_[stream].arena; }
    // Clears, in the stream's order, what was used of its share.
    void clear(unsigned stream);
    // Clears what was used of the scratch memory and has not been cleared, and lets others have it.
    void give();

   private:
    struct Share {
      Arena whole, arena;
    };
    Engine& engine_;
    bool has_ = false;
    std::vector<Share> shares_;
  };
  // Used only by who has the turn.
  cudaStream_t sums(unsigned i) const { return sums_[i]; }
  cudaStream_t key_copies() const { return key_copies_; }
  // Bytes of device memory that a key and its proofs, of so many bytes each, can have: what is free, and what lanes and scratch
  // have already. That of a lane under way is not there for anything but a proof.
  u64 reachable(u64 proof_bytes);
  // Makes the scratch memory at least this large, which may take a turn.
  void reserve_scratch(std::size_t bytes, const Poll& poll);

  // Users are keys and structures; when the last has gone, all memory is given back.
  class User {
   public:
    explicit User(Engine& engine) : engine_(engine) { engine_.users_++; }
    ~User() {
      if (--engine_.users_ == 0) engine_.trim();
    }
    User(const User&) = delete;

   private:
    Engine& engine_;
  };
  unsigned users() const { return users_; }

  // Gives back memory that no proof uses.
  void trim();

 private:
  // With mu_ held.
  void drop_idle_lanes();
  // With the turn as well.
  void grow_scratch(std::size_t bytes);

  const EngineOptions options_;
  HostThreads copy_threads_, sum_threads_;
  Staging staging_;
  MemoryAccount memory_;
  std::mutex mu_;  // of the lanes and the turn
  std::condition_variable changed_;
  std::vector<Lane> lanes_;
  bool turn_taken_ = false;
  Pool scratch_;
  Stream sums_[kSumStreams], key_copies_;
  std::atomic<unsigned> users_{0};
};

}  // namespace cuzk::groth16
