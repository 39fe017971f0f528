// A pool of threads that sleep between two rounds of work, after a short wait for the next one.
#include "compute/backend.hpp"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

namespace mha::compute {
namespace {

// Rounds follow each other closely: waking a thread takes longer than this, sleeping costs the machine nothing.
constexpr int looks_before_sleep = 2000;

}  // namespace

int thread_count(int asked_for) {
  if (asked_for > 0) return asked_for;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

class Workers::Pool {
 public:
  explicit Pool(int count) {
    try {
      for (int worker = 1; worker < count; ++worker) threads_.emplace_back([this, worker] { serve(worker); });
    } catch (const std::system_error&) {  // the system grants no more threads: fewer do the same work
    }
  }

  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      round_.fetch_add(1, std::memory_order_release);
    }
    begin_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  int count() const { return static_cast<int>(threads_.size()) + 1; }

  void each(Index pieces, const Task& task) {
    {
      const std::lock_guard lock(mutex_);
      task_ = &task;
      pieces_ = pieces;
      next_.store(0, std::memory_order_relaxed);
      busy_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
      round_.fetch_add(1, std::memory_order_release);
    }
    begin_.notify_all();
    take_pieces(0);
    wait_until([this] { return busy_.load(std::memory_order_acquire) == 0; }, end_);
    if (const std::exception_ptr error = std::exchange(error_, nullptr)) std::rethrow_exception(error);
  }

 private:
  template <typename Condition>
  void wait_until(Condition condition, std::condition_variable& signal) {
    for (int look = 0; look < looks_before_sleep; ++look)
      if (condition()) return;
    std::unique_lock lock(mutex_);
    signal.wait(lock, condition);
  }

  void serve(int worker) {
    for (unsigned seen = 0;;) {
      wait_until([&] { return round_.load(std::memory_order_acquire) != seen; }, begin_);
      ++seen;
      if (ending_) return;
      take_pieces(worker);
      if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        const std::lock_guard lock(mutex_);  // not between the other's look and its sleep
        end_.notify_one();
      }
    }
  }

  void take_pieces(int worker) {
    try {
      for (Index piece; (piece = next_.fetch_add(1, std::memory_order_relaxed)) < pieces_;) (*task_)(piece, worker);
    } catch (...) {
      next_.store(pieces_, std::memory_order_relaxed);  // nobody begins another
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }

  std::mutex mutex_;
  std::condition_variable begin_, end_;
  std::atomic<unsigned> round_ = 0;
  std::atomic<Index> next_ = 0;
  std::atomic<int> busy_ = 0;  // threads that have not come to the end of the round
  bool ending_ = false;
  const Task* task_ = nullptr;
  Index pieces_ = 0;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;  // last: they use all of the above
};

Workers::Workers(int count) {
  if (count > 1) pool_ = std::make_unique<Pool>(count);
}

Workers::~Workers() = default;

int Workers::count() const {
  return pool_ ? pool_->count() : 1;
}

void Workers::each(Index pieces, const Task& task) {
  if (pool_ && pieces > 1) return pool_->each(pieces, task);
  for (Index piece = 0; piece < pieces; ++piece) task(piece, 0);
}

}  // namespace mha::compute
