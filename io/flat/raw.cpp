#include "io/flat/raw.hpp"

#include <fmt/format.h>

#include <charconv>

#include "core/error.hpp"

namespace sepconv {
namespace {

/// Parses "640x480" or "640x480x3" (columns first).
std::optional<ImageSpec> parse_shape(std::string_view text) {
  std::int64_t numbers[3] = {0, 0, 1};
  int count = 0;
  while (count < 3) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), numbers[count]);
    if (error != std::errc() || numbers[count] < 1) return std::nullopt;
    ++count;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) break;
    if (text.front() != 'x') return std::nullopt;
    text.remove_prefix(1);
  }
  if (count < 2 || !text.empty()) return std::nullopt;
  return ImageSpec{{numbers[1], numbers[0]}, numbers[2], PixelType::u8};
}

std::string shape_text(const ImageSpec& spec) {
  return fmt::format("{}x{}x{}_{}", spec.extent.cols, spec.extent.rows, spec.channels, name_of(spec.type));
}

}  // namespace

std::optional<ImageSpec> parse_raw_name(const std::filesystem::path& path) {
  if (const std::string ending = ending_of(path); ending != ".raw" && ending != ".bin") return std::nullopt;
  const std::string stem = path.stem().native();
  const std::size_t before_type = stem.rfind('_');
  if (before_type == stem.npos || before_type == 0) return std::nullopt;
  const std::size_t before_shape = stem.rfind('_', before_type - 1);
  if (before_shape == stem.npos) return std::nullopt;
  const std::string_view name = stem;
  std::optional<ImageSpec> spec = parse_shape(name.substr(before_shape + 1, before_type - before_shape - 1));
  const std::optional<PixelType> type = parse_pixel_type(name.substr(before_type + 1));
  if (!spec || !type) return std::nullopt;
  spec->type = *type;
  return spec;
}

bool is_raw(const std::filesystem::path& path, const OpenOptions& options) {
  return options.raw || parse_raw_name(path);
}

std::unique_ptr<Reader> open_raw(InputFile file, const OpenOptions& options) {
  const std::optional<ImageSpec> spec = options.raw ? options.raw : parse_raw_name(file.path());
  if (!spec) {
    throw IoError(
        fmt::format("cannot read {}: a raw file does not say its shape; name it like "
                    "name_COLSxROWSxCHANNELS_TYPE.raw, for example name_640x480x3_u8.raw",
                    file.path().native()));
  }
  FlatImage image{*spec, options.raw_offset, options.raw_big_endian, "raw, uncompressed"};
  check_flat_image(image, file.path());
  const std::int64_t extra_bytes = file.size() - image.offset - spec->bytes();
  if (extra_bytes > 0 && !options.raw) {
    throw IoError(
        fmt::format("cannot read {}: {} bytes are left over after the shape {} in its name; correct the name",
                    file.path().native(), extra_bytes, shape_text(*spec)));
  }
  if (image.offset > 0) image.description += fmt::format(", from byte {} on", image.offset);
  if (extra_bytes > 0) image.description += fmt::format(", {} bytes at the end left out", extra_bytes);
  return make_flat_reader(std::move(file), std::move(image));
}

std::unique_ptr<Writer> create_raw(const std::filesystem::path& path, const ImageSpec& spec,
                                   const CreateOptions& options) {
  const std::optional<ImageSpec> spec_of_name = parse_raw_name(path);
  if (spec_of_name && *spec_of_name != spec) {
    throw InvalidArgument(fmt::format("{} is to hold {}, which contradicts its name; correct the name",
                                      path.native(), shape_text(spec)));
  }
  auto file = std::make_unique<OutputFile>(
      path, OutputFile::Options{options.overwrite, options.durable, options.checkpoint});
  return make_flat_writer(std::move(file), spec, {}, flat_layout("raw, uncompressed", options));
}

}  // namespace sepconv
