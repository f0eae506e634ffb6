#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <bit>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "io/file_errors.hpp"
#include "io/flat/npy.hpp"
#include "io/pnm/pnm.hpp"
#include "io/pnm/pnm_header.hpp"
#include "io/sample_conversion.hpp"
#include "io/stream/stream.hpp"

namespace sepconv {
namespace {

/// Contents of a stream's header.
struct StreamImage {
  FlatImage image;  ///< the first image; `offset` is the number of bytes to skip before it
  RasterAxes axes{};
  std::optional<PnmScale> scale{};
};

/// Reads the rows of all rasters in their order.
class RowStream {
 public:
  RowStream(InputBytes bytes, StreamImage header)
      : bytes_(std::move(bytes)),
        header_(std::move(header)),
        type_(image().element()),
        swap_(type_.bits_of_part() > 8 && image().big_endian != (std::endian::native == std::endian::big)),
        last_row_(raster_count(header_.axes) * image().spec.extent.rows),
        stored_row_(type_.is_pixels() ? 0 : static_cast<std::size_t>(row_bytes())) {}

  const FlatImage& image() const noexcept { return header_.image; }
  std::string name() const { return bytes_.name().native(); }
  std::int64_t row_bytes() const { return type_.bytes_of(image().spec.extent.cols * image().channels()); }

  /// Reads rows from `first` on, counted over all rasters.
  void read(std::int64_t first, const PixelView& out) {
    if (first < next_row_)
      throw InvalidArgument(fmt::format(
          "row {} of {} has passed: what comes in a stream comes once; write it to a file and read that",
          first, name()));
    if (next_row_ == 0) bytes_.skip(image().offset);
    bytes_.skip((first - next_row_) * row_bytes());
    for (std::int64_t row = 0; row < out.extent.rows; ++row) read_row(first + row, out, row);
    next_row_ = first + out.extent.rows;
    if (next_row_ == last_row_) check_end();
  }

 private:
  void read_row(std::int64_t row_index, const PixelView& out, std::int64_t row) {
    const std::span pixels(out.row_data(row), static_cast<std::size_t>(out.row_bytes()));
    const std::span stored = stored_row_.empty() ? pixels : std::span(stored_row_);
    bytes_.read(stored);
    if (swap_) swap_elements(type_, stored);
    if (!stored_row_.empty()) {
      const std::int64_t count = image().spec.extent.cols * image().channels();
      const std::int64_t loaded = load_elements(type_, {stored.data()}, count, pixels.data(), type_.parts());
      if (loaded != count)
        throw_unrepresentable(bytes_.name(), type_, row_index, loaded / image().channels(),
                              loaded % image().channels());
    }
    if (header_.scale) scale_row(row_index, out, row);
  }

  void scale_row(std::int64_t row_index, const PixelView& out, std::int64_t row) const {
    const auto scale = [&](auto* values) {
      for (std::int64_t i = 0; i < out.row_elements(); ++i)
        values[i] =
            static_cast<std::remove_reference_t<decltype(values[i])>>((*header_.scale)(values[i], row_index));
    };
    out.type == PixelType::u16 ? scale(out.row<std::uint16_t>(row)) : scale(out.row<std::uint8_t>(row));
  }

  void check_end() {
    if (bytes_.get() < 0) return;
    throw_read_error(
        bytes_.name(),
        fmt::format("it continues after the image, at byte {}; its shape is different, or there are several "
                    "images, which is for files",
                    bytes_.position() - 1));
  }

  InputBytes bytes_;
  StreamImage header_;
  SampleType type_;
  bool swap_;
  std::int64_t next_row_ = 0;
  std::int64_t last_row_;
  std::vector<std::byte> stored_row_;  // buffer of a row in the stored type if that is not a pixel type
};

class StreamReader final : public Reader {
 public:
  StreamReader(std::shared_ptr<RowStream> rows, std::int64_t raster, bool is_first)
      : rows_(std::move(rows)), first_row_(raster * spec().extent.rows) {
    const FlatImage& image = rows_->image();
    layout_ = {{1, spec().extent.cols}, Access::sequential, true, image.description};
    if (is_first) layout_.warnings = image.warnings;
    layout_.stored = image.stored;
  }
  const ImageSpec& spec() const noexcept override { return rows_->image().spec; }
  const SourceLayout& layout() const noexcept override { return layout_; }
  const Metadata& metadata() const noexcept override { return metadata_; }
  std::int64_t buffer_bytes(int) const override { return kStreamBytes + rows_->row_bytes(); }
  std::int64_t stored_bytes() const noexcept override { return spec().extent.rows * rows_->row_bytes(); }
  void read(const Rect& rect, const PixelView& out, Executor&) override {
    if (rect.col != 0 || rect.cols != spec().extent.cols)
      throw InvalidArgument(
          fmt::format("a stream has full rows, and {} were asked for; read all of them", to_string(rect)));
    rows_->read(first_row_ + rect.row, out);
  }

