#include "io/tensor/tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "core/count_text.hpp"
#include "core/error.hpp"
#include "io/byte_file.hpp"
#include "io/flat/npy.hpp"
#include "io/flat/raw.hpp"
#include "io/tensor/array_view.hpp"

namespace sepconv {
namespace {

using TensorShape = std::array<std::int64_t, 3>;

/// Bytes of an element of a plain dtype such as "<c16", "|b1" or "<M8[ns]"; 0 for other dtypes.
std::int64_t element_bytes_of(std::string_view descr) {
  if (!descr.empty() && std::string_view("<>|=").find(descr.front()) != std::string_view::npos)
    descr.remove_prefix(1);
  if (descr.size() < 2 || std::string_view("biufcmMSV").find(descr.front()) == std::string_view::npos)
    return 0;
  std::int64_t bytes = 0;
  const auto [end, error] = std::from_chars(descr.data() + 1, descr.data() + descr.size(), bytes);
  const bool is_complete = end == descr.data() + descr.size() || *end == '[';
  return error == std::errc() && is_complete ? bytes : 0;
}

bool is_supported_size(std::int64_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}

/// The pixel type that stands in for elements of this size, which are only copied.
PixelType stand_in_type(std::int64_t element_bytes) {
  return element_bytes == 1   ? PixelType::u8
         : element_bytes == 2 ? PixelType::u16
         : element_bytes == 4 ? PixelType::f32
                              : PixelType::f64;
}

/// Throws IoError unless the file contains all elements of its shape.
void check_size(const NpyArray& array, const TensorSpec& spec, const InputFile& file) {
  const std::string array_text =
      fmt::format("an array of shape ({}) as {}", fmt::join(array.shape, ", "), array.descr);
  if (std::ranges::find(array.shape, 0) != array.shape.end())
    throw IoError(fmt::format("cannot read {}: {} has no elements, and there is nothing to transpose",
                              file.path().native(), array_text));
  std::int64_t needed = spec.element_bytes;
  bool too_large = false;
  for (const std::int64_t length : spec.extent) too_large |= __builtin_mul_overflow(needed, length, &needed);
  too_large |= __builtin_add_overflow(needed, array.offset, &needed);
  if (too_large || needed > file.size()) {
    throw IoError(fmt::format(
        "cannot read {}: {} needs {} and the file has {} bytes; it is truncated or damaged",
        file.path().native(), array_text,
        too_large ? std::string("more bytes than can be counted") : fmt::format("{} bytes", needed),
        file.size()));
  }
}

TensorSpec spec_of_array(const NpyArray& array, const std::filesystem::path& path) {
  const std::size_t axes = array.shape.size();
  if (axes < 1 || axes > 3) {
    throw IoError(fmt::format(
        "cannot read {}: an array of shape ({}) has {} axes; reshape it to 2 or 3 with numpy.reshape",
        path.native(), fmt::join(array.shape, ", "), axes));
  }
  TensorSpec spec;
  spec.axes = axes == 3 ? 3 : 2;
  std::copy(array.shape.begin(), array.shape.end(), spec.extent.begin() + (axes == 1 ? 1 : 0));
  if (array.fortran_order && axes > 1) std::reverse(spec.extent.begin(), spec.extent.begin() + spec.axes);
  if (const auto elements = npy_elements(array.descr); elements && elements->type.is_pixels()) {
    spec.type = elements->type.pixels();
    spec.element_bytes = size_of(*spec.type);
    spec.dtype = npy_descr(*spec.type);
    return spec;
  }
  spec.element_bytes = element_bytes_of(array.descr);
  spec.dtype = array.descr;
  if (!is_supported_size(spec.element_bytes)) {
    throw IoError(
        fmt::format("cannot read {}: its dtype {} has no elements of 1, 2, 4, 8 or 16 bytes; convert it with "
                    "numpy.astype",
                    path.native(), array.descr));
  }
  return spec;
}

TensorSpec spec_of_image(const ImageSpec& image) {
  return {.extent = {image.extent.rows, image.extent.cols, image.channels},
          .axes = image.channels == 1 ? 2 : 3,
          .element_bytes = size_of(image.type),
          .type = image.type,
          .dtype = npy_descr(image.type)};
}

ImageSpec image_of(const TensorSpec& spec) {
  return {{spec.extent[0], spec.extent[1]},
          spec.extent[2],
          spec.type.value_or(stand_in_type(spec.element_bytes))};
}

/// Throws InvalidArgument if a raw file's name states a shape or type other than that of `spec`.
void check_raw_name(const std::filesystem::path& path, const TensorSpec& spec) {
  const std::optional<ImageSpec> named_spec = parse_raw_name(path);
  if (!named_spec) return;
  const ImageSpec image = image_of(spec);
  if (!spec.type || *named_spec != image) {
    throw InvalidArgument(fmt::format(
        "{} is to hold {} of {} of {} of {}, which contradicts its name; correct the name", path.native(),
        count_text(image.extent.rows, "row"), count_text(image.extent.cols, "pixel"),
        count_text(image.channels, "channel"), spec.type ? std::string(name_of(*spec.type)) : spec.dtype));
  }
}

}  // namespace

ImageSpec grid_spec(const TensorSpec& spec, const TensorShape& extent, TensorGrid grid) {
  const PixelType type = spec.type.value_or(stand_in_type(spec.element_bytes));
  const std::int64_t components = spec.element_bytes / size_of(type);
  switch (grid) {
    case TensorGrid::spread:
      return {{extent[0], extent[1] * extent[2]}, components, type};
    case TensorGrid::lines:
      return {{extent[0] * extent[1], extent[2]}, components, type};
    case TensorGrid::image:
      break;
  }
  return {{extent[0], extent[1]}, extent[2] * components, type};
}

TensorFile TensorFile::open(const std::filesystem::path& path, const OpenOptions& options, Formats formats) {
  TensorFile tensor;
  tensor.path_ = path;
  tensor.options_ = options;
  const InputFile file(path, InputFile::Folders::taken);
  const Format& detected = format_of_file(file, options, formats);
  check_options(options, detected, path, formats);
  const std::string_view format = detected.name;
  if (format == "NPY") {
    if (!options.select.empty())
      throw InvalidArgument(
          fmt::format("OpenOptions::select {} does not apply to {}, which is read as an array; leave it out",
                      options.select, path.native()));
    const NpyArray array = parse_npy_array(file);
    tensor.spec_ = spec_of_array(array, path);
    check_size(array, tensor.spec_, file);
    tensor.flat_ = true;
    tensor.offset_ = array.offset;
    tensor.reversed_ = array.fortran_order && array.shape.size() > 1;
    if (tensor.spec_.type) tensor.big_endian_ = npy_elements(array.descr)->big_endian;
    tensor.description_ =
        fmt::format("NPY {}, uncompressed, {} as {}{}", array.version, fmt::join(array.shape, " x "),
                    array.descr, tensor.reversed_ ? ", Fortran order" : "");
    tensor.warnings_ = npy_warnings(file, array,
                                    tensor.spec_.element_bytes * tensor.spec_.extent[0] *
                                        tensor.spec_.extent[1] * tensor.spec_.extent[2]);
    return tensor;
  }
  tensor.image_ = open_reader(path, options, formats);
  tensor.spec_ = spec_of_image(tensor.image_->spec());
  if (format != "raw") return tensor;
  tensor.flat_ = true;
  tensor.offset_ = options.raw_offset;
  tensor.big_endian_ = options.raw_big_endian;
  tensor.description_ = tensor.image_->layout().description;
  tensor.image_.reset();
  return tensor;
}

std::unique_ptr<Reader> TensorFile::reader(const TensorShape& extent, TensorGrid grid) && {
  if (!flat_) return make_grid_reader(std::move(image_), grid);
  return make_flat_reader(InputFile(path_), {grid_spec(spec_, extent, grid), offset_, big_endian_,
                                             description_, false, warnings_});
}

bool has_flat_format(const std::filesystem::path& path, Formats formats) {
  const Format* const format = format_of_name(path, formats);
  return format != nullptr && (format->name == "NPY" || format->name == "raw");
}

std::unique_ptr<Writer> create_tensor_writer(const std::filesystem::path& path, const TensorSpec& spec,
                                             const TensorShape& extent, TensorGrid grid,
                                             const CreateOptions& options, Formats formats) {
  if (!has_flat_format(path, formats)) {
    if (!spec.type) {
      throw InvalidArgument(fmt::format("{} cannot hold elements of dtype {}; end the name in .npy",
                                        path.native(), spec.dtype));
    }
    return make_grid_writer(create_writer(path, image_of(spec), options, formats), grid);
  }
  const Format& format = *format_of_name(path, formats);
  const CreateOptions storage_options = adapt_stored_type(path, format, options, formats);
  std::vector<std::byte> header;
  std::string description = "raw, uncompressed";
  if (format.name == "NPY") {
    header = npy_header(storage_options.stored ? npy_descr(*storage_options.stored) : spec.dtype,
                        std::span(spec.extent).first(static_cast<std::size_t>(spec.axes)));
    description =
        fmt::format("NPY 1.0, uncompressed, {}",
                    fmt::join(std::span(spec.extent).first(static_cast<std::size_t>(spec.axes)), " x "));
  } else {
    check_raw_name(path, spec);
  }
  auto file = std::make_unique<OutputFile>(path, OutputFile::Options{options.overwrite, options.durable});
  return make_flat_writer(std::move(file), grid_spec(spec, extent, grid), std::move(header),
                          flat_layout(std::move(description), storage_options), false);
}

}  // namespace sepconv
