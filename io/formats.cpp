#include "io/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>

#include "core/error.hpp"
#include "io/bmp/bmp.hpp"
#include "io/byte_file.hpp"
#include "io/file_errors.hpp"
#include "io/flat/npy.hpp"
#include "io/flat/raw.hpp"
#include "io/jpeg/jpeg.hpp"
#include "io/metadata_text.hpp"
#include "io/png/png.hpp"
#include "io/pnm/pnm.hpp"
#include "io/sibling_mask.hpp"
#include "io/stack/ome_image.hpp"
#include "io/tiff/tiff.hpp"
#include "io/zarr/zarr.hpp"

namespace sepconv {
namespace {

constexpr Format kFormats[] = {
    {.name = "TIFF",
     .endings = ".tif .tiff .btf",
     .reads = "TIFF and BigTIFF; strips and tiles; none, LZW, deflate, zstd, JPEG, PackBits; predictors; "
              "planar or interleaved; both byte orders; pages; integers of 1 to 16, 32 and 64 bits, f16 f32 "
              "f64, complex",
     .writes = "strips or tiles; none, LZW, deflate, zstd, JPEG, PackBits; predictors; planar or "
               "interleaved; BigTIFF when needed; the types that are read, of whole bytes",
     .has_pages = true,
     .has_levels = true,
     .renames_axes = true,
     .has_layout = true,
     .seen = Seen::as_either,
     .tile_unit = 16,
     .begins = is_tiff,
     .open = open_tiff,
     .open_set = open_tiff_set,
     .describe = describe_tiff,
     .create = create_tiff,
     .create_set = create_tiff_set,
     .holds = tiff_can_store,
     .holds_mask = tiff_can_store_mask},
    {.name = "NPY",
     .endings = ".npy",
     .reads = "versions 1.0 to 3.0; integers, bool, f2 f4 f8, complex, of both byte orders; C and Fortran "
              "order; any axes",
     .writes = "version 1.0; the types that are read; C order",
     .has_pages = true,
     .has_axes = true,
     .compression = Compression::none,
     .begins = is_npy,
     .open = open_npy,
     .open_set = open_npy_set,
     .describe = describe_npy,
     .create = create_npy,
     .create_set = create_npy_set,
     .holds = npy_supports},
    {.name = "Zarr",
     .endings = ".zarr",
     .reads = "versions 2 and 3, folders and zip files; integers, bool, f16 f32 f64, complex, of both byte "
              "orders; C and Fortran order; shards; blosc, zstd, gzip, zlib, lz4, crc32c; any axes",
     .writes = "versions 2 and 3, folders; the types that are read; chunks and shards along all axes; zstd, "
               "gzip or zlib, or what the source has; its order",
     .has_pages = true,
     .has_levels = true,
     .has_axes = true,
     .has_layout = true,
     .is_folder = true,
     .matches_path = is_zarr_folder,
     .begins = is_zip,
     .open = open_zarr,
     .open_set = open_zarr_set,
     .describe = describe_zarr,
     .create = create_zarr,
     .create_set = create_zarr_set,
     .set_default_layout = set_default_zarr_layout,
     .holds = zarr_supports_type},
    {.name = "raw",
     .endings = ".raw .bin",
     .reads = "any type, from any offset; shape given or in the name: name_COLSxROWS[xCHANNELS]_TYPE.raw",
     .writes = "any type, nothing but pixels",
     .compression = Compression::none,
     .matches_path = is_raw,
     .open = open_raw,
     .create = create_raw},
    {.name = "PNG",
     .endings = ".png",
     .reads = "all kinds, as u8 or u16 with 1, 3 or 4 channels; held in memory as a whole",
     .writes = "u8 and u16 with 1, 3 or 4 channels; held in memory as a whole",
     .seen = Seen::as_picture,
     .compression = Compression::deflate,
     .begins = is_png,
     .open = open_png,
     .describe = describe_png,
     .create = create_png},
    {.name = "JPEG",
     .endings = ".jpg .jpeg",
     .reads = "8 bits, grey, colour and CMYK (to RGB); held in memory as a whole",
     .writes = "u8 with 1 or 3 channels; held in memory as a whole",
     .seen = Seen::as_picture,
     .is_u8_only = true,
     .compression = Compression::jpeg,
     .begins = is_jpeg,
     .open = open_jpeg,
     .create = create_jpeg},
    {.name = "PNM",
     .endings = ".ppm .pgm",
     .reads = "PBM, PGM and PPM, text and binary, scaled to u8 or u16; held in memory as a whole",
     .writes = "u8 and u16; PGM 1 channel, PPM 3; held in memory as a whole",
     .seen = Seen::as_picture,
     .compression = Compression::none,
     .begins = is_pnm,
     .open = open_pnm,
     .create = create_pnm},
    {.name = "BMP",
     .endings = ".bmp",
     .reads = "1 to 32 bits, palettes, masks, run lengths; of Windows and OS/2; held in memory as a whole",
     .writes = "u8 with 1 or 3 channels; held in memory as a whole",
     .seen = Seen::as_picture,
     .is_u8_only = true,
     .compression = Compression::none,
     .begins = is_bmp,
     .open = open_bmp,
     .create = create_bmp},
};

/// Joins the field `text` of the formats that satisfy `predicate` by commas.
std::string join_fields(Formats formats, std::string_view Format::*text, bool (*predicate)(const Format&)) {
  std::string list;
  for (const Format& format : formats) {
    if (predicate(format)) list += fmt::format("{}{}", list.empty() ? "" : ", ", format.*text);
  }
  return list;
}

}  // namespace

Formats built_in_formats() noexcept { return kFormats; }

std::string ending_of(const std::filesystem::path& path) {
  std::string ending = without_slash(path).extension().native();
  std::ranges::transform(ending, ending.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return ending;
}

void check_options(const OpenOptions& options, const Format& format, const std::filesystem::path& path,
                   Formats formats) {
  if (!options.axes.empty() && !format.has_axes && !format.renames_axes)
    throw InvalidArgument(fmt::format(
        "OpenOptions::axes {} is for {}, and {} holds one image of rows and columns; leave it out",
        options.axes,
        join_fields(formats, &Format::name, [](const Format& f) { return f.has_axes || f.renames_axes; }),
        path.native()));
  if (options.missing_chunks && !format.is_folder)
    throw InvalidArgument(
        fmt::format("OpenOptions::missing_chunks is for Zarr, and {} is none; leave it out", path.native()));
  if (options.level != 0 && !format.has_levels)
    throw IoError(fmt::format(
        "cannot read level {} of {}: only {} files have levels; ask for level 0", options.level,
        path.native(), join_fields(formats, &Format::name, [](const Format& f) { return f.has_levels; })));
  if (!options.select.empty() && format.open_set == nullptr)
    throw IoError(fmt::format("cannot read page {} of {}: {} files hold one image; ask for page 0",
                              options.select, path.native(), format.name));
  if (options.page.value_or(0) != 0 && !format.has_pages)
    throw IoError(fmt::format(
        "cannot read page {} of {}: only {} files have pages; ask for page 0", *options.page, path.native(),
        join_fields(formats, &Format::name, [](const Format& f) { return f.has_pages; })));
}

std::string endings_of(Formats formats, bool (*predicate)(const Format&)) {
  return join_fields(formats, &Format::endings, predicate);
}

const Format* format_of_name(const std::filesystem::path& path, Formats formats) {
  const std::string ending = " " + ending_of(path) + " ";
  const auto found = std::ranges::find_if(formats, [&](const Format& format) {
    return fmt::format(" {} ", format.endings).find(ending) != std::string::npos;
  });
  return found == formats.end() ? nullptr : &*found;
}

namespace {

/// Detects the format by the first bytes, else by the name; null if unknown.
const Format* format_by_bytes(const InputFile& file, Formats formats) {
  std::array<std::byte, 16> bytes{};
  const auto head = std::span(bytes).first(static_cast<std::size_t>(file.read_some_at(0, bytes)));
  for (const Format& format : formats) {
    if (format.begins != nullptr && format.begins(head)) return &format;
  }
  const Format* const format = format_of_name(file.path(), formats);
  return format != nullptr && format->open != nullptr && format->begins == nullptr ? format : nullptr;
}

}  // namespace

const Format& format_of_file(const InputFile& file, const OpenOptions& options, Formats formats) {
  for (const Format& format : formats) {
    if (format.is_folder == file.is_folder() && format.matches_path != nullptr &&
        format.matches_path(file.path(), options))
      return format;
  }
  if (file.is_folder())
    throw IoError(
        fmt::format("cannot read {}: it is a folder, and none of {}; give the name of a file",
                    file.path().native(),
                    join_fields(formats, &Format::name, [](const Format& f) { return f.is_folder; })),
        EISDIR);
  if (const Format* const known = format_by_bytes(file, formats); known != nullptr) {
    if (known->is_folder || file.inner().empty()) return *known;
    throw_read_error(file.path() / file.inner(), ENOTDIR);
  }
  throw IoError(fmt::format(
      "cannot read {}: its first bytes are those of no format that is read ({}); convert it, or name it like "
      "name_COLSxROWS_TYPE.raw if it holds nothing but pixels",
      file.path().native(),
      join_fields(formats, &Format::name, [](const Format& f) { return f.begins != nullptr; })));
}

bool begins_with(std::span<const std::byte> head, std::string_view magic) noexcept {
  return head.size() >= magic.size() && std::memcmp(head.data(), magic.data(), magic.size()) == 0;
}

std::unique_ptr<Reader> open_reader(const std::filesystem::path& path, const OpenOptions& options,
                                    Formats formats) {
  InputFile file(path, InputFile::Folders::taken);
  const Format& format = format_of_file(file, options, formats);
  check_options(options, format, path, formats);
  if (options.nodata_of_all || !sibling_mask(path).empty())
    return only_raster(*open_set(path, options, formats), path);
  return format.open(std::move(file), options);
}

std::unique_ptr<Writer> create_writer(const std::filesystem::path& path, const ImageSpec& spec,
                                      const CreateOptions& options, Formats formats) {
  const Format* const format = format_of_name(path, formats);
  if (format != nullptr && format->create != nullptr)
    return format->create(path, spec, adapt_stored_type(path, *format, options, formats));
  const std::string ending = ending_of(path);
  throw InvalidArgument(
      fmt::format("cannot write {}: {} names no format that is written; choose one of {}", path.native(),
                  ending.empty() ? "a name without an ending" : "the ending " + ending,
                  endings_of(formats, [](const Format& f) { return f.create != nullptr; })));
}

CreateOptions adapt_stored_type(const std::filesystem::path& path, const Format& format,
                                CreateOptions options, Formats formats) {
  if (!format.has_layout) options.metadata.resolution = resolution_of(options.metadata);
  if (!options.stored || options.stored->is_pixels() || (format.holds && format.holds(*options.stored)))
    return options;
  const SampleType stored = *options.stored;
  const std::string pixels(name_of(stored.pixels()));
  if (is_floating(stored.pixels())) {
    std::string alternatives;
    for (const Format& other : formats) {
      if (other.holds != nullptr && other.holds(stored))
        alternatives += fmt::format("{}{}", alternatives.empty() ? "" : " or ",
                                    other.endings.substr(0, other.endings.find(' ')));
    }
    throw InvalidArgument(fmt::format(
        "cannot write {}: the result is {}, as its source is, and {} does not hold that; choose {}, or end "
        "the chain with a cast",
        path.native(), name_of(stored), format.name, alternatives));
  }
  options.stored.reset();
  options.warnings.push_back(fmt::format("its {} are written as {}: {} does not hold {}", name_of(stored),
                                         pixels, format.name, name_of(stored)));
  return options;
}

FileInfo file_info(const std::filesystem::path& path, const OpenOptions& options, Formats formats) {
  InputFile file(path, InputFile::Folders::taken);
  const Format& format = format_of_file(file, options, formats);
  check_options(options, format, path, formats);
  const std::int64_t file_bytes = file.size();
  FileInfo info = format.describe != nullptr
                      ? format.describe(std::move(file), options)
                      : describe_image(*format.open(std::move(file), options), file_bytes);
  if (const std::string mask = sibling_mask(path); info.pages.size() == 1 && !mask.empty()) {
    const auto reader = open_set(path, options, formats)->raster(0);
    if (reader->layout().has_mask)
      info.pages.front().facts.emplace_back("mask", mask + ", which hides pixels of this image");
    info.pages.front().layout.warnings = reader->layout().warnings;
  }
  return info;
}

FileInfo describe_image(const Reader& reader, std::int64_t file_bytes) {
  const std::string& description = reader.layout().description;
  FileInfo info;
  info.format = description.substr(0, description.find(','));
  info.file_bytes = file_bytes;
  info.pages.push_back(
      {reader.spec(), reader.layout(), {{"layout", description}}, reader.metadata(), reader.stored_bytes()});
  add_metadata(info.pages.back().facts, reader.metadata());
  return info;
}

}  // namespace sepconv