 private:
  std::shared_ptr<RowStream> rows_;
  std::int64_t first_row_;
  SourceLayout layout_;
  Metadata metadata_;
};

class StreamSet final : public RasterSet {
 public:
  StreamSet(std::shared_ptr<RowStream> rows, RasterAxes axes)
      : RasterSet(rows->name(), rows->image().spec, std::move(axes)), rows_(std::move(rows)) {}

 private:
  std::unique_ptr<Reader> open_raster(std::int64_t index, bool is_first) override {
    return std::make_unique<StreamReader>(rows_, index, is_first);
  }
  std::shared_ptr<RowStream> rows_;
};

StreamImage npy_stream(InputBytes& bytes, const OpenOptions& options) {
  const NpyArray array = parse_npy_array(bytes);
  NpyImages images = npy_images(bytes.name(), array, options.axes);
  std::int64_t expected_step = images.first.span();
  bool in_order = images.first.is_dense();
  for (std::size_t i = images.others.size(); i-- > 0; expected_step *= images.others[i].length)
    in_order = in_order && (images.others[i].step == expected_step || images.others[i].length == 1);
  if (!in_order)
    throw_read_error(
        bytes.name(),
        "its rows are not stored in order (Fortran order, or channels before rows), and a stream is "
        "read in order; write it to a file, or send numpy.ascontiguousarray of it");
  StreamImage header{std::move(images.first)};
  for (const NpyAxis& axis : images.others) header.axes.push_back({std::string(1, axis.name), axis.length});
  header.image.offset = 0;
  return header;
}

StreamImage pnm_stream(InputBytes& bytes) {
  const PnmHeader pnm = read_pnm_header(bytes);
  if (pnm.text() || pnm.bits())
    throw_read_error(
        bytes.name(),
        fmt::format("it is P{}, and of PNM only P5 and P6 (binary PGM and PPM) are read in a stream; convert "
                    "it, or write it to a file",
                    pnm.kind));
  StreamImage header{{.spec = pnm.spec, .big_endian = true, .description = "PNM, binary"}};
  if (pnm.greatest == pnm.type_limit()) return header;
  header.scale.emplace(bytes.name(), pnm);
  header.image.warnings.push_back(
      fmt::format("values of 0 to {} are scaled to 0 to {}", pnm.greatest, pnm.type_limit()));
  return header;
}

StreamImage raw_stream(const InputBytes& bytes, const OpenOptions& options) {
  StreamImage header{{*options.raw, options.raw_offset, options.raw_big_endian, "raw, uncompressed"}};
  check_flat_image(header.image, bytes.name());
  return header;
}

/// Reads the first bytes into `head` and returns a stream that starts with them again.
InputBytes peek(const std::string& name, ReadBytes read, std::array<std::byte, 16>& head,
                std::size_t& count) {
  while (count < head.size()) {
    const std::size_t read_count = read(std::span(head).subspan(count));
    if (read_count == 0) break;
    count += read_count;
  }
  return {name,
          [first = std::vector<std::byte>(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(count)),
           read = std::move(read)](std::span<std::byte> bytes) mutable -> std::size_t {
            if (first.empty()) return read(bytes);
            const std::size_t copied = std::min(bytes.size(), first.size());
            std::copy_n(first.begin(), copied, bytes.begin());
            first.erase(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(copied));
            return copied;
          }};
}

[[noreturn]] void throw_unknown(const std::string& name, std::size_t count) {
  throw_read_error(name, count == 0
                             ? "it is empty; check why the sender ended"
                             : "its first bytes are those of no NPY, PGM or PPM, which is what is read in a "
                               "stream; convert it, or give the shape of raw pixels with OpenOptions::raw");
}

std::pair<StreamFormat, StreamImage> header_of(InputBytes& bytes, const OpenOptions& options,
                                               std::span<const std::byte> head) {
  if (options.raw) return {StreamFormat::raw, raw_stream(bytes, options)};
  if (is_npy(head)) return {StreamFormat::npy, npy_stream(bytes, options)};
  if (is_pnm(head)) return {StreamFormat::ppm, pnm_stream(bytes)};
  throw_unknown(bytes.name().native(), head.size());
}

}  // namespace

std::string_view name_of(StreamFormat format) noexcept {
  constexpr std::string_view kNames[] = {"npy", "raw", "ppm"};
  return kNames[static_cast<int>(format)];
}

InputStream open_stream(const std::string& name, ReadBytes read, const OpenOptions& options) {
  std::array<std::byte, 16> head{};
  std::size_t count = 0;
  InputBytes bytes = peek(name, std::move(read), head, count);
  auto [format, header] = header_of(bytes, options, std::span(head).first(count));
  check_options(options, *format_of_name(fmt::format("a.{}", name_of(format))), name, built_in_formats());
  RasterAxes axes = header.axes;
  auto rows = std::make_shared<RowStream>(std::move(bytes), std::move(header));
  auto set = std::make_unique<StreamSet>(std::move(rows), std::move(axes));
  if (!options.select.empty()) set->select(parse_selection(options.select));
  if (options.page) set->select({{"", *options.page, *options.page}});
  return {format, std::move(set)};
}

}  // namespace sepconv
