#include "sepconv/pipeline/thread_pool.hpp"

#include "sepconv/core/error.hpp"

namespace sepconv {

ThreadPool::ThreadPool(int threads, std::stop_token stop) : stop_(std::move(stop)) {
  for (int worker = 0; worker < threads; ++worker) workers_.emplace_back([this, worker] { work(worker); });
}

ThreadPool::~ThreadPool() {
  {
    const std::scoped_lock lock(mutex_);
    closing_ = true;
  }
  work_available_.notify_all();
}

void ThreadPool::for_each(std::int64_t count, const std::function<void(std::int64_t, int)>& task) {
  if (count <= 0) return;
  Loop loop{&task, count, 0, 0, nullptr};
  std::unique_lock lock(mutex_);
  loops_.push_back(&loop);
  work_available_.notify_all();
  loop_finished_.wait(lock, [&loop] { return loop.finished(); });
  if (loop.error) std::rethrow_exception(loop.error);
}

void ThreadPool::work(int worker) {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_available_.wait(lock, [this] { return closing_ || !loops_.empty(); });
    if (loops_.empty()) return;
    run_one(*loops_.front(), worker, lock);
  }
}

void ThreadPool::run_one(Loop& loop, int worker, std::unique_lock<std::mutex>& lock) {
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
