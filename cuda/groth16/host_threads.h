// Host threads that work together: copying, since one alone reads memory at a fraction of what a device takes, and feeding
// several streams of a device at once.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace cuzk::groth16 {

class HostThreads {
 public:
  // With the caller's; 0: as many as copies need on this machine.
  explicit HostThreads(unsigned threads);
  ~HostThreads();
  HostThreads(const HostThreads&) = delete;
  HostThreads& operator=(const HostThreads&) = delete;

  // Runs job(i) for every i < n, on these threads and the caller's, until all are done. What the
  // first job that fails throws is thrown again at the end.
  void run(std::size_t n, const std::function<void(std::size_t)>& job);

  // Runs job(begin, end) over the range [0, n) in runs of grain.
  void ranges(std::size_t n, std::size_t grain, const std::function<void(std::size_t, std::size_t)>& job);

  void copy(void* to, const void* from, std::size_t bytes);

 private:
  void serve();
  // Takes jobs until none is left.
  void work(std::unique_lock<std::mutex>& lock);

  std::mutex callers_;  // one run at a time
  std::mutex mu_;
  std::condition_variable wake_, done_;
  const std::function<void(std::size_t)>* job_ = nullptr;
  std::size_t next_ = 0, count_ = 0, running_ = 0;
  std::exception_ptr failure_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace cuzk::groth16
