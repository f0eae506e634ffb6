#include "io/tiff/tiff_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "core/error.hpp"
#include "io/gdal_tags.hpp"
#include "io/tiff/tiff_tags.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kStripBytes = 1 << 20;

std::uint16_t tag_of(Compression compression) {
  switch (compression) {
    case Compression::none:
      return COMPRESSION_NONE;
    case Compression::lzw:
      return COMPRESSION_LZW;
    case Compression::deflate:
      return COMPRESSION_ADOBE_DEFLATE;
    case Compression::zstd:
      return COMPRESSION_ZSTD;
    case Compression::jpeg:
      return COMPRESSION_JPEG;
    case Compression::packbits:
      return COMPRESSION_PACKBITS;
  }
  return COMPRESSION_NONE;
}

// The source's photometric interpretation if it still fits; otherwise RGB for three u8 or u16 channels, grey
// for any others.
Photometric choose_photometric(const TiffDirectory& directory, const Metadata& metadata) {
  const SampleType type = directory.block.type;
  if (metadata.photometric && metadata.photometric != Photometric::other &&
      colour_channels(*metadata.photometric) <= directory.channels())
    return *metadata.photometric;
  return directory.channels() == 3 && (type == PixelType::u8 || type == PixelType::u16)
             ? Photometric::rgb
             : Photometric::min_is_black;
}

std::uint16_t tag_of(Photometric photometric) {
  switch (photometric) {
    case Photometric::min_is_white:
      return PHOTOMETRIC_MINISWHITE;
    case Photometric::rgb:
      return PHOTOMETRIC_RGB;
    case Photometric::cmyk:
      return PHOTOMETRIC_SEPARATED;
    case Photometric::cielab:
      return PHOTOMETRIC_CIELAB;
    case Photometric::icc_lab:
      return PHOTOMETRIC_ICCLAB;
    case Photometric::itu_lab:
      return PHOTOMETRIC_ITULAB;
    default:
      return PHOTOMETRIC_MINISBLACK;
  }
}

/// Whether the pixels have a colour table: one channel of 8 or 16 bits, apart from extra samples.
bool can_store_palette(const TiffDirectory& directory, const Metadata& metadata) {
  const SampleType type = directory.block.type;
  return metadata.colours && directory.channels() == std::ssize(metadata.extra_samples) + 1 &&
         (type == PixelType::u8 || type == PixelType::u16) &&
         metadata.colours->size() <= std::size_t{1} << type.bits;
}

Extent choose_block(const ImageSpec& spec, const FileLayout& layout, std::int64_t row_bytes) {
  if (layout.tiled) return layout.tile;
  std::int64_t rows =
      layout.rows_per_strip > 0 ? layout.rows_per_strip : std::max<std::int64_t>(1, kStripBytes / row_bytes);
  if (layout.compression == Compression::jpeg)
    rows = round_up(rows, 16);  // whole 8 x 8 blocks of subsampled chroma
  return {std::min(rows, spec.extent.rows), spec.extent.cols};
}

/// Whether a JPEG needs no colour table: readers show a plain grey ramp without one.
bool is_plain_jpeg(const BlockFormat& block, const Metadata& metadata) {
  return block.compression == COMPRESSION_JPEG && is_plain(*metadata.colours);
}

void check_spec(const std::string& name, const ImageSpec& spec, const FileLayout& layout) {
  const auto refuse = [&](std::string_view message) {
    throw InvalidArgument(fmt::format("{}: {}", name, message));
  };
  if (spec.extent.empty() || spec.extent.rows > kMaxSide || spec.extent.cols > kMaxSide) {
    refuse(fmt::format("a TIFF cannot hold {} x {} pixels; both sides must be from 1 to 2^31 - 1",
                       spec.extent.cols, spec.extent.rows));
  }
  if (spec.channels < 1 || spec.channels > 65535)
    refuse(fmt::format("a TIFF cannot hold {} channels; it takes 1 to 65535", spec.channels));
  const Extent tile = layout.tile;
  if (layout.tiled && (tile.empty() || tile.rows % 16 != 0 || tile.cols % 16 != 0 ||
                       std::max(tile.rows, tile.cols) > (1 << 20))) {
    refuse(fmt::format("tiles of {} x {} cannot be; both sides must be multiples of 16, from 16 to 2^20",
                       tile.cols, tile.rows));
  }
  const LevelRange levels = levels_of(layout.compression);
  if (layout.level != 0 && (layout.level < levels.least || layout.level > levels.greatest)) {
    refuse(levels.greatest == 0 ? std::string("this compression has no levels; leave the level out")
                                : fmt::format("level {} cannot be; this compression takes {} to {}",
                                              layout.level, levels.least, levels.greatest));
  }
  if (TIFFIsCODECConfigured(tag_of(layout.compression)) == 0)
    refuse("this machine's libtiff was built without that compression; choose another");
}

