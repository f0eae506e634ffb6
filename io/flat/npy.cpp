#include "io/flat/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "core/error.hpp"
#include "io/flat/npy_dict.hpp"

namespace sepconv {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
/// NumPy rejects headers of more than 10,000 bytes; plain arrays have 118.
constexpr std::int64_t kMaxHeaderBytes = 65536;
constexpr std::int64_t kTypicalHeaderBytes = 128;

using Kind = SampleType::Kind;

struct Dtype {
  char letter;
  Kind kind;
  std::string_view bytes;  ///< allowed sizes
};
constexpr Dtype kDtypes[] = {{'b', Kind::boolean, "1"},
                             {'u', Kind::natural, "1 2 4 8"},
                             {'i', Kind::integer, "1 2 4 8"},
                             {'f', Kind::floating, "2 4 8"},
                             {'c', Kind::complex, "8 16"}};

[[noreturn]] void throw_npy_error(const std::filesystem::path& path, std::string_view fact) {
  throw IoError(fmt::format("cannot read {}: {}", path.native(), fact));
}

struct Prelude {
  int major = 0, minor = 0;
  std::int64_t dict_bytes = 0;
};

/// Reads magic, version and the length of the dictionary (little-endian, two bytes in version 1, four from
/// version 2 on).
Prelude read_prelude(InputBytes& bytes) {
  std::array<std::byte, 12> head{};
  bytes.read(std::span(head).first(10));
  if (!is_npy(head)) throw_npy_error(bytes.name(), "it is not an NPY file; check its name");
  const auto byte_at = [&](std::size_t at) { return std::to_integer<std::int64_t>(head[at]); };
  Prelude prelude{static_cast<int>(byte_at(6)), static_cast<int>(byte_at(7)), byte_at(8) | byte_at(9) << 8};
  if (prelude.major < 1 || prelude.major > 3 || prelude.minor != 0) {
    throw_npy_error(
        bytes.name(),
        fmt::format("NPY version {}.{} is not supported, only 1.0, 2.0 and 3.0 are; save it again with "
                    "numpy.save",
                    prelude.major, prelude.minor));
  }
  if (prelude.major > 1) {
    bytes.read(std::span(head).last(2));
    prelude.dict_bytes |= byte_at(10) << 16 | byte_at(11) << 24;
  }
  if (prelude.dict_bytes > kMaxHeaderBytes) {
    throw_npy_error(
        bytes.name(),
        fmt::format(
            "its NPY header claims {} bytes, more than any image's; the file is damaged, save it again",
            prelude.dict_bytes));
  }
  return prelude;
}

std::string description_of(const NpyArray& array, const FlatImage& image) {
  std::string text = fmt::format("NPY {}, uncompressed, {}", array.version,
                                 image.element().bits_of_part() == 8 ? "single bytes"
                                 : image.big_endian                  ? "big-endian"
                                                                     : "little-endian");
  if (array.fortran_order) text += ", Fortran order";
  if (image.stored) text += ", " + name_of(*image.stored);
  return text;
}

/// Warns about axes that are reordered or slow to read, for arrays of several images.
void add_order_warnings(const NpyAxes& axes, FlatImage& image) {
  if (axes.others.empty()) return;
  std::string written_axes;
  for (const NpyAxis& axis : axes.others) written_axes += axis.name;
  written_axes += axes.names.ends_with("c") ? "yxc" : "yx";
  if (written_axes != axes.names)
    image.warnings.push_back(
        fmt::format("an array of the axes {} is written as {}", axes.names, written_axes));
  const auto& [row, col, channel] = image.steps();
  for (const NpyAxis& axis : axes.others) {
    if (axis.length > 1 && axis.step < std::min(row, col))
      image.warnings.push_back(fmt::format(
          "elements along axis {} are adjacent in the file, so that it is read {} times, once per image; "
          "numpy.ascontiguousarray stores images contiguously",
          axis.name, axis.length));
  }
}

}  // namespace

bool is_npy(std::span<const std::byte> head) noexcept { return begins_with(head, kMagic); }

std::optional<NpyElements> npy_elements(std::string_view descr) {
  const char order = descr.empty() ? '?' : descr.front();
  const bool has_order = order == '<' || order == '>' || order == '|' || order == '=';
  const std::string_view code = has_order ? descr.substr(1) : descr;
  for (const Dtype& dtype : kDtypes) {
    if (code.size() < 2 || code.front() != dtype.letter) continue;
    const std::string_view digits = code.substr(1);
    if (digits.find(' ') != digits.npos ||
        fmt::format(" {} ", dtype.bytes).find(fmt::format(" {} ", digits)) == std::string::npos)
      continue;
    const int bytes = digits == "16" ? 16 : digits.front() - '0';
    // '|' means that byte order is irrelevant, which is valid for one byte only.
    if (order == '|' && bytes > 1) continue;
    const bool native_big = std::endian::native == std::endian::big;
    return NpyElements{{dtype.kind, 8 * bytes}, order == '>' || (native_big && order != '<')};
  }
  return std::nullopt;
}

