#include "io/volume_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

namespace sepconv {
namespace {

ImageSpec spec_of(const ImageSpec& plane, const VolumeAxes& axes) {
  return {{axes.depth, axes.planes * plane.extent.area()}, plane.channels, plane.type};
}

/// The planes, shared by several readers; opened one at a time.
struct SharedPlanes {
  std::unique_ptr<RasterSet> set;
  std::mutex mutex;

  std::unique_ptr<Reader> open(std::int64_t index) {
    const std::scoped_lock lock(mutex);
    return set->raster(index);
  }
};

SourceLayout layout_of(const SourceLayout& plane, const ImageSpec& spec, const VolumeAxes& axes) {
  SourceLayout layout = plane;
  // Rows of a plane's blocks. Assumes that blocks begin at the same rows in every plane.
  layout.block = {1, 1};
  if (plane.block.rows > 1 || plane.block.cols > 1)
    layout.block.cols = (axes.planes == 1 ? plane.unit().rows : 1) * spec.extent.cols;
  layout.partial_blocks = false;
  layout.description = fmt::format("{} planes along z as rows, each {}", axes.depth, plane.description);
  layout.file.reset();
  layout.coded.reset();
  return layout;
}

class VolumeReader final : public Reader {
 public:
  VolumeReader(std::shared_ptr<SharedPlanes> planes, const VolumeAxes& axes, std::int64_t volume)
      : planes_(std::move(planes)),
        axes_(axes),
        volume_(volume),
        first_(planes_->open(axes.plane(volume, 0, 0))),
        plane_(first_->spec()),
        spec_(spec_of(plane_, axes)),
        layout_(layout_of(first_->layout(), plane_, axes)) {}

  const ImageSpec& spec() const noexcept override { return spec_; }
  const SourceLayout& layout() const noexcept override { return layout_; }
  const Metadata& metadata() const noexcept override { return first_->metadata(); }

  void read(const Rect& rect, const PixelView& out, Executor& executor) override {
    const std::int64_t plane_cols = plane_.extent.cols;
    if (rect.col % plane_cols != 0 || rect.cols % plane_cols != 0)
      throw std::logic_error("a volume is read by whole rows of its planes, and asked for " +
                             to_string(rect));
    const auto read_part = [&](std::int64_t row, const PlanePart& part) {
      const PixelView pixels = out.crop({row, part.col - rect.col, 1, part.rows.area()});
      read_plane(
          axes_.plane(volume_, rect.row + row, part.plane_in_row), part.rows,
          {pixels.data, part.rows.extent(), pixels.channels, pixels.type, plane_cols * pixels.pixel_bytes()},
          executor);
    };
    const std::vector<PlanePart> parts = parts_of(rect);
    if (!caches_block_row_) {
      for (std::int64_t row = 0; row < rect.rows; ++row)
        for (const PlanePart& part : parts) read_part(row, part);
      return;
    }
    for (const PlanePart& part : parts)  // reads all planes of a row of blocks while its decoded blocks are
                                         // cached
      for (std::int64_t row = 0; row < rect.rows; ++row) read_part(row, part);
  }

  std::vector<std::string> warnings_after_reading() const override {
    const std::scoped_lock lock(mutex_);
    return warnings_;
  }
  SharedBlocks shared_blocks() const noexcept override { return first_->shared_blocks(); }
  void set_cache_budget(std::int64_t bytes) override {
    first_->set_cache_budget(bytes);
    const auto [all, row] = shared_blocks();
    caches_block_row_ = row > 0 && row <= bytes && bytes < all;
  }
  std::int64_t buffer_bytes(int concurrency) const override { return first_->buffer_bytes(concurrency); }
  std::int64_t stored_bytes() const noexcept override {
    return first_->stored_bytes() * axes_.depth * axes_.planes;
  }
  std::int64_t changed_ns() const noexcept override { return first_->changed_ns(); }

 private:
  struct PlanePart {
    std::int64_t plane_in_row;  ///< index among the planes in a row
    Rect rows;                  ///< rows of the plane
    std::int64_t col;           ///< first column in the volume's row
  };

  /// Splits a rectangle into parts with whole rows of a plane. If a row of blocks is cached, each part is in
  /// one row of blocks.
  std::vector<PlanePart> parts_of(const Rect& rect) const {
    const std::int64_t plane_cols = plane_.extent.cols, area = plane_.extent.area();
    const std::int64_t rows_per_part = caches_block_row_ ? first_->layout().unit().rows : plane_.extent.rows;
    std::vector<PlanePart> parts;
    for (std::int64_t col = rect.col; col < rect.col_end(); col += parts.back().rows.area()) {
      const std::int64_t plane_in_row = col / area, row = (col - plane_in_row * area) / plane_cols;
      const std::int64_t end = std::min({(rect.col_end() - plane_in_row * area) / plane_cols,
                                         plane_.extent.rows, round_up(row + 1, rows_per_part)});
      parts.push_back({plane_in_row, {row, 0, end - row, plane_cols}, col});
    }
    return parts;
  }

  void read_plane(std::int64_t index, const Rect& part, const PixelView& out, Executor& executor) {
    const std::unique_ptr<Reader> plane = planes_->open(index);
    plane->read(part, out, executor);
    const std::vector<std::string> warnings = plane->warnings_after_reading();
    if (warnings.empty()) return;
    const std::scoped_lock lock(mutex_);
    warnings_ = warnings;
  }

  std::shared_ptr<SharedPlanes> planes_;
  VolumeAxes axes_;
  std::int64_t volume_;
  std::unique_ptr<Reader> first_;  ///< used for metadata and layout only
  ImageSpec plane_, spec_;
  SourceLayout layout_;
  bool caches_block_row_ = false;
  mutable std::mutex mutex_;
  std::vector<std::string> warnings_;
};

class VolumeSet final : public RasterSet {
 public:
  VolumeSet(std::shared_ptr<SharedPlanes> planes, const VolumeAxes& axes)
      : RasterSet("volumes", spec_of(planes->set->spec(), axes), axes.outer),
        planes_(std::move(planes)),
        volume_axes_(axes) {}

  bool has_changed() const override { return planes_->set->has_changed(); }

 private:
  std::unique_ptr<Reader> open_raster(std::int64_t index, bool) override {
    return std::make_unique<VolumeReader>(planes_, volume_axes_, index);
  }

  std::shared_ptr<SharedPlanes> planes_;
  VolumeAxes volume_axes_;
};

}  // namespace

std::optional<VolumeAxes> volume_axes(const RasterAxes& axes, std::string_view along) {
  const auto z = std::ranges::find(axes, along, &RasterAxis::name);
  if (z == axes.end()) return std::nullopt;
  return VolumeAxes{{axes.begin(), z}, z->size, raster_count({z + 1, axes.end()})};
}

Volumes volumes_of(std::unique_ptr<RasterSet> planes, const VolumeAxes& axes) {
  const auto shared = std::make_shared<SharedPlanes>();
  shared->set = std::move(planes);
  return {std::make_unique<VolumeSet>(shared, axes),
          [shared](std::int64_t plane) { return shared->open(plane)->metadata(); }};
}

}  // namespace sepconv
