// Many answers at once: each thread takes the next one that nobody has taken yet.
#include "study/check/check_all.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "core/error.hpp"

namespace mha::study {
namespace {

constexpr std::chrono::milliseconds between_reports(100);

Report check_one(const Checker& checker, const io::AnswerSource& source) {
  try {
    return checker.check(source.read());
  } catch (const Error& error) {
    Report report;
    report.name = source.name;
    report.unusable = error.what();
    return report;
  }
}

class Work {
 public:
  Work(const Checker& checker, const std::vector<io::AnswerSource>& answers)
      : checker_(checker), answers_(answers), reports_(answers.size()) {}

  std::vector<Report> run(std::size_t threads, const std::function<void(std::size_t)>& progress) {
    std::vector<std::thread> workers;
    for (std::size_t i = 0; i < std::clamp<std::size_t>(threads, 1, answers_.size()); ++i)
      workers.emplace_back([this] { work(); });
    report_until_done(progress);
    for (std::thread& worker : workers) worker.join();
    if (failure_) std::rethrow_exception(failure_);
    return std::move(reports_);
  }

 private:
  void work() {
    for (std::size_t i = next_++; i < answers_.size(); i = next_++) {
      try {
        reports_[i] = check_one(checker_, answers_[i]);
      } catch (...) {  // not enough memory; told by whoever asked for the work
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      if (++done_ == answers_.size()) all_done_.notify_one();
    }
  }

  void report_until_done(const std::function<void(std::size_t)>& progress) {
    std::unique_lock lock(mutex_);
    while (!all_done_.wait_for(lock, between_reports, [this] { return done_ == answers_.size(); })) {
      const std::size_t done = done_;
      lock.unlock();
      progress(done);
      lock.lock();
    }
  }

  const Checker& checker_;
  const std::vector<io::AnswerSource>& answers_;
  std::vector<Report> reports_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::condition_variable all_done_;
  std::size_t done_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

std::vector<Report> check_all(const Checker& checker, const std::vector<io::AnswerSource>& answers, std::size_t threads,
                              const std::function<void(std::size_t done)>& progress) {
  if (answers.size() == 1) return {check_one(checker, answers.front())};
  return Work(checker, answers).run(threads, progress);
}

}  // namespace mha::study
