// Shared declarations of the bindings for files: options by their names in the program, and raster sets
// backed by Python objects.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "bindings.hpp"
#include "interruptible.hpp"
#include "sepconv/sepconv.hpp"

namespace sepconv::python {

struct Settings {
  RunOptions run{{.choose_device = true}, {.retry_smaller_plans = true}};
  FileOptions files;
  std::optional<PlanRecord> plan;
};
/// Settings from a dict that python/sepconv/_options.py has normalised.
Settings settings_of(const nb::dict& options);

/// A source or sink: a path, or an object described by python/sepconv/_array_io.py, and the only thread that
/// may call it, which constructs this and then the run. The object and the caller's array must outlive
/// readers and writers made from it.
struct Endpoint {
  nb::handle object;
  std::shared_ptr<CallingThread> thread = CallingThread::next();

  bool is_path() const { return !nb::hasattr(object, "memory"); }
};
/// Opens a source. The settings contain open options and memory limits.
std::unique_ptr<RasterSet> open_source(const Endpoint& source, const Settings& settings);
/// The job's sink endpoint.
JobEndpoints sink_of(const Endpoint& sink, const Settings& settings);

/// Calls work() as run_interruptible() does and stores the stop token in `options`. Unless it is None,
/// `callback` is called on this thread with pixels done, total pixels, bytes read and bytes written. The last
/// call is before the output is renamed, so an exception from it leaves no output.
template <class Work>
void run_with_progress(ExecutionOptions& options, const nb::object& callback, const Work& work) {
  std::mutex mutex;
  std::optional<Progress> pending;
  const auto report = [&] {
    std::optional<Progress> latest;
    {
      const std::lock_guard lock(mutex);
      latest.swap(pending);
    }
    if (latest) callback(latest->pixels_done, latest->pixels, latest->bytes_read, latest->bytes_written);
  };
  if (!callback.is_none()) {
    options.progress = [&, calling_thread = CallingThread::next()](const Progress& progress) {
      {
        const std::lock_guard lock(mutex);
        pending = progress;
      }
      if (progress.pixels_done == progress.pixels) calling_thread->call(report);
    };
  }
  run_interruptible(
      [&](const std::stop_token& stop) {
        options.stop = stop;
        work();
      },
      report);
}

}  // namespace sepconv::python
