#include "io/tiff/tiff_directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/error.hpp"
#include "io/deflate/deflater.hpp"
#include "io/tiff/jpeg_stream.hpp"

namespace sepconv {
namespace {

[[noreturn]] void refuse(const TiffHandle& handle, std::string_view message) {
  throw IoError(fmt::format("{}: {}", handle.name(), message));
}

template <class T>
T field(const TiffHandle& handle, std::uint32_t tag, T default_value) {
  T value{};
  return TIFFGetFieldDefaulted(handle.get(), tag, &value) != 0 ? value : default_value;
}

SampleType read_type(const TiffHandle& handle) {
  using Kind = SampleType::Kind;
  const auto bits = field<std::uint16_t>(handle, TIFFTAG_BITSPERSAMPLE, 1);
  const auto format = field<std::uint16_t>(handle, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  const bool is_unsigned = format == SAMPLEFORMAT_UINT || format == SAMPLEFORMAT_VOID;
  const bool is_full_width = bits == 16 || bits == 32 || bits == 64;
  if (is_unsigned && (is_full_width || (bits >= 1 && bits <= 16))) return {Kind::natural, bits};
  if (format == SAMPLEFORMAT_INT && (is_full_width || bits == 8)) return {Kind::integer, bits};
  if (format == SAMPLEFORMAT_IEEEFP && is_full_width) return {Kind::floating, bits};
  if (format == SAMPLEFORMAT_COMPLEXIEEEFP && (bits == 64 || bits == 128)) return {Kind::complex, bits};
  const char* kind = is_unsigned                            ? "unsigned integer"
                     : format == SAMPLEFORMAT_INT           ? "signed integer"
                     : format == SAMPLEFORMAT_IEEEFP        ? "floating-point"
                     : format == SAMPLEFORMAT_COMPLEXINT    ? "complex integer"
                     : format == SAMPLEFORMAT_COMPLEXIEEEFP ? "complex"
                                                            : "unknown";
  refuse(handle, fmt::format("{}-bit {} samples are not supported; convert them to u8, u16, i16, f32 or f64",
                             bits, kind));
}

Extent read_extent(const TiffHandle& handle) {
  const Extent extent{field<std::uint32_t>(handle, TIFFTAG_IMAGELENGTH, 0),
                      field<std::uint32_t>(handle, TIFFTAG_IMAGEWIDTH, 0)};
  if (extent.empty() || extent.rows > kMaxSide || extent.cols > kMaxSide) {
    refuse(handle, fmt::format("an image of {} x {} pixels cannot be; the file is damaged", extent.cols,
                               extent.rows));
  }
  return extent;
}

// Refuses volumes, of which only the first slice would be read, silently.
void check_not_volume(const TiffHandle& handle) {
  const std::uint32_t slices = std::max(field<std::uint32_t>(handle, TIFFTAG_IMAGEDEPTH, 1),
                                        field<std::uint32_t>(handle, TIFFTAG_TILEDEPTH, 1));
  if (slices <= 1) return;
  refuse(handle,
         fmt::format("volumes (here of {} slices in one page, by its tags ImageDepth or TileDepth) are not "
                     "supported; store each slice as a separate page",
                     slices));
}

Extent read_block_extent(const TiffHandle& handle, const TiffDirectory& directory) {
  if (!directory.tiled) {
    const std::int64_t rows = field<std::uint32_t>(handle, TIFFTAG_ROWSPERSTRIP, 0xffffffff);
    if (rows == 0) refuse(handle, "strips of 0 rows cannot be; the file is damaged");
    return {std::min(rows, directory.spec.extent.rows), directory.spec.extent.cols};
  }
  const Extent tile{field<std::uint32_t>(handle, TIFFTAG_TILELENGTH, 0),
                    field<std::uint32_t>(handle, TIFFTAG_TILEWIDTH, 0)};
  if (tile.empty() || tile.rows > kMaxSide || tile.cols > kMaxSide) {
    refuse(handle,
           fmt::format("tiles of {} x {} pixels cannot be; the file is damaged", tile.cols, tile.rows));
  }
  return tile;
}

void read_codec(const TiffHandle& handle, BlockFormat& block) {
  constexpr std::uint16_t kSupported[] = {COMPRESSION_NONE,    COMPRESSION_LZW,  COMPRESSION_ADOBE_DEFLATE,
                                          COMPRESSION_DEFLATE, COMPRESSION_ZSTD, COMPRESSION_JPEG,
                                          COMPRESSION_PACKBITS};
  block.compression = field<std::uint16_t>(handle, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  if (std::find(std::begin(kSupported), std::end(kSupported), block.compression) == std::end(kSupported)) {
    refuse(handle,
           fmt::format(
               "{} is not supported; store it with none, LZW, deflate, zstd, JPEG or PackBits compression",
               codec_name(block.compression)));
  }
  if (TIFFIsCODECConfigured(block.compression) == 0) {
    refuse(handle,
           fmt::format("this machine's libtiff was built without {}; store it with another compression",
                       codec_name(block.compression)));
  }
}

void read_predictor(const TiffHandle& handle, BlockFormat& block) {
  if (!has_predictor(block.compression)) return;
  block.predictor = field<std::uint16_t>(handle, TIFFTAG_PREDICTOR, PREDICTOR_NONE);
  const bool is_valid =
      block.predictor == PREDICTOR_NONE || block.predictor == PREDICTOR_HORIZONTAL ||
      (block.predictor == PREDICTOR_FLOATINGPOINT && block.type.kind == SampleType::Kind::floating);
  const bool has_differences = block.predictor != PREDICTOR_NONE;
  if (has_differences && block.type.is_complex())
    refuse(handle, fmt::format("predictor {} of {} samples is not supported; store it with predictor 1 or "
                               "without compression",
                               block.predictor, name_of(block.type)));
  if (!is_valid || (has_differences && block.type.is_packed())) {
    refuse(handle, fmt::format("predictor {} with {} samples cannot be; the file is damaged", block.predictor,
                               name_of(block.type)));
  }
}

void read_jpeg_fields(const TiffHandle& handle, BlockFormat& block) {
  if (block.type != PixelType::u8)
    refuse(handle, "JPEG with other than 8-bit samples is not supported; store it with another compression");
  std::uint32_t count = 0;
  void* tables = nullptr;
  if (TIFFGetField(handle.get(), TIFFTAG_JPEGTABLES, &count, &tables) != 0 && tables != nullptr) {
    const auto* bytes = static_cast<const std::byte*>(tables);
    block.jpeg_tables.assign(bytes, bytes + count);
  }
  TIFFGetFieldDefaulted(handle.get(), TIFFTAG_YCBCRSUBSAMPLING, &block.subsampling[0], &block.subsampling[1]);
}

void read_photometric(const TiffHandle& handle, TiffDirectory& directory) {
  BlockFormat& block = directory.block;
  block.photometric = field<std::uint16_t>(handle, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  if (block.photometric != PHOTOMETRIC_YCBCR) return;
  if (block.compression != COMPRESSION_JPEG)
    refuse(handle, "YCbCr is only supported with JPEG compression; convert it to RGB");
  if (directory.spec.channels != 3 || directory.planar) {
    refuse(handle, "YCbCr is only supported with three interleaved channels; convert it to RGB");
  }
}

// Checks that a file of this size can contain what the directory claims, before memory is allocated for it.
void check_claims(const TiffHandle& handle, const TiffDirectory& directory, std::int64_t file_bytes) {
  // Each block takes an offset and a byte count of at least 2 bytes.
  const Extent grid = directory.grid();
  if (grid.rows > file_bytes || grid.cols > file_bytes || grid.area() > file_bytes / 4 / directory.planes()) {
    refuse(handle,
           fmt::format("{} x {} pixels in {} x {} blocks do not fit into {} bytes; the file is damaged",
                       directory.spec.extent.cols, directory.spec.extent.rows, grid.cols, grid.rows,
                       file_bytes));
  }
  const BlockFormat& block = directory.block;
  // Sides are below 2^31 and a pixel is below 2^19 bytes: the size of a row fits in 64 bits, that of a block
  // or image may not.
  constexpr std::int64_t kMaxImageBytes = std::int64_t{1} << 60;
  if (block.row_bytes() > kMaxImageBytes / block.extent.rows ||
      directory.spec.row_bytes() > kMaxImageBytes / directory.spec.extent.rows) {
    refuse(handle, "an image of its dimensions cannot be; the file is damaged");
  }
  if (directory.compressed() && block.bytes() > kMaxBlockBytes) {
    refuse(handle, fmt::format("its compressed {} of {} bytes are decoded as a whole, which is supported up "
                               "to 2 GiB; store it in smaller ones",
                               directory.tiled ? "tiles" : "strips", block.bytes()));
  }
}

}  // namespace

bool TiffDirectory::compressed() const noexcept { return block.compression != COMPRESSION_NONE; }

Rect TiffDirectory::grid_rect(const Rect& rect) const noexcept {
  const std::int64_t top = rect.row / block.extent.rows;
  const std::int64_t left = rect.col / block.extent.cols;
  return {top, left, ceil_div(rect.row_end(), block.extent.rows) - top,
          ceil_div(rect.col_end(), block.extent.cols) - left};
}

TiffDirectory read_directory(const TiffHandle& handle, std::int64_t file_bytes) {
  TIFF* tiff = handle.get();
  TiffDirectory directory;
  directory.big_tiff = TIFFIsBigTIFF(tiff) != 0;
  directory.tiled = TIFFIsTiled(tiff) != 0;
  directory.planar =
      field<std::uint16_t>(handle, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE;
  check_not_volume(handle);
  directory.spec.extent = read_extent(handle);
  directory.spec.channels = field<std::uint16_t>(handle, TIFFTAG_SAMPLESPERPIXEL, 1);
  if (directory.spec.channels == 0) refuse(handle, "an image of 0 channels cannot be; the file is damaged");
  if (directory.spec.channels == 1) directory.planar = false;

  BlockFormat& block = directory.block;
  block.big_endian = TIFFIsBigEndian(tiff) != 0;
  block.fill_order = field<std::uint16_t>(handle, TIFFTAG_FILLORDER, FILLORDER_MSB2LSB);
  block.extent = read_block_extent(handle, directory);
  block.channels = directory.planar ? 1 : directory.spec.channels;
  // Before the type: the codec's name explains more than its unusual sample types.
  read_codec(handle, block);
  block.type = read_type(handle);
  directory.spec.type = block.type.pixels();
  directory.spec.channels *= block.type.parts();
  read_predictor(handle, block);
  read_photometric(handle, directory);
  if (block.compression == COMPRESSION_JPEG) read_jpeg_fields(handle, block);
  check_claims(handle, directory, file_bytes);
  return directory;
}

namespace {

std::optional<BlockCodec> block_codec(const BlockFormat& block) {
  switch (block.compression) {
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE:
      return BlockCodec::zlib;
    case COMPRESSION_ZSTD:
      return BlockCodec::zstd;
    case COMPRESSION_JPEG:
      return are_plain_jpeg_tables(block.jpeg_tables) ? std::optional(BlockCodec::jpeg) : std::nullopt;
    default:
      return std::nullopt;
  }
}

/// Pixels across (0) or down (1) that share a chroma sample: 1, 2 or 4. Invalid values become 0.
std::uint8_t chroma_of(const BlockFormat& block, std::size_t axis) {
  const std::uint16_t pixels =
      block.photometric == PHOTOMETRIC_YCBCR ? block.subsampling[axis] : std::uint16_t{1};
  return static_cast<std::uint8_t>(pixels <= 4 ? pixels : 0);
}

}  // namespace

std::optional<EncodedTiles> coded_tiles(const TiffDirectory& directory) {
  const BlockFormat& block = directory.block;
  const std::optional<BlockCodec> codec = block_codec(block);
  if (!codec || directory.planar || !block.type.is_pixels() || block.has_signed_ab() ||
      block.fill_order != FILLORDER_MSB2LSB)
    return std::nullopt;
  return EncodedTiles{.tile = block.extent,
                      .channels = block.channels,
                      .type = directory.spec.type,
                      .predictor = block.predictor,
                      .big_endian = block.big_endian,
                      .pads = directory.tiled,
                      .codec = *codec,
                      .has_checksum = codec == BlockCodec::zstd,
                      .is_ycbcr = block.photometric == PHOTOMETRIC_YCBCR,
                      .chroma_cols = chroma_of(block, 0),
                      .chroma_rows = chroma_of(block, 1)};
}

std::string codec_name(std::uint16_t compression) {
  switch (compression) {
    case COMPRESSION_NONE:
      return "uncompressed";
    case COMPRESSION_LZW:
      return "LZW";
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE:
      return "deflate";
    case COMPRESSION_ZSTD:
      return "zstd";
    case COMPRESSION_JPEG:
      return "JPEG";
    case COMPRESSION_PACKBITS:
      return "PackBits";
    case 33003:
    case 33004:
    case 33005:
    case COMPRESSION_JP2000:
      return fmt::format("compression {} (JPEG 2000)", compression);
    default:
      break;
  }
  const TIFFCodec* codec = TIFFFindCODEC(compression);
  return codec == nullptr ? fmt::format("compression {}", compression)
                          : fmt::format("compression {} ({})", compression, codec->name);
}

namespace {

/// Text for the level of a file to be written; files do not store it.
std::string level_text(const BlockFormat& block) {
  if (!block.level) return "";
  if (block.compression == COMPRESSION_JPEG) {
    const Chroma chroma{static_cast<std::uint8_t>(block.subsampling[0]),
                        static_cast<std::uint8_t>(block.subsampling[1])};
    return fmt::format(" of quality {}{}", *block.level,
                       block.photometric == PHOTOMETRIC_YCBCR ? " and " + name_of(chroma) : "");
  }
  if (*block.level == deflate::kFast) return " without search";  // also zstd's kFast
  if (*block.level == deflate::kAutomatic) return " (searched where that pays)";
  return fmt::format(" of level {}", *block.level);
}

}  // namespace

std::string describe(const TiffDirectory& directory) {
  const BlockFormat& block = directory.block;
  std::string text = directory.tiled ? fmt::format("tiles of {} x {}", block.extent.cols, block.extent.rows)
                     : directory.grid().rows == 1 ? std::string("one strip")
                                                  : fmt::format("strips of {} rows", block.extent.rows);
  text += ", " + codec_name(block.compression);
  text += level_text(block);
  if (block.predictor == PREDICTOR_HORIZONTAL) text += " with horizontal predictor";
  if (block.predictor == PREDICTOR_FLOATINGPOINT) text += " with floating-point predictor";
  if (has_predictor(block.compression) && block.predictor == PREDICTOR_NONE) text += ", no predictor";
  if (directory.planar) text += ", planar";
  text += directory.big_tiff ? ", BigTIFF" : ", TIFF";
  text += block.big_endian ? ", big-endian" : ", little-endian";
  return block.type.is_pixels() ? text : text + ", " + name_of(block.type);
}

}  // namespace sepconv
