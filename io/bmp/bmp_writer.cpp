#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "io/bmp/bmp.hpp"
#include "io/buffered_image.hpp"
#include "io/byte_stream.hpp"
#include "io/pixel_density.hpp"

namespace sepconv {
namespace {

constexpr BufferedFormat kBmp{
    "BMP", false, "13", kMaxSide,
    static_cast<unsigned>(MetadataKind::resolution) | static_cast<unsigned>(MetadataKind::colours)};
constexpr std::int64_t kHeaderBytes = 14 + 40;
constexpr std::int64_t kGreys = 256;
constexpr std::int64_t kMaxFileBytes = 0xFFFFFFFF;

std::int64_t stored_row_bytes(const ImageSpec& spec) { return round_up(spec.row_bytes(), 4); }
std::int64_t pixels_offset(const ImageSpec& spec) {
  return kHeaderBytes + (spec.channels == 1 ? 4 * kGreys : 0);
}

/// A buffer of little-endian numbers.
class HeaderBuffer {
 public:
  void add(std::size_t count, std::int64_t value) {
    for (std::size_t i = 0; i < count; ++i) bytes_.push_back(static_cast<std::byte>(value >> 8 * i));
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// Adds the colour table of the source unless it is plain, else greys.
void add_palette(HeaderBuffer& header, const std::optional<ColourTable>& colours) {
  const bool has_table = colours && !is_plain(*colours);
  const ColourTable table = has_table ? resize_table(*colours, kGreys) : ColourTable{};
  for (std::int64_t value = 0; value < kGreys; ++value) {
    const auto [red, green, blue] =
        has_table ? table.shown(static_cast<std::size_t>(value)) : std::array<std::uint8_t, 3>{};
    header.add(4, has_table ? red << 16 | green << 8 | blue : value * 0x10101);
  }
}

/// BITMAPFILEHEADER, BITMAPINFOHEADER and, for one channel, a palette.
HeaderBuffer build_header(const ImageSpec& spec, PixelDensity resolution,
                          const std::optional<ColourTable>& colours) {
  const std::int64_t offset = pixels_offset(spec);
  HeaderBuffer header;
  header.add(2, 'B' | 'M' << 8);
  header.add(4, offset + spec.extent.rows * stored_row_bytes(spec));
  header.add(4, 0);
  header.add(4, offset);
  header.add(4, 40);
  header.add(4, spec.extent.cols);
  header.add(4, spec.extent.rows);
  header.add(2, 1);  // planes
  header.add(2, 8 * spec.channels);
  header.add(8, 0);  // uncompressed; the size field may be 0
  header.add(4, resolution.x);
  header.add(4, resolution.y);
  header.add(8, 0);  // 0: a full palette, all of it important
  if (spec.channels == 1) add_palette(header, colours);
  return header;
}

void swap_red_and_blue(std::span<std::uint8_t> row) {
  for (std::size_t i = 0; i < row.size(); i += 3) std::swap(row[i], row[i + 2]);
}

void encode_bmp(OutputFile& file, PixelDensity resolution, const std::optional<ColourTable>& colours,
                const PixelView& image) {
  const ImageSpec spec{image.extent, image.channels, image.type};
  OutputBytes bytes(file);
  bytes.write(build_header(spec, resolution, colours).bytes());
  const std::vector<std::byte> padding(static_cast<std::size_t>(stored_row_bytes(spec) - image.row_bytes()));
  for (std::int64_t row = image.extent.rows - 1; row >= 0; --row) {
    const auto length = static_cast<std::size_t>(image.row_bytes());
    if (image.channels == 3) swap_red_and_blue({image.row<std::uint8_t>(row), length});
    bytes.write({image.row_data(row), length});
    bytes.write(padding);
  }
  bytes.flush();
}

}  // namespace

std::unique_ptr<Writer> create_bmp(const std::filesystem::path& path, const ImageSpec& requested_spec,
                                   const CreateOptions& requested) {
  BufferedPicture picture = make_buffered_picture(path, requested_spec, kBmp, requested);
  const ImageSpec spec = picture.spec;
  const CreateOptions& options = picture.options;
  if (spec.extent.rows > (kMaxFileBytes - pixels_offset(spec)) / stored_row_bytes(spec)) {
    throw InvalidArgument(
        fmt::format("cannot write {}: {} x {} pixels are more than the 4 GiB of a BMP hold; choose .tif",
                    path.native(), spec.extent.cols, spec.extent.rows));
  }
  BufferedSink sink;
  sink.encoder_bytes = 2 * kStreamBytes;
  sink.min_bytes = spec.bytes();
  std::optional<PixelDensity> resolution;
  if (const auto& source_resolution = options.metadata.resolution) {
    if (source_resolution->unit != Resolution::Unit::none) resolution = per_metre(*source_resolution);
    if (!resolution)
      sink.warnings.emplace_back(source_resolution->unit == Resolution::Unit::none
                                     ? "the resolution is not kept: it has no unit, and BMP's is per metre"
                                     : "the resolution is not kept: BMP holds whole numbers per metre");
  }
  const auto colours = options.metadata.colours;
  return make_buffered_writer(
      path, kBmp, std::move(picture), std::move(sink),
      [stored = resolution.value_or(PixelDensity{}), colours](OutputFile& file, const PixelView& image) {
        encode_bmp(file, stored, colours, image);
      });
}

}  // namespace sepconv
