#include "io/mirrored_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "io/gdal_tags.hpp"

namespace sepconv {
namespace {

class MirroredReader final : public Reader {
 public:
  MirroredReader(std::unique_ptr<Reader> image, bool rows, bool cols)
      : image_(std::move(image)),
        mirrors_rows_(rows),
        mirrors_cols_(cols),
        layout_(image_->layout()),
        metadata_(image_->metadata()) {
    metadata_.orientation = 1;
    layout_.coded.reset();  // read() moves the pixels
  }

  const ImageSpec& spec() const noexcept override { return image_->spec(); }
  const SourceLayout& layout() const noexcept override { return layout_; }
  const Metadata& metadata() const noexcept override { return metadata_; }
  std::int64_t stored_bytes() const noexcept override { return image_->stored_bytes(); }
  std::int64_t changed_ns() const noexcept override { return image_->changed_ns(); }
  std::int64_t buffer_bytes(int concurrency) const override { return image_->buffer_bytes(concurrency); }
  SharedBlocks shared_blocks() const noexcept override { return image_->shared_blocks(); }
  void set_cache_budget(std::int64_t bytes) override { image_->set_cache_budget(bytes); }
  std::vector<std::string> warnings_after_reading() const override {
    return image_->warnings_after_reading();
  }

  void read(const Rect& rect, const PixelView& out, Executor& executor) override {
    const Extent full = spec().extent;
    const Rect stored{mirrors_rows_ ? full.rows - rect.row_end() : rect.row,
                      mirrors_cols_ ? full.cols - rect.col_end() : rect.col, rect.rows, rect.cols};
    image_->read(stored, out, executor);
    if (mirrors_rows_)
      for (std::int64_t i = 0; i < rect.rows / 2; ++i)
        std::swap_ranges(out.row_data(i), out.row_data(i) + out.row_bytes(), out.row_data(rect.rows - 1 - i));
    if (mirrors_cols_)
      executor.for_each(rect.rows, [&](std::int64_t row, int) { mirror(out.row_data(row), out); });
  }

 private:
  static void mirror(std::byte* row, const PixelView& out) {
    const std::int64_t bytes = out.pixel_bytes();
    for (std::byte *first = row, *last = row + out.row_bytes() - bytes; first < last;
         first += bytes, last -= bytes)
      std::swap_ranges(first, first + bytes, last);
  }

  std::unique_ptr<Reader> image_;
  bool mirrors_rows_, mirrors_cols_;
  SourceLayout layout_;
  Metadata metadata_;
};

class MirroredSet final : public RasterSet {
 public:
  MirroredSet(std::unique_ptr<RasterSet> set, std::uint16_t orientation)
      : RasterSet("the source", set->spec(), set->axes()), set_(std::move(set)), orientation_(orientation) {}

  bool has_changed() const override { return set_->has_changed(); }

 private:
  std::unique_ptr<Reader> open_raster(std::int64_t index, bool) override {
    std::unique_ptr<Reader> image = set_->raster(index);
    const Metadata& metadata = image->metadata();
    if (metadata.orientation != orientation_)
      throw InvalidArgument(fmt::format(
          "the images have different orientations, {} and {}; leave FileOptions::orient out, or take one "
          "image with OpenOptions::select",
          orientation_, metadata.orientation));
    if (orientation_ == 1) return image;
    const bool is_georeferenced = std::ranges::any_of(metadata.geo_tags, [](const RawTag& raw) {
      return raw.tag == kTiepoints || raw.tag == kTransformation;
    });
    if (is_georeferenced)
      throw InvalidArgument(
          "the image has a place on a map, which counts its rows and columns as they are stored; leave "
          "FileOptions::orient out");
    const bool rows = orientation_ == 3 || orientation_ == 4 || orientation_ == 6 || orientation_ == 7;
    const bool cols = orientation_ == 2 || orientation_ == 3 || orientation_ == 7 || orientation_ == 8;
    return std::make_unique<MirroredReader>(std::move(image), rows, cols);
  }

  std::unique_ptr<RasterSet> set_;
  std::uint16_t orientation_;
};

}  // namespace

std::unique_ptr<RasterSet> mirrored(std::unique_ptr<RasterSet> set, std::uint16_t orientation) {
  return std::make_unique<MirroredSet>(std::move(set), orientation);
}

}  // namespace sepconv
