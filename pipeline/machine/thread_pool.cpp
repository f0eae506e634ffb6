#include "pipeline/machine/thread_pool.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/start_thread.hpp"

namespace sepconv {

ThreadPool::ThreadPool(int threads, std::stop_token stop) : stop_(std::move(stop)) {
  try {
    start(threads);
  } catch (...) {
    stop_workers_from(0);
    throw;
  }
}

ThreadPool::ThreadPool(ThreadLimit limit, std::stop_token stop) : stop_(std::move(stop)) {
  try {
    start(limit.threads);
  } catch (const std::exception&) {
    const int started = concurrency();
    if (started == 0) throw;
    stop_workers_from(std::clamp(std::min(started / 2, started - limit.others), 1, started));
  }
}

ThreadPool::~ThreadPool() { stop_workers_from(0); }

void ThreadPool::start(int threads) {
  workers_.reserve(static_cast<std::size_t>(threads));
  for (int worker = 0; worker < threads; ++worker)
    workers_.push_back(start_thread([this, worker] { worker_loop(worker); }));
}

void ThreadPool::stop_workers_from(int worker) noexcept {
  {
    const std::scoped_lock lock(mutex_);
    first_stopped_worker_ = worker;
  }
  work_available_.notify_all();
  workers_.resize(static_cast<std::size_t>(worker));  // joins these threads
}

void ThreadPool::run_loop(std::int64_t count, const std::function<void(std::int64_t, int)>& task,
                          bool is_preferred) {
  if (count <= 0) return;
  Loop loop{&task, count, is_preferred, 0, 0, nullptr};
  std::unique_lock lock(mutex_);
  loops_.insert(is_preferred ? std::ranges::find(loops_, false, &Loop::is_preferred) : loops_.end(), &loop);
  work_available_.notify_all();
  loop_finished_.wait(lock, [&loop] { return loop.finished(); });
  if (loop.error) std::rethrow_exception(loop.error);
}

void ThreadPool::worker_loop(int worker) {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_available_.wait(lock, [this, worker] { return worker >= first_stopped_worker_ || !loops_.empty(); });
    if (worker >= first_stopped_worker_) return;
    run_next_task(*loops_.front(), worker, lock);
  }
}

void ThreadPool::run_next_task(Loop& loop, int worker, std::unique_lock<std::mutex>& lock) {
  const std::int64_t index = loop.next++;
  if (loop.next == loop.count) loops_.remove(&loop);
  ++loop.running;
  lock.unlock();
  std::exception_ptr error;
  try {
    if (stop_.stop_requested()) throw Cancelled();
    (*loop.task)(index, worker);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  --loop.running;
  if (error && !loop.error) {
    loop.error = error;
    loops_.remove(&loop);
  }
  if (loop.finished()) loop_finished_.notify_all();
}

}  // namespace sepconv