void check_block(const std::string& name, const TiffDirectory& directory) {
  const auto refuse = [&](std::string_view message) {
    throw InvalidArgument(fmt::format("{}: {}", name, message));
  };
  const BlockFormat& block = directory.block;
  if (block.compression == COMPRESSION_JPEG) {
    if (block.photometric == PHOTOMETRIC_PALETTE)
      refuse("JPEG changes pixels, which are looked up in a colour table; choose deflate");
    if (block.type != PixelType::u8)
      refuse(fmt::format("JPEG takes u8, not {}; choose deflate, or cast to u8", name_of(block.type)));
    if (block.channels != 1 && block.channels != 3) {
      refuse(fmt::format("JPEG takes 1 or 3 channels, not {}; choose deflate, or separate planes",
                         block.channels));
    }
    if (std::max(block.extent.rows, block.extent.cols) > 65500)
      refuse("JPEG takes sides of at most 65500 pixels; choose tiles");
  }
  if (directory.compressed() && block.bytes() > kMaxBlockBytes)
    refuse("a compressed tile or strip must stay below 2 GiB; choose smaller ones");
  if (directory.grid().area() >= std::numeric_limits<std::uint32_t>::max() / directory.planes())
    refuse("that makes too many tiles or strips; choose larger ones");
}

// Whether the file may need offsets beyond 32 bits, for any compression ratio.
bool needs_big_tiff(const TiffDirectory& directory, const CreateOptions& options, std::int64_t pages) {
  const BlockFormat& block = directory.block;
  const std::int64_t block_bytes = directory.compressed() ? block.max_encoded_bytes() : block.bytes();
  constexpr std::int64_t kDirectoryBytes = 64 << 10;
  // Levels take a third of the image's size, plus partial blocks.
  const std::int64_t eighths = options.layout.levels == Levels::none ? 8 : 5;
  const std::int64_t limit = ((std::int64_t{1} << 32) - kDirectoryBytes) / pages * eighths / 8;
  const std::int64_t mask = directory.has_mask() ? directory.grid().area() * block.extent.area() : 0;
  const std::int64_t overhead = directory_bytes(directory, options.metadata) + mask;
  return overhead > limit || block_bytes > (limit - overhead) / directory.block_count();
}

}  // namespace

std::int64_t directory_bytes(const TiffDirectory& directory, const Metadata& metadata) {
  constexpr std::int64_t kEntriesBytes = 4096;
  return kEntriesBytes + 16 * directory.block_count() + memory_bytes(metadata) + 8 * directory.spec.channels;
}

TiffDirectory plan_directory(const std::filesystem::path& path, const ImageSpec& written,
                             const CreateOptions& options, std::int64_t pages) {
  const FileLayout& layout = options.layout;
  TiffDirectory directory;
  directory.alpha = options.alpha;
  directory.mask_of =
      alpha_channel(options.metadata, written.channels, options.stored).value_or(written.channels - 1);
  ImageSpec& spec = directory.spec = written;
  if (directory.drops_alpha()) --spec.channels;
  check_spec(path.native(), spec, layout);
  directory.tiled = layout.tiled;
  BlockFormat& block = directory.block;
  block.type = options.stored.value_or(SampleType(spec.type));
  directory.planar = layout.planar && directory.channels() > 1;
  block.channels = directory.planar ? 1 : directory.channels();
  block.compression = tag_of(layout.compression);
  if (const LevelRange levels = levels_of(layout.compression); levels.greatest > 0)
    block.level = layout.level != 0 ? layout.level : levels.usual;
  block.big_endian = std::endian::native == std::endian::big;
  block.extent = choose_block(spec, layout, block.type.bytes_of(spec.extent.cols * block.channels));
  if (layout.predictor && has_predictor(block.compression) && !block.type.is_complex()) {
    block.predictor =
        block.type.kind == SampleType::Kind::floating ? PREDICTOR_FLOATINGPOINT : PREDICTOR_HORIZONTAL;
  }
  const Photometric photometric = choose_photometric(directory, options.metadata);
  const bool is_ycbcr =
      layout.compression == Compression::jpeg && photometric == Photometric::rgb && block.channels == 3;
  // At most as coarse as requested, and as TIFF allows: tiles and strips consist of units of at most 16
  // pixels.
  const std::uint16_t chroma_cols = std::min<std::uint16_t>(layout.chroma.cols, 2);
  block.subsampling = {chroma_cols, std::min<std::uint16_t>(layout.chroma.rows, chroma_cols)};
  block.photometric = is_ycbcr ? static_cast<std::uint16_t>(PHOTOMETRIC_YCBCR) : tag_of(photometric);
  if (can_store_palette(directory, options.metadata) && !is_plain_jpeg(block, options.metadata))
    block.photometric = PHOTOMETRIC_PALETTE;
  check_block(path.native(), directory);
  const bool needs_big = needs_big_tiff(directory, options, pages);
  directory.big_tiff = options.big_tiff.value_or(needs_big);
  if (!directory.big_tiff && !directory.compressed() && needs_big) {
    throw InvalidArgument(
        fmt::format("{}: {} bytes of pixels do not fit into a classic TIFF; make it a BigTIFF", path.native(),
                    pages * directory.stored_bytes()));
  }
  return directory;
}

