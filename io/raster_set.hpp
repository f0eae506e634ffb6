// A file as a set of rasters: images of one shape and type along named axes (planes of a microscope's stack,
// pages, the outer axes of an array). One after another they are sources and sinks of runs; a plan for one
// serves all.
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

  /// Leaves these positions of these axes; to be called once, before a raster is opened. An axis without name
  /// is the only one that is longer than 1, or stands for all in their order, which it replaces. Throws
  /// IoError for what is not there.
  void select(const std::vector<AxisRange>& ranges);

  /// Calls the only axis z where nothing says what it counts (pages of a file). Whether it did.
  bool take_pages_for_planes();

  /// Opens a raster: its headers only. Readers do not depend on the set's life nor on each other. The first
  /// has the metadata of the set: Metadata::description, with Metadata::axes where it counts the rasters.
  /// Throws IoError.
  std::unique_ptr<Reader> raster(std::int64_t index);

  /// For a folder: whether a file that its readers have read is another than it was then. Of more than a
  /// thousand files this many are looked at, spread over all. Of what is one file its owner knows.
  virtual bool has_changed() const { return false; }

 protected:
  /// `name` begins errors.
  RasterSet(std::string name, const ImageSpec& spec, RasterAxes axes)
      : name_(std::move(name)), spec_(spec), axes_(std::move(axes)), file_axes_(axes_) {}

  /// `index` counts all rasters of the file. `leads`: it is the first of the selection, so it is the one that
  /// has what is to be said of the set and of axes().
  virtual std::unique_ptr<Reader> open_raster(std::int64_t index, bool leads) = 0;

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

/// A file of several rasters in the making. Nothing is visible before finish(); without it nothing is left.
class RasterSetWriter {
 public:
  virtual ~RasterSetWriter() = default;

  /// The sink of the next raster, in the order of the axes. Its finish() completes this raster and gives no
  /// file its name; only then the next may be asked for. `metadata` are the raster's own; those of the first
  /// are the set's, and are to be those that the set was made with. Throws IoError.
  virtual std::unique_ptr<Writer> next(const Metadata& metadata) = 0;
  /// For parts: makes this raster the next, if nothing of those before must be known for its sink; else false,
  /// and they are to be gone through.
  virtual bool skip_to(std::int64_t raster) {
    (void)raster;
    return false;
  }
  /// Completes the file and gives it its name. Call once, after the last raster's finish(). Throws IoError.
  virtual void finish() = 0;
};

/// Opens a file as format_of_file() says; OpenOptions::select is done. Errors as open_reader().
std::unique_ptr<RasterSet> open_set(const std::filesystem::path& path, const OpenOptions& options = {},
                                    Formats formats = built_in_formats());
/// The only raster of a set. Throws IoError that says how to choose one where there are several.
std::unique_ptr<Reader> only_raster(RasterSet& set, const std::filesystem::path& path);

/// Makes a set of rasters for the format that the name's ending says; one raster goes into any format. Checks
/// everything that can be checked before anything is made. Throws IoError, and InvalidArgument for a format
/// that cannot hold several.
std::unique_ptr<RasterSetWriter> create_set(const std::filesystem::path& path, const RasterSetSpec& spec,
                                            const CreateOptions& options,
                                            Formats formats = built_in_formats());

}  // namespace sepconv
