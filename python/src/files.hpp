// What the files of the extension module that read and write image files share: options by the names of the
// program's, and sets of rasters whose pixels Python objects give and take.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "bindings.hpp"
#include "interruptible.hpp"
#include "sepconv/sepconv.hpp"

namespace sepconv::python {

struct Settings {
  RunOptions run{{.choose_device = true}, {.smaller_plans = true}};
  FileOptions files;
  std::optional<PlanRecord> plan;
};
/// For a dict whose values have been made plain by python/sepconv/_options.py.
Settings settings_of(const nb::dict& options);

/// A path, or an object that python/sepconv/_array_io.py describes, and the thread that may ask it for pieces:
/// the one that makes this, and then the run. Both must outlive what is made of it, as must the caller's
/// array behind it.
struct End {
  nb::handle object;
  std::shared_ptr<CallingThread> thread = CallingThread::next();

  bool is_path() const { return !nb::hasattr(object, "memory"); }
};
/// The settings say how a file is opened, and what may be held.
std::unique_ptr<RasterSet> open_source(const End& source, const Settings& settings);
/// What is written to.
JobEndpoints sink_of(const End& sink, const Settings& settings);

/// Calls work() as run_interruptible() does: `options` have its token, and `told` is called by this thread
/// with pixels done, pixels, and bytes read and written, unless it is None. The last time is before anything
/// gets its name, so that nothing is left of a run that it ends.
template <class Work>
void run_told(ExecutionOptions& options, const nb::object& told, const Work& work) {
  std::mutex mutex;
  std::optional<Progress> news;
  const auto tell = [&] {
    std::optional<Progress> latest;
    {
      const std::lock_guard lock(mutex);
      latest.swap(news);
    }
    if (latest) told(latest->pixels_done, latest->pixels, latest->bytes_read, latest->bytes_written);
  };
  if (!told.is_none()) {
    options.progress = [&, here = CallingThread::next()](const Progress& progress) {
      {
        const std::lock_guard lock(mutex);
        news = progress;
      }
      if (progress.pixels_done == progress.pixels) here->call(tell);
    };
  }
  run_interruptible(
      [&](const std::stop_token& stop) {
        options.stop = stop;
        work();
      },
      tell);
}

}  // namespace sepconv::python
