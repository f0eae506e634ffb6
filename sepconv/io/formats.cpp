#include "sepconv/io/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "sepconv/core/error.hpp"
#include "sepconv/io/byte_file.hpp"
#include "sepconv/io/flat/npy.hpp"
#include "sepconv/io/flat/raw.hpp"
#include "sepconv/io/metadata_facts.hpp"
#include "sepconv/io/small_image.hpp"
#include "sepconv/io/tiff/tiff.hpp"

namespace sepconv {
namespace {

constexpr std::string_view kCompressionNames[] = {"none", "lzw", "deflate", "zstd", "jpeg", "packbits"};

enum class Format { tiff, npy, raw, small };

struct Detected {
  Format format;
  SmallFormat small = SmallFormat::png;
};

/// By what the caller says, then by what is in the file, then by its name: a raw file may begin with any
/// bytes, but one whose name says its shape is meant as such.
Detected detect(const InputFile& file, const OpenOptions& options) {
  if (options.raw || raw_spec_of_name(file.path())) return {Format::raw};
  std::array<std::byte, 16> bytes{};
  const auto head = std::span(bytes).first(static_cast<std::size_t>(file.read_some_at(0, bytes)));
  if (head.size() >= 4 && is_tiff(head)) return {Format::tiff};
  if (is_npy(head)) return {Format::npy};
  if (const std::optional<SmallFormat> small = sniff_small_format(head)) return {Format::small, *small};
  const std::string ending = file.path().extension().native();
  if (ending == ".raw" || ending == ".bin") return {Format::raw};
  throw IoError(fmt::format(
      "cannot read {}: its first bytes are those of no format that is read (TIFF, NPY, PNG, JPEG, PPM, PGM, "
      "BMP); convert it, or name it like name_COLSxROWS_TYPE.raw if it holds nothing but pixels",
      file.path().native()));
}

void check_axes(const OpenOptions& options, Format format, const std::filesystem::path& path) {
  if (options.axes.empty() || format == Format::npy) return;
  throw InvalidArgument(fmt::format(
      "OpenOptions::axes {} is for NPY arrays, and {} says itself what its axes are; leave it out",
      options.axes, path.native()));
}

void check_page(const OpenOptions& options, const std::filesystem::path& path) {
  if (options.page.value_or(0) == 0) return;
  throw IoError(fmt::format("cannot read page {} of {}: only TIFF files have pages; ask for page 0",
                            *options.page, path.native()));
}

std::string lower_ending(const std::filesystem::path& path) {
  std::string ending = path.extension().native();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char letter) { return std::tolower(letter); });
  return ending;
}

std::string format_name(const Detected& detected, const SourceLayout& layout) {
  switch (detected.format) {
    case Format::tiff:
      return "TIFF";
    case Format::npy:
      return layout.description.substr(0, layout.description.find(','));
    case Format::raw:
      return "raw";
    case Format::small:
      break;
  }
  return std::string(name_of(detected.small));
}

}  // namespace

std::string_view name_of(Compression compression) noexcept {
  return kCompressionNames[static_cast<std::size_t>(compression)];
}

std::optional<Compression> parse_compression(std::string_view name) noexcept {
  const auto* const found = std::find(std::begin(kCompressionNames), std::end(kCompressionNames), name);
  if (found == std::end(kCompressionNames)) return std::nullopt;
  return static_cast<Compression>(found - std::begin(kCompressionNames));
}

std::unique_ptr<Reader> open_reader(const std::filesystem::path& path, const OpenOptions& options) {
  InputFile file(path);
  const Detected detected = detect(file, options);
  check_axes(options, detected.format, path);
  if (detected.format == Format::tiff) return open_tiff(path, options.page);
  check_page(options, path);
  switch (detected.format) {
    case Format::npy:
      return open_npy(std::move(file), options.axes);
    case Format::raw:
      return open_raw(std::move(file), options);
    default:
      return open_image(std::move(file), detected.small, options.page);
  }
}

std::optional<FileLayout> file_layout(const Reader& reader) { return tiff_layout(reader); }

std::unique_ptr<Writer> create_writer(const std::filesystem::path& path, const ImageSpec& spec,
                                      const CreateOptions& options) {
  const std::string ending = lower_ending(path);
  if (ending == ".tif" || ending == ".tiff" || ending == ".btf") return create_tiff(path, spec, options);
  if (ending == ".npy") return create_npy(path, spec, options);
  if (ending == ".raw" || ending == ".bin") return create_raw(path, spec, options);
  for (const std::string_view small : {".png", ".jpg", ".jpeg", ".ppm", ".pgm", ".bmp"}) {
    if (ending == small) return create_image(path, ending, spec, options);
  }
  throw InvalidArgument(fmt::format(
      "cannot write {}: {} names no format that is written; choose .tif, .npy, .raw, .png, .jpg, .ppm, "
      ".pgm or .bmp",
      path.native(), ending.empty() ? "a name without an ending" : "the ending " + ending));
}

FileInfo file_info(const std::filesystem::path& path, const OpenOptions& options) {
  const InputFile file(path);
  const Detected detected = detect(file, options);
  if (detected.format == Format::tiff) return tiff_info(path);
  OpenOptions first = options;
  if (!first.page) first.page = 0;
  const std::unique_ptr<Reader> reader = open_reader(path, first);
  FileInfo info;
  if (detected.format == Format::small) info.images = image_count(file, detected.small);
  info.format = format_name(detected, reader->layout());
  info.file_bytes = file.size();
  info.pages.push_back({reader->spec(), reader->layout(), {{"layout", reader->layout().description}}});
  add_metadata(info.pages.back().facts, reader->metadata());
  for (const std::string& warning : reader->layout().warnings)
    info.pages.back().facts.emplace_back("warning", warning);
  return info;
}

const std::vector<FormatEntry>& format_table() {
  static const std::vector<FormatEntry> table = {
      {"TIFF, BigTIFF", ".tif .tiff .btf",
       "strips and tiles; none, LZW, deflate, zstd, JPEG, PackBits; predictors; planar or interleaved; both "
       "byte orders; pages",
       "strips or tiles; none, LZW, deflate, zstd, JPEG, PackBits; predictors; planar or interleaved; "
       "BigTIFF when needed"},
      {"NPY", ".npy", "versions 1.0 to 3.0; u1 u2 i2 f4 f8 of both byte orders; C order; 1 to 3 axes",
       "version 1.0; (rows, cols) or (rows, cols, channels)"},
      {"raw", ".raw .bin",
       "any type, from any offset; shape given or in the name: name_COLSxROWS[xCHANNELS]_TYPE.raw",
       "any type, nothing but pixels"},
      {"PNG", ".png", "all kinds, as u8 or u16 with 1, 3 or 4 channels; held in memory as a whole",
       "u8 and u16 with 1, 3 or 4 channels; held in memory as a whole"},
      {"JPEG", ".jpg .jpeg", "8 bits, grey, colour and CMYK (to RGB); held in memory as a whole",
       "u8 with 1 or 3 channels; held in memory as a whole"},
      {"PNM", ".ppm .pgm",
       "PBM, PGM and PPM, text and binary, scaled to u8 or u16; held in memory as a whole",
       "u8 and u16; PGM 1 channel, PPM 3; held in memory as a whole"},
      {"BMP", ".bmp",
       "1 to 32 bits, palettes, masks, run lengths; of Windows and OS/2; held in memory as a whole",
       "u8 with 1 or 3 channels; held in memory as a whole"},
  };
  return table;
}

}  // namespace sepconv
