// A file as a set of rasters: images of one shape and type along named axes (planes of a microscope's stack,
// pages, the outer axes of an array). Each is the source or sink of a run; all share one plan.
//
//   auto set = sepconv::open_set("cells.ome.tif", {.select = "c=1"});
//   for (std::int64_t i = 0; i < set->count(); ++i) use(*set->raster(i));
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/formats.hpp"
#include "io/raster_axes.hpp"

namespace sepconv {

/// The images of a file that have one shape and type. Overviews, masks and other images of the file are not
/// rasters; the layout of the first raster lists them as warnings.
class RasterSet {
 public:
  virtual ~RasterSet() = default;

  /// Shape and type of each raster.
  const ImageSpec& spec() const noexcept { return spec_; }
  /// Axes of the selected rasters.
  const RasterAxes& axes() const noexcept { return axes_; }
  std::int64_t count() const noexcept { return raster_count(axes_); }

  /// Selects positions of axes. Call at most once, before opening a raster. A range without an axis name
  /// refers to the only axis longer than 1, or to all rasters in their order, whose axes it then replaces.
  /// Throws IoError for positions or axes that do not exist.
  void select(const std::vector<AxisRange>& ranges);

  /// Renames the only axis to z if its meaning is unknown (pages of a file). Returns whether it did.
  bool treat_pages_as_z();

  /// Opens a raster; reads only headers. Readers are independent of the set and of each other. The first
  /// raster has the metadata of the set: Metadata::description, with Metadata::axes if the description counts
  /// the rasters. Throws IoError.
  std::unique_ptr<Reader> raster(std::int64_t index);

  /// For a folder: whether a file has changed since a reader read it. Samples about a thousand files if there
  /// are more. Always false for a single file, which its reader checks.
  virtual bool has_changed() const { return false; }

 protected:
  /// Error messages begin with `name`.
  RasterSet(std::string name, const ImageSpec& spec, RasterAxes axes)
      : name_(std::move(name)), spec_(spec), axes_(std::move(axes)), file_axes_(axes_) {}

  /// `index` counts all rasters of the file. `is_first`: first raster of the selection, which has the
  /// metadata and warnings of the set.
  virtual std::unique_ptr<Reader> open_raster(std::int64_t index, bool is_first) = 0;

 private:
  void select_in_order(const AxisRange& range);

  std::string name_;
  ImageSpec spec_;
  RasterAxes axes_, file_axes_;
};

/// Shape, type and axes of a raster set to create.
struct RasterSetSpec {
  ImageSpec raster;
  RasterAxes axes{};
  std::int64_t count() const noexcept { return raster_count(axes); }
};

/// Writes a file of several rasters. The file becomes visible only with finish(); otherwise nothing is left.
class RasterSetWriter {
 public:
  virtual ~RasterSetWriter() = default;

  /// The sink of the next raster, in the order of the axes. Its finish() completes the raster, but does not
  /// rename the file. Finish it before the next call. `metadata` are those of the raster; the first raster
  /// must have the metadata with which the set was created. Throws IoError.
  virtual std::unique_ptr<Writer> next(const Metadata& metadata) = 0;
  /// For parts: skips to this raster. Returns false if the format needs the rasters before; call next() for
  /// each of them then.
  virtual bool skip_to(std::int64_t raster) {
    (void)raster;
    return false;
  }
  /// Completes the file and renames it to the target. Call once, after the last raster's finish(). Throws
  /// IoError.
  virtual void finish() = 0;
};

/// Opens a file of the format that format_of_file() detects; applies OpenOptions::select. Errors as
/// open_reader().
std::unique_ptr<RasterSet> open_set(const std::filesystem::path& path, const OpenOptions& options = {},
                                    Formats formats = built_in_formats());
/// The only raster of a set. If there are several, throws IoError that explains how to select one.
std::unique_ptr<Reader> only_raster(RasterSet& set, const std::filesystem::path& path);

/// Creates a set of rasters in the format of the name's extension; every format supports a single raster.
/// Checks everything that can be checked before creating anything. Throws IoError, and InvalidArgument if the
/// format does not support several rasters.
std::unique_ptr<RasterSetWriter> create_set(const std::filesystem::path& path, const RasterSetSpec& spec,
                                            const CreateOptions& options,
                                            Formats formats = built_in_formats());

}  // namespace sepconv
