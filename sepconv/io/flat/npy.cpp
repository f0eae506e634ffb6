#include "sepconv/io/flat/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "sepconv/core/error.hpp"
#include "sepconv/io/flat/npy_dict.hpp"

namespace sepconv {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
/// NumPy itself refuses headers longer than 10,000 bytes; those of plain arrays have 118.
constexpr std::int64_t kMaxHeaderBytes = 65536;

struct Dtype {
  std::string_view code;  ///< without the byte order
  PixelType type;
};
constexpr Dtype kDtypes[] = {{"u1", PixelType::u8},
                             {"u2", PixelType::u16},
                             {"i2", PixelType::i16},
                             {"f4", PixelType::f32},
                             {"f8", PixelType::f64}};

[[noreturn]] void throw_npy_error(const std::filesystem::path& path, std::string_view fact) {
  throw IoError(fmt::format("cannot read {}: {}", path.native(), fact));
}

struct Prelude {
  int major = 0, minor = 0;
  std::int64_t dict_offset = 0;
  std::int64_t dict_bytes = 0;
};

/// Magic, version and the length of the dictionary: two bytes in version 1, four from version 2 on;
/// little-endian.
Prelude read_prelude(const InputFile& file) {
  std::array<std::byte, 12> head{};
  file.read_at(0, std::span(head).first(10));
  if (!is_npy(head)) throw_npy_error(file.path(), "it is no NPY file; check its name");
  const auto byte_at = [&](std::size_t at) { return std::to_integer<std::int64_t>(head[at]); };
  Prelude prelude{static_cast<int>(byte_at(6)), static_cast<int>(byte_at(7)), 10,
                  byte_at(8) | byte_at(9) << 8};
  if (prelude.major < 1 || prelude.major > 3 || prelude.minor != 0) {
    throw_npy_error(
        file.path(),
        fmt::format("NPY version {}.{} is not known, only 1.0, 2.0 and 3.0 are; save it anew with numpy.save",
                    prelude.major, prelude.minor));
  }
  if (prelude.major > 1) {
    file.read_at(0, head);
    prelude.dict_offset = 12;
    prelude.dict_bytes |= byte_at(10) << 16 | byte_at(11) << 24;
  }
  if (prelude.dict_bytes > kMaxHeaderBytes) {
    throw_npy_error(
        file.path(),
        fmt::format(
            "its NPY header claims {} bytes, more than any image's; the file is damaged, save it anew",
            prelude.dict_bytes));
  }
  return prelude;
}

void check_axes(std::span<const std::int64_t> shape, std::string_view named,
                const std::filesystem::path& path) {
  const std::string text = fmt::format("({})", fmt::join(shape, ", "));
  if (named.empty()) {
    if (shape.size() < 3 || shape[2] <= kMostGuessedChannels) return;
    throw_npy_error(path, fmt::format("an array of shape {} may be one image of {} channels or a stack of {} "
                                      "images; OpenOptions::axes yxc says the former, "
                                      "and of a stack store each image as an array of its own",
                                      text, shape[2], shape[0]));
  }
  if (named != "yx" && named != "yxc")
    throw InvalidArgument(fmt::format(
        "OpenOptions::axes {} is not known; an array is read as yx or yxc (rows, columns, channels)", named));
  if (shape.size() != named.size())
    throw_npy_error(path, fmt::format("an array of shape {} has not the axes {}", text, named));
}

void parse_shape(std::span<const std::int64_t> shape, FlatImage& image, const std::filesystem::path& path) {
  const std::size_t axes = shape.size();
  if (axes < 1 || axes > 3) {
    throw_npy_error(
        path, fmt::format(
                  "an array of shape ({}) is no image; reshape it to (rows, cols) or (rows, cols, channels)",
                  fmt::join(shape, ", ")));
  }
  image.spec.extent = axes == 1 ? Extent{1, shape[0]} : Extent{shape[0], shape[1]};
  image.spec.channels = axes == 3 ? shape[2] : 1;
}

}  // namespace

bool is_npy(std::span<const std::byte> head) noexcept { return begins_with(head, kMagic); }

std::optional<NpyPixels> npy_pixels(std::string_view descr) {
  const char order = descr.empty() ? '?' : descr.front();
  const bool has_order = order == '<' || order == '>' || order == '|' || order == '=';
  const std::string_view code = has_order ? descr.substr(1) : descr;
  for (const Dtype& dtype : kDtypes) {
    // '|' means that the order does not matter, which holds for one byte only.
    if (dtype.code != code || (order == '|' && size_of(dtype.type) > 1)) continue;
    const bool native_big = std::endian::native == std::endian::big;
    return NpyPixels{dtype.type, order == '>' || (native_big && order != '<')};
  }
  return std::nullopt;
}

