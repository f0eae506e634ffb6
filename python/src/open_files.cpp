// Open files: metadata, parts of their pixels, statistics and comparisons.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "files.hpp"
#include "images.hpp"

namespace sepconv::python {
namespace {

/// A raster set that keeps its last used raster open.
class OpenSet {
 public:
  explicit OpenSet(std::unique_ptr<RasterSet> set) : set_(std::move(set)) { raster(0); }

  const RasterSet& set() const noexcept { return *set_; }
  /// Opens a raster. Readers without random access can be read only once and are reopened for each call.
  std::shared_ptr<Reader> raster(std::int64_t index) {
    const std::lock_guard lock(mutex_);
    if (last_ == nullptr || last_index_ != index || last_->layout().access != Access::random) {
      last_ = set_->raster(index);
      last_index_ = index;
    }
    return last_;
  }

 private:
  std::unique_ptr<RasterSet> set_;
  std::mutex mutex_;
  std::shared_ptr<Reader> last_;
  std::int64_t last_index_ = 0;
};

std::unique_ptr<OpenSet> open_source_set(nb::handle source, const nb::dict& options) {
  const Settings settings = settings_of(options);
  const Endpoint end{source};
  check_interpreter_alive();
  const WithoutGil released;
  return std::make_unique<OpenSet>(open_source(end, settings));
}

nb::dict metadata_of(const Metadata& metadata) {
  nb::dict result;
  const auto text = [&](const char* name, const std::string& value) {
    if (!value.empty()) result[name] = text_of(value);
  };
  if (const auto& resolution = metadata.resolution) {
    constexpr const char* units[] = {"", "none", "inch", "centimetre"};
    result["resolution"] =
        nb::make_tuple(resolution->x, resolution->y, units[static_cast<int>(resolution->unit)]);
  }
  if (metadata.orientation != 1) result["orientation"] = metadata.orientation;
  if (!metadata.icc_profile.empty())
    result["icc_profile"] = nb::bytes(metadata.icc_profile.data(), metadata.icc_profile.size());
  text("description", metadata.description);
  text("software", metadata.software);
  text("date", metadata.date_time);
  text("artist", metadata.artist);
  text("copyright", metadata.copyright);
  if (const auto nodata = nodata_value(metadata)) text("nodata", *nodata);
  if (const auto epsg = epsg_code(metadata)) result["epsg"] = *epsg;
  return result;
}

/// The properties from which python/sepconv/_image.py constructs an Image.
nb::dict facts_of(OpenSet& open) {
  const RasterSet& set = open.set();
  std::shared_ptr<Reader> first;
  check_interpreter_alive();
  {
    const WithoutGil released;  // another thread's reader may need the GIL to open
    first = open.raster(0);
  }
  const SourceLayout& layout = first->layout();
  const SampleType stored = layout.stored.value_or(SampleType(set.spec().type));
  nb::dict result;
  result["rows"] = set.spec().extent.rows;
  result["cols"] = set.spec().extent.cols;
  result["channels"] = set.spec().channels;
  result["type"] = std::string(name_of(set.spec().type));
  result["stored"] = name_of(stored);
  nb::list axes;
  for (const RasterAxis& axis : set.axes())
    if (!axis.single) axes.append(nb::make_tuple(text_of(axis.name), axis.size));
  result["axes"] = axes;
  result["block"] = nb::make_tuple(layout.block.rows, layout.block.cols);
  const FileLayout file = layout.file.value_or(FileLayout());
  nb::dict together;  // number of positions per axis that are stored in one chunk
  if (file.planar) together["c"] = 1;
  for (const AxisPositions& positions : file.zarr.chunk_others)
    together[text_of(positions.axis)] = positions.count;
  result["together"] = together;
  result["layout"] = sentence_of(layout.description);
  result["warnings"] = sentences_of(layout.warnings);
  result["metadata"] = metadata_of(first->metadata());
  return result;
}

/// Reads the part of a raster at (row, col) to `out`, an array of rows, columns and channels.
void read_part(OpenSet& open, std::int64_t raster, std::int64_t row, std::int64_t col, nb::handle out) {
  const PixelView pixels = view_of_array(out);
  RunOptions options{{.region = {row, col, pixels.extent.rows, pixels.extent.cols}},
                     {.retry_smaller_plans = true}};
  options.missing.none = true;
  run_with_progress(options, nb::none(), [&] {
    const std::shared_ptr<Reader> reader = open.raster(raster);
    if (pixels.extent.area() <= 1 << 19 && reader->layout().access == Access::random) {
      SerialExecutor executor;
      return reader->read(options.region, pixels, executor);
    }
    run(*reader, *make_memory_writer(pixels), Chain(), options);
  });
}

/// The fields of ChannelStats in python/sepconv/_measure.py.
nb::list channels_of(const std::vector<ChannelStats>& channels) {
  nb::list result;
  for (const ChannelStats& stats : channels) {
    result.append(nb::make_tuple(stats.count, stats.nan_count, stats.missing_count, stats.min, stats.max,
                                 stats.mean, stats.deviation, stats.histogram_low, stats.histogram_high,
                                 stats.histogram));
  }
  return result;
}

/// Statistics per channel of a raster, and the reader's warnings.
nb::tuple stats_of(OpenSet& open, std::int64_t raster, const nb::dict& options, const nb::object& callback) {
  Settings settings = settings_of(options);
  std::vector<ChannelStats> channels;
  std::vector<std::string> warnings;
  run_with_progress(settings.run, callback, [&] {
    const std::shared_ptr<Reader> reader = open.raster(raster);
    channels = image_stats(*reader, settings.run);
    warnings = reader->layout().warnings;
  });
  return nb::make_tuple(channels_of(channels), sentences_of(warnings));
}

Comparison compare_rasters(OpenSet& a, OpenSet& b, std::int64_t raster, double tolerance,
                           const nb::dict& options, const nb::object& callback) {
  Settings settings = settings_of(options);
  Comparison comparison;
  run_with_progress(settings.run, callback, [&] {
    comparison = compare_images(*a.raster(raster), *b.raster(raster), tolerance, settings.run);
  });
  return comparison;
}

void bind_comparison(nb::module_& module) {
  nb::class_<Comparison>(module, "NativeComparison")
      .def_ro("elements", &Comparison::elements)
      .def_ro("different", &Comparison::different)
      .def_ro("max_difference", &Comparison::max_difference)
      .def_ro("mean_difference", &Comparison::mean_difference)
      .def_ro("psnr_db", &Comparison::psnr_db)
      .def_prop_ro("first", [](const Comparison& comparison) -> nb::object {
        if (!comparison.first) return nb::none();
        const auto& first = *comparison.first;
        return nb::make_tuple(first.row, first.col, first.channel, first.a, first.b);
      });
  module.def("total_of", [](const std::vector<Comparison>& images) { return total_of(images); });
  module.def("compare", compare_rasters, nb::arg("a"), nb::arg("b"), nb::arg("raster"), nb::arg("tolerance"),
             nb::arg("options"), nb::arg("told").none());
}

}  // namespace

void bind_sets(nb::module_& module) {
  nb::class_<OpenSet>(module, "NativeSet")
      .def_prop_ro("count", [](const OpenSet& open) { return open.set().count(); })
      .def_prop_ro("facts", facts_of)
      .def("read", read_part)
      .def("stats", stats_of, nb::arg("raster"), nb::arg("options"), nb::arg("told").none());
  module.def("open_set", open_source_set, nb::keep_alive<0, 1>());
  bind_comparison(module);
}

}  // namespace sepconv::python
