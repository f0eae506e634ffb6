#include "pipeline/run/run_state.hpp"

#include <utility>

namespace sepconv {

RunState::RunState(std::int64_t parts, std::int64_t pixels, std::int64_t pixel_bytes,
                   const ExecutionOptions& options)
    : pixel_bytes_(pixel_bytes), options_(options) {
  progress_.bands = parts;
  progress_.pixels = pixels;
}

void RunState::add_bytes_read(std::int64_t bytes) {
  const std::scoped_lock lock(mutex_);
  bytes_read_ += bytes;
}

void RunState::report_written(const Rect& part, Timeline& timeline) {
  ++progress_.bands_done;
  progress_.pixels_done += part.area();
  progress_.bytes_written += part.area() * pixel_bytes_;
  progress_.seconds = timeline.now();
  timeline.sample_memory();
  if (!options_.progress) return;
  {
    const std::scoped_lock lock(mutex_);
    progress_.bytes_read = bytes_read_;
  }
  options_.progress(progress_);
}

void RunState::fail(std::exception_ptr error) noexcept {
  {
    const std::scoped_lock lock(mutex_);
    if (!error_) error_ = std::move(error);
  }
  stop_.request_stop();
  changed_.notify_all();
}

void RunState::rethrow_failure() {
  const std::scoped_lock lock(mutex_);
  if (error_) std::rethrow_exception(error_);
}

}  // namespace sepconv
