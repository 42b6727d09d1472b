#include "groth16/engine.h"

#include <algorithm>
#include <chrono>
#include <numeric>

namespace cuzk::groth16 {

u64 MemoryAccount::available() const {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for free device memory");
  if (limit_ == 0) return free;
  const u64 held = held_;
  return std::min<u64>(free, held < limit_ ? limit_ - held : 0);
}

void MemoryAccount::take(u64 bytes) {
  const u64 before = held_.fetch_add(bytes);
  if (limit_ == 0 || before + bytes <= limit_) return;
  held_ -= bytes;
  throw OutOfMemory(bytes, before < limit_ ? limit_ - before : 0);
}

void Pool::grow(std::size_t bytes, MemoryAccount& account) {
  const std::size_t before = size();
  if (bytes <= before) return;
  drop();  // there may not be room for both
  try {
    take(bytes, account);
  } catch (const OutOfMemory&) {
    if (before) take(before, account);
    throw;
  }
}

void Pool::take(std::size_t bytes, MemoryAccount& account) {
  MemoryAccount::Held held(account, bytes);
  memory_ = DeviceArray<char>(bytes);
  held_ = std::move(held);
}

void Pool::drop() {
  if (!memory_) return;
  cudaMemset(memory_.get(), 0, memory_.bytes());
  memory_ = DeviceArray<char>();
  held_ = MemoryAccount::Held();
}

Engine::Engine(const EngineOptions& options)
    : options_(options),
      copy_threads_(options.copy_threads),
      sum_threads_(kSumStreams),
      staging_(copy_threads_),
      memory_(options.device_limit),
      lanes_(std::max(1u, options.lanes)) {}

Engine::~Engine() {
  DeviceGuard guard(device());
  trim();
}

unsigned Engine::free_lanes() {
  std::lock_guard<std::mutex> lock(mu_);
  return unsigned(std::count_if(lanes_.begin(), lanes_.end(), [](const Lane& l) { return !l.busy; }));
}

std::unique_ptr<Engine::LaneHold> Engine::take_lane(std::size_t bytes, std::size_t words) {
  std::unique_ptr<LaneHold> hold;
  {
    std::lock_guard<std::mutex> lock(mu_);
    // Of the free lanes the one with the most memory, which may suffice already.
    Lane* best = nullptr;
    for (Lane& l : lanes_)
      if (!l.busy && (!best || l.memory.size() > best->memory.size())) best = &l;
    if (!best) throw Busy();
    hold = std::make_unique<LaneHold>(*this, *best);
    best->busy = true;
  }
  allocate([&] { (*hold)->memory.grow(bytes, memory_); });
  if ((*hold)->words.size() < words) (*hold)->words = PinnedArray<u32>(words);
  return hold;
}

Engine::LaneHold::~LaneHold() {
  std::lock_guard<std::mutex> lock(engine_.mu_);
  lane_.busy = false;
}

void Engine::Turn::take(const std::vector<std::size_t>& shares, const Poll& poll) {
  std::unique_lock<std::mutex> lock(engine_.mu_);
  while (engine_.turn_taken_) {
    engine_.changed_.wait_for(lock, std::chrono::milliseconds(2));
    poll();
  }
  engine_.turn_taken_ = has_ = true;
  engine_.grow_scratch(std::accumulate(shares.begin(), shares.end(), std::size_t(0)));
  const Arena all = engine_.scratch_.arena();
  std::size_t offset = 0;
  for (const std::size_t share : shares) {
    const Arena whole = all.part(offset, share);
    shares_.push_back({whole, whole});
    offset += share;
  }
}

// Errors are those of what the device was doing, which is lost then.
void Engine::Turn::clear(unsigned stream) {
  Share& share = shares_[stream];
  share.arena.clear(engine_.sums_[stream]);
  share.arena = share.whole;
}

void Engine::Turn::give() {
  if (!has_) return;
  // Whoever is next uses the scratch on other streams, and must not find a witness there. A sum that was given up may have
  // points on their way to it.
  cudaStreamSynchronize(engine_.key_copies_);
  for (unsigned i = 0; i < shares_.size(); i++) clear(i);
  for (const Stream& s : engine_.sums_) cudaStreamSynchronize(s);
  shares_.clear();
  {
    std::lock_guard<std::mutex> lock(engine_.mu_);
    engine_.turn_taken_ = has_ = false;
  }
  engine_.changed_.notify_one();
}

void Engine::reserve_scratch(std::size_t bytes, const Poll& poll) {
  {
    std::lock_guard<std::mutex> lock(mu_);
    if (scratch_.size() >= bytes) return;
  }
  Turn(*this).take({bytes}, poll);
}

void Engine::grow_scratch(std::size_t bytes) {
  try {
    scratch_.grow(bytes, memory_);
  } catch (const OutOfMemory&) {
    drop_idle_lanes();
    scratch_.grow(bytes, memory_);
  }
}

void Engine::drop_idle_lanes() {
  for (Lane& l : lanes_) {
    if (l.busy) continue;
    l.memory.drop();
    l.words = PinnedArray<u32>();
  }
}

u64 Engine::reachable(u64 proof_bytes) {
  std::lock_guard<std::mutex> lock(mu_);
  u64 bytes = memory_.available() + scratch_.size();
  for (const Lane& l : lanes_) bytes += l.busy ? std::min<u64>(l.memory.size(), proof_bytes) : l.memory.size();
  // The driver takes memory for itself, such as the stacks of kernels.
  return bytes - bytes / 64;
}

void Engine::trim() {
  std::lock_guard<std::mutex> lock(mu_);
  drop_idle_lanes();
  if (turn_taken_ || std::any_of(lanes_.begin(), lanes_.end(), [](const Lane& l) { return l.busy; })) return;
  scratch_.drop();
  staging_.free();
}

}  // namespace cuzk::groth16