std::string npy_descr(PixelType type) {
  const auto* const dtype =
      std::find_if(std::begin(kDtypes), std::end(kDtypes), [=](const Dtype& d) { return d.type == type; });
  const char order = size_of(type) == 1 ? '|' : std::endian::native == std::endian::big ? '>' : '<';
  return fmt::format("{}{}", order, dtype->code);
}

std::vector<std::byte> npy_header(std::string_view descr, std::span<const std::int64_t> shape) {
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr,
                                 fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  const std::size_t prelude_bytes = kMagic.size() + 4;
  const auto total =
      static_cast<std::size_t>(round_up(static_cast<std::int64_t>(prelude_bytes + dict.size() + 1), 64));
  dict.resize(total - prelude_bytes - 1, ' ');
  dict += '\n';
  std::string header(kMagic);
  header += {'\1', '\0', static_cast<char>(dict.size() & 0xFF), static_cast<char>(dict.size() >> 8)};
  header += dict;
  const auto bytes = std::as_bytes(std::span(header));
  return {bytes.begin(), bytes.end()};
}

NpyArray parse_npy_array(const InputFile& file) {
  const Prelude prelude = read_prelude(file);
  std::string text(static_cast<std::size_t>(prelude.dict_bytes), '\0');
  file.read_at(prelude.dict_offset, std::as_writable_bytes(std::span(text)));
  const std::optional<NpyDict> dict = parse_npy_dict(text);
  if (!dict)
    throw_npy_error(
        file.path(),
        "its NPY header is damaged or that of a structured array; save a plain array with numpy.save");
  if (dict->fortran_order) {
    throw_npy_error(file.path(),
                    "its array lies in Fortran order; save numpy.ascontiguousarray(array) instead");
  }
  return {dict->descr, dict->shape, prelude.dict_offset + prelude.dict_bytes,
          fmt::format("{}.{}", prelude.major, prelude.minor)};
}

std::vector<std::string> npy_warnings(const InputFile& file, const NpyArray& array, std::int64_t bytes) {
  const std::int64_t end = array.offset + bytes;
  if (file.size() <= end) return {};
  std::array<std::byte, kMagic.size()> next{};
  if (file.read_some_at(end, next) == std::ssize(next) && is_npy(next))
    return {"another array follows the first in the file and is not read"};
  const std::int64_t more = file.size() - end;
  return {more == 1 ? std::string("1 byte behind the array is not read")
                    : fmt::format("{} bytes behind the array are not read", more)};
}

FlatImage parse_npy(const InputFile& file, std::string_view axes) {
  const NpyArray array = parse_npy_array(file);
  const std::optional<NpyPixels> pixels = npy_pixels(array.descr);
  if (!pixels) {
    throw_npy_error(
        file.path(),
        fmt::format("its dtype {} is not supported; convert it to u1, u2, i2, f4 or f8 with numpy.astype",
                    array.descr));
  }
  FlatImage image;
  image.offset = array.offset;
  image.spec.type = pixels->type;
  image.big_endian = pixels->big_endian;
  parse_shape(array.shape, image, file.path());
  image.description = fmt::format("NPY {}, uncompressed, {}", array.version,
                                  size_of(image.spec.type) == 1 ? "single bytes"
                                  : image.big_endian            ? "big-endian"
                                                                : "little-endian");
  try {
    check_flat_image(image, file.path());
  } catch (const InvalidArgument& error) {
    throw IoError(error.what());  // the file said so, not the caller
  }
  check_axes(array.shape, axes, file.path());
  image.warnings = npy_warnings(file, array, image.spec.bytes());
  return image;
}

std::unique_ptr<Reader> open_npy(InputFile file, const OpenOptions& options) {
  FlatImage image = parse_npy(file, options.axes);
  return make_flat_reader(std::move(file), std::move(image));
}

std::unique_ptr<Writer> create_npy(const std::filesystem::path& path, const ImageSpec& spec,
                                   const CreateOptions& options) {
  auto file = std::make_unique<OutputFile>(path, OutputFile::Options{options.overwrite, options.durable});
  std::vector<std::int64_t> shape{spec.extent.rows, spec.extent.cols};
  if (spec.channels > 1) shape.push_back(spec.channels);
  return make_flat_writer(std::move(file), spec, npy_header(npy_descr(spec.type), shape),
                          flat_layout("NPY 1.0, uncompressed", options));
}

}  // namespace sepconv
