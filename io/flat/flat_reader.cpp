#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "core/count_text.hpp"
#include "core/error.hpp"
#include "io/flat/flat_image.hpp"
#include "io/flat/row_pieces.hpp"
#include "io/sample_conversion.hpp"
#include "io/sidecars.hpp"

namespace sepconv {
namespace {

class FlatReader final : public Reader {
 public:
  FlatReader(InputFile file, FlatImage image)
      : file_(std::move(file)),
        image_(std::move(image)),
        swap_(image_.big_endian != (std::endian::native == std::endian::big)),
        layout_(flat_source_layout(image_, file_.path())) {}

  const ImageSpec& spec() const noexcept override { return image_.spec; }
  const SourceLayout& layout() const noexcept override { return layout_; }
  const Metadata& metadata() const noexcept override { return metadata_; }
  std::int64_t changed_ns() const noexcept override { return file_.changed_ns(); }
  std::int64_t buffer_bytes(int concurrency) const override { return concurrency * kBounceBytes; }

  void read(const Rect& rect, const PixelView& out, Executor& executor) override {
    const bool whole_rows = rect.cols == image_.spec.extent.cols;
    if (whole_rows && out.contiguous()) {
      for_each_byte_piece(rect.rows * out.row_bytes(), executor, [&](std::int64_t first, std::int64_t count) {
        read_elements(offset_of(rect.row, rect.col) + first, out.data + first, count);
      });
      return;
    }
    for_each_row_piece(rect.rows, out.row_bytes(), executor, [&](std::int64_t first, std::int64_t count) {
      const PixelView rows = out.crop({first, 0, count, rect.cols});
      if (whole_rows && 2 * out.row_bytes() <= kBounceBytes) {
        read_short_rows(rect.row + first, rows);
      } else {
        read_rows(rect.row + first, rect.col, rows);
      }
    });
  }

 private:
  std::int64_t offset_of(std::int64_t row, std::int64_t col) const noexcept {
    return image_.offset + row * image_.spec.row_bytes() + col * image_.spec.pixel_bytes();
  }

  void read_elements(std::int64_t offset, std::byte* data, std::int64_t bytes) const {
    file_.read_at(offset, {data, static_cast<std::size_t>(bytes)});
    if (swap_) swap_elements(image_.spec.type, {data, static_cast<std::size_t>(bytes)});
  }

  void read_rows(std::int64_t first_row, std::int64_t col, const PixelView& out) const {
    for (std::int64_t row = 0; row < out.extent.rows; ++row) {
      read_elements(offset_of(first_row + row, col), out.row_data(row), out.row_bytes());
    }
  }

  void read_short_rows(std::int64_t first_row, const PixelView& out) const {
    const std::int64_t rows_at_once = kBounceBytes / out.row_bytes();
    const auto bounce = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(kBounceBytes));
    for (std::int64_t row = 0; row < out.extent.rows; row += rows_at_once) {
      const std::int64_t count = std::min(rows_at_once, out.extent.rows - row);
      read_elements(offset_of(first_row + row, 0), bounce.get(), count * out.row_bytes());
      const Extent extent{count, out.extent.cols};
      copy_pixels({bounce.get(), extent, out.channels, out.type, out.row_bytes()},
                  out.crop({row, 0, extent.rows, extent.cols}));
    }
  }

  InputFile file_;
  FlatImage image_;
  bool swap_;
  SourceLayout layout_;
  Metadata metadata_;
};

}  // namespace

void check_flat_image(const FlatImage& image, const std::filesystem::path& path) {
  constexpr std::int64_t max_channels = 65535;  // TIFF's limit, so that any image can be converted to any
                                                // format
  const ImageSpec& spec = image.spec;
  const auto [rows, cols] = spec.extent;
  const std::string shape = fmt::format("{} of {} of {}", count_text(rows, "row"), count_text(cols, "pixel"),
                                        count_text(spec.channels, "channel"));
  if (rows < 1 || cols < 1 || spec.channels < 1) {
    throw InvalidArgument(
        fmt::format("{} has no pixels with a shape of {}; give numbers from 1 on", path.native(), shape));
  }
  std::int64_t bytes = 0;
  const bool too_large = rows > kMaxSide || cols > kMaxSide || spec.channels > max_channels;
  if ((image.is_image && too_large) || __builtin_mul_overflow(rows, cols, &bytes) ||
      __builtin_mul_overflow(rows * cols, spec.pixel_bytes(), &bytes) ||
      __builtin_add_overflow(bytes, image.offset, &bytes)) {
    throw InvalidArgument(
        fmt::format("{} cannot have a shape of {}; sides are at most {} and channels at most {}",
                    path.native(), shape, kMaxSide, max_channels));
  }
  if (image.offset < 0) {
    throw InvalidArgument(fmt::format("{} cannot be read from byte {} on; give an offset from 0 on",
                                      path.native(), image.offset));
  }
}

SourceLayout flat_source_layout(const FlatImage& image, const std::filesystem::path& path) {
  SourceLayout layout;
  layout.description = image.description;
  layout.warnings = image.warnings;
  layout.stored = image.stored;
  warn_about_unread_sidecars(path, false, layout.warnings);
  return layout;
}

std::unique_ptr<Reader> make_flat_reader(InputFile file, FlatImage image) {
  check_flat_image(image, file.path());
  const SampleType element = image.element();
  const std::int64_t needed = image.offset + element.bytes_of(image.span());
  if (file.size() < needed) {
    throw IoError(fmt::format(
        "cannot read {}: {} of {} of {} need {} bytes and the file has {}; it is truncated or has another "
        "shape",
        file.path().native(), count_text(image.spec.extent.rows, "row"),
        count_text(image.spec.extent.cols, "pixel"),
        count_text(image.channels(), fmt::format("{} channel", name_of(element))), needed, file.size()));
  }
  if (!element.is_pixels() || !image.is_dense())
    return make_element_reader(std::move(file), std::move(image));
  return std::make_unique<FlatReader>(std::move(file), std::move(image));
}

}  // namespace sepconv