CreateOptions with_level_position(CreateOptions options, std::int64_t images) {
  Levels& levels = options.layout.levels;
  const std::string& described = options.metadata.description;
  if (levels == Levels::behind && (is_ome(described) || (images > 1 && is_stack_description(described))))
    levels = Levels::inside;
  return options;
}

std::vector<TiffDirectory> plan_levels(const std::filesystem::path& path, const TiffDirectory& image,
                                       const CreateOptions& options) {
  CreateOptions reduced_options = level_options(options);
  reduced_options.big_tiff = image.big_tiff;
  std::vector<TiffDirectory> levels;
  for (const Extent extent : level_extents(image.spec.extent, options.layout)) {
    levels.push_back(
        plan_directory(path, {extent, image.written().channels, image.spec.type}, reduced_options));
    levels.back().reduced = true;
  }
  return levels;
}

TiffDirectory plan_mask(const TiffDirectory& image) {
  TiffDirectory mask;
  mask.spec = {image.spec.extent, 1, PixelType::u8};
  mask.big_tiff = image.big_tiff;
  mask.tiled = image.tiled;
  mask.reduced = image.reduced;
  mask.is_mask = true;
  mask.block.extent = image.block.extent;
  mask.block.big_endian = image.block.big_endian;
  mask.block.photometric = PHOTOMETRIC_MASK;
  if (!image.compressed()) return mask;
  mask.block.compression = COMPRESSION_ADOBE_DEFLATE;
  mask.block.level = levels_of(Compression::deflate).usual;
  return mask;
}

CreateOptions level_options(const CreateOptions& options) {
  CreateOptions reduced_options = options;
  reduced_options.layout.levels = Levels::none;
  reduced_options.layout.rows_per_strip = 0;
  reduced_options.warnings.clear();
  reduced_options.layout_warnings.clear();
  reduced_options.metadata = {};
  reduced_options.metadata.photometric = options.metadata.photometric;
  reduced_options.metadata.extra_samples = options.metadata.extra_samples;
  reduced_options.metadata.colours = options.metadata.colours;
  reduced_options.metadata.mask_channel = options.metadata.mask_channel;
  for (const RawTag& raw : options.metadata.geo_tags) {
    if (raw.tag == kGdalNodata) reduced_options.metadata.geo_tags.push_back(raw);
  }
  return reduced_options;
}

void write_layout(const TiffHandle& handle, const TiffDirectory& directory, const Metadata& metadata) {
  TIFF* tiff = handle.get();
  const BlockFormat& block = directory.block;
  const auto set = [&](std::uint32_t tag, auto... value) {
    handle.check(TIFFSetField(tiff, tag, value...) != 0, fmt::format("cannot set tag {}", tag));
  };
  const int kind = (directory.reduced ? FILETYPE_REDUCEDIMAGE : 0) | (directory.is_mask ? FILETYPE_MASK : 0);
  if (kind != 0) set(TIFFTAG_SUBFILETYPE, kind);
  set(TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(directory.spec.extent.cols));
  set(TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(directory.spec.extent.rows));
  set(TIFFTAG_SAMPLESPERPIXEL, static_cast<int>(directory.channels()));
  set(TIFFTAG_BITSPERSAMPLE, block.type.bits);
  set(TIFFTAG_SAMPLEFORMAT, static_cast<int>(sample_format(block.type)));
  set(TIFFTAG_PLANARCONFIG, directory.planar ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
  set(TIFFTAG_COMPRESSION, static_cast<int>(block.compression));
  if (block.predictor != PREDICTOR_NONE) set(TIFFTAG_PREDICTOR, static_cast<int>(block.predictor));
  if (directory.tiled) {
    set(TIFFTAG_TILEWIDTH, static_cast<std::uint32_t>(block.extent.cols));
    set(TIFFTAG_TILELENGTH, static_cast<std::uint32_t>(block.extent.rows));
  } else {
    set(TIFFTAG_ROWSPERSTRIP, static_cast<std::uint32_t>(block.extent.rows));
  }
  set(TIFFTAG_PHOTOMETRIC, static_cast<int>(block.photometric));
  if (block.photometric == PHOTOMETRIC_YCBCR) {
    const float range[] = {0, 255, 128, 255, 128, 255};
    set(TIFFTAG_YCBCRSUBSAMPLING, static_cast<int>(block.subsampling[0]),
        static_cast<int>(block.subsampling[1]));
    set(TIFFTAG_REFERENCEBLACKWHITE, static_cast<const float*>(range));
  }
  const std::int64_t extra = directory.channels() - colour_channels(choose_photometric(directory, metadata));
  if (extra > 0) {
    std::vector<std::uint16_t> meaning(static_cast<std::size_t>(extra), EXTRASAMPLE_UNSPECIFIED);
    if (std::ssize(metadata.extra_samples) == extra + (directory.drops_alpha() ? 1 : 0))
      std::copy_n(metadata.extra_samples.begin(), extra, meaning.begin());
    set(TIFFTAG_EXTRASAMPLES, static_cast<int>(extra), static_cast<const std::uint16_t*>(meaning.data()));
  }
}

}  // namespace sepconv
