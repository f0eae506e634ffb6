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
/// Of a dict whose values have been made plain by python/sepconv/_options.py.
Settings settings_of(const nb::dict& options);

/// A file's by its name, else those of an object that python/sepconv/_ends.py describes, which must outlive
/// the set, as must the caller's array behind it.
std::unique_ptr<RasterSet> open_source(nb::handle source, const OpenOptions& options);
/// Likewise for sinks.
std::unique_ptr<RasterSetWriter> open_sinks(nb::handle sink, const RasterSetSpec& spec,
                                            const std::optional<StoredType>& stored);
/// Both.
JobEnds ends_of(nb::handle source, nb::handle sink);

/// A view of pixels as an array of rows, columns and channels, which lives no longer than they do.
nb::object array_of(const ConstPixelView& pixels);
nb::object array_of(const PixelView& pixels);
/// The other way round, for an array of rows, columns and channels in memory that somebody holds.
PixelView view_of_array(nb::handle array);

/// Calls work() as run_interruptible() does: `options` have its token, and `told` is called by this thread
/// with pixels done, pixels, and bytes read and written, unless it is None.
template <class Work>
void run_told(ExecutionOptions& options, const nb::object& told, const Work& work) {
  std::mutex mutex;
  std::optional<Progress> news;
  if (!told.is_none()) {
    options.progress = [&](const Progress& progress) {
      const std::lock_guard lock(mutex);
      news = progress;
    };
  }
  const auto tell = [&] {
    std::optional<Progress> latest;
    {
      const std::lock_guard lock(mutex);
      latest.swap(news);
    }
    if (!latest) return true;
    try {
      told(latest->pixels_done, latest->pixels, latest->bytes_read, latest->bytes_written);
    } catch (nb::python_error& error) {
      error.restore();
      return false;
    }
    return true;
  };
  run_interruptible(
      [&](const std::stop_token& stop) {
        options.stop = stop;
        work();
      },
      tell);
}

}  // namespace sepconv::python