bool npy_supports(SampleType type) noexcept { return !type.is_packed(); }

std::string npy_descr(SampleType type) {
  const char order = type.bits == 8 ? '|' : std::endian::native == std::endian::big ? '>' : '<';
  const auto* const dtype = std::ranges::find(kDtypes, type.kind, &Dtype::kind);
  return fmt::format("{}{}{}", order, dtype->letter, type.bits / 8);
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

std::vector<std::int64_t> npy_shape(std::vector<std::int64_t> others, const ImageSpec& spec,
                                    SampleType stored) {
  others.insert(others.end(), {spec.extent.rows, spec.extent.cols});
  if (spec.channels > stored.parts()) others.push_back(spec.channels / stored.parts());
  return others;
}

std::vector<std::int64_t> npy_shape(const RasterSetSpec& spec, SampleType stored) {
  std::vector<std::int64_t> others;
  for (const RasterAxis& axis : spec.axes) {
    if (!axis.single && spec.count() > 1) others.push_back(axis.size);
  }
  return npy_shape(std::move(others), spec.raster, stored);
}

NpyArray parse_npy_array(InputBytes& bytes) {
  const Prelude prelude = read_prelude(bytes);
  std::string text(static_cast<std::size_t>(prelude.dict_bytes), '\0');
  bytes.read(std::as_writable_bytes(std::span(text)));
  const std::optional<NpyDict> dict = parse_npy_dict(text);
  if (!dict)
    throw_npy_error(
        bytes.name(),
        "its NPY header is damaged or that of a structured array; save a plain array with numpy.save");
  return {dict->descr, dict->shape, dict->fortran_order, bytes.position(),
          fmt::format("{}.{}", prelude.major, prelude.minor)};
}

NpyArray parse_npy_array(const InputFile& file) {
  InputBytes bytes(file, 0, kTypicalHeaderBytes);
  return parse_npy_array(bytes);
}

std::vector<std::string> npy_warnings(const InputFile& file, const NpyArray& array, std::int64_t bytes) {
  const std::int64_t end = array.offset + bytes;
  if (file.size() <= end) return {};
  std::array<std::byte, kMagic.size()> next_bytes{};
  if (file.read_some_at(end, next_bytes) == std::ssize(next_bytes) && is_npy(next_bytes))
    return {"another array follows the first in the file and is not read"};
  const std::int64_t extra_bytes = file.size() - end;
  return {extra_bytes == 1 ? std::string("1 byte after the array is not read")
                           : fmt::format("{} bytes after the array are not read", extra_bytes)};
}

NpyImages npy_images(const std::filesystem::path& path, const NpyArray& array, std::string_view axes) {
  const std::optional<NpyElements> elements = npy_elements(array.descr);
  if (!elements) {
    throw_npy_error(path, fmt::format("its dtype {} is not supported; convert it to integers, bool, f2, f4, "
                                      "f8, c8 or c16 with numpy.astype",
                                      array.descr));
  }
  const NpyAxes found = npy_axes(array.shape, array.fortran_order, axes, path);
  NpyImages images{{}, found.others, found.names};
  FlatImage& image = images.first;
  image.offset = array.offset;
  if (!elements->type.is_pixels()) image.stored = elements->type;
  image.spec = {found.extent, found.channels * elements->type.parts(), elements->type.pixels()};
  image.big_endian = elements->big_endian;
  image.strides = found.steps;
  image.description = description_of(array, image);
  try {
    check_flat_image(image, path);
  } catch (const InvalidArgument& error) {
    throw IoError(error.what());  // the file is wrong, not the caller
  }
  add_order_warnings(found, image);
  return images;
}

NpyImages parse_npy(const InputFile& file, std::string_view axes) {
  const NpyArray array = parse_npy_array(file);
  NpyImages images = npy_images(file.path(), array, axes);
  std::int64_t count = 1;
  for (const std::int64_t length : array.shape) count *= length;
  const std::int64_t end = array.offset + images.first.element().bytes_of(count);
  if (!images.others.empty() && file.size() < end)
    throw_npy_error(file.path(),
                    fmt::format("an array of shape ({}) needs {} bytes and the file has {}; it is truncated "
                                "or has another shape",
                                fmt::join(array.shape, ", "), end, file.size()));
  std::vector<std::string>& warnings = images.first.warnings;
  const std::vector<std::string> trailing_warnings = npy_warnings(file, array, end - array.offset);
  warnings.insert(warnings.begin(), trailing_warnings.begin(), trailing_warnings.end());
  return images;
}

std::unique_ptr<Writer> create_npy(const std::filesystem::path& path, const ImageSpec& spec,
                                   const CreateOptions& options) {
  auto file = std::make_unique<OutputFile>(
      path, OutputFile::Options{options.overwrite, options.durable, options.checkpoint});
  const SampleType stored = options.stored.value_or(SampleType(spec.type));
  return make_flat_writer(std::move(file), spec, npy_header(npy_descr(stored), npy_shape({}, spec, stored)),
                          flat_layout("NPY 1.0, uncompressed", options));
}

}  // namespace sepconv
