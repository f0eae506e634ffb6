#include "sepconv/io/opencv/bmp.hpp"

#include <fmt/format.h>

#include <array>
#include <exception>
#include <optional>
#include <utility>

#include "sepconv/core/error.hpp"
#include "sepconv/io/file_errors.hpp"
#include "sepconv/io/held_image.hpp"
#include "sepconv/io/opencv/imgcodecs_loader.hpp"
#include "sepconv/io/per_metre.hpp"

namespace sepconv {
namespace {

/// Bound of what the module's libraries and their tables add to the process when they are loaded.
constexpr std::int64_t kImgcodecsBytes = std::int64_t{64} << 20;
constexpr std::int64_t kCodecBytes = std::int64_t{1} << 20;
constexpr HeldFormat kBmp{"BMP", false, "13", std::int64_t{1} << 20, static_cast<unsigned>(MetadataKind::resolution)};

/// RGB to BGR and back, without a fourth channel that `to` does not have; `to` may be `from`.
void copy_exchanging_red_and_blue(const ConstPixelView& from, const PixelView& to) noexcept {
  for (std::int64_t row = 0; row < from.extent.rows; ++row) {
    const auto* in = from.row<std::uint8_t>(row);
    auto* out = to.row<std::uint8_t>(row);
    for (std::int64_t col = 0; col < from.extent.cols; ++col, in += from.channels, out += to.channels) {
      const std::uint8_t first = in[0];
      out[0] = in[2];
      out[1] = in[1];
      out[2] = first;
      if (to.channels == 4) out[3] = in[3];
    }
  }
}

void decode_bmp(const InputFile& file, const PixelView& out) {
  const sepconv_imgcodecs& module = load_imgcodecs(file.path());
  sepconv_image image{};
  char error[512] = "";
  const auto release = [&](void* handle) { module.release(handle); };
  const std::unique_ptr<void, decltype(release)> handle(
      module.decode(file.path().c_str(), &image, error, sizeof error), release);
  if (!handle)
    throw_read_error(file.path(),
                     fmt::format("{}; it is damaged or of a rare kind, convert it to TIFF", error));
  // A fourth byte that no mask calls alpha is not used.
  const bool channels_fit = image.channels == out.channels || (image.channels == 4 && out.channels == 3);
  if (Extent{image.rows, image.cols} != out.extent || !channels_fit || image.element_bytes != 1) {
    throw_read_error(
        file.path(),
        fmt::format("its header announces {} x {} pixels of {} channels and OpenCV decodes {} x "
                    "{} of {}; convert it to TIFF",
                    out.extent.cols, out.extent.rows, out.channels, image.cols, image.rows, image.channels));
  }
  const ConstPixelView decoded{static_cast<const std::byte*>(image.data), out.extent, image.channels, out.type,
                               image.pitch_bytes};
  out.channels < 3 ? copy_pixels(decoded, out) : copy_exchanging_red_and_blue(decoded, out);
}

/// Passes the encoded bytes to the file; an exception must not cross the module's C functions, so it waits
/// here.
struct FileSink {
  OutputFile& file;
  std::exception_ptr failure;

  static int write(void* context, const void* bytes, std::int64_t size) {
    auto& sink = *static_cast<FileSink*>(context);
    try {
      sink.file.write_at(0, {static_cast<const std::byte*>(bytes), static_cast<std::size_t>(size)});
      return 0;
    } catch (...) {
      sink.failure = std::current_exception();
      return 1;
    }
  }
};

/// Pixels per metre in both directions, where OpenCV leaves zeros.
void write_resolution(OutputFile& file, PerMetre resolution) {
  constexpr std::int64_t fields_offset = 38;
  std::array<std::byte, 8> fields{};
  for (std::size_t i = 0; i < fields.size(); ++i) fields[i] = static_cast<std::byte>((i < 4 ? resolution.x : resolution.y) >> 8 * (i % 4));
  file.write_at(fields_offset, fields);
}

void encode_bmp(const sepconv_imgcodecs& module, OutputFile& file, const std::optional<PerMetre>& resolution, const PixelView& image) {
  if (image.channels == 3) copy_exchanging_red_and_blue(image, image);
  const sepconv_image pixels{image.data,     image.extent.rows, image.extent.cols,
                             image.channels, image.pitch_bytes, 1};
  FileSink sink{file, nullptr};
  char error[512] = "";
  if (module.encode(&pixels, FileSink::write, &sink, error, sizeof error) == 0) {
    if (resolution) write_resolution(file, *resolution);
    return;
  }
  if (sink.failure) std::rethrow_exception(sink.failure);
  throw IoError(fmt::format("cannot write {}: {}; choose .tif", file.target().native(), error));
}

}  // namespace

std::unique_ptr<Reader> open_bmp(InputFile file) {
  const BmpHeader header = read_bmp_header(file);
  HeldSource source;
  source.spec = header.spec;
  source.description = fmt::format("BMP{}{}", header.storage.empty() ? "" : ", ", header.storage);
  source.metadata.resolution = header.resolution;
  if (header.spec.channels >= 3) source.metadata.photometric = Photometric::rgb;
  constexpr std::uint16_t tiff_unassociated_alpha = 2;
  if (header.spec.channels == 4) source.metadata.extra_samples = {tiff_unassociated_alpha};
  // The module's image beside ours, which may have a channel more.
  source.decoder_bytes = header.spec.bytes() / header.spec.channels * (header.spec.channels == 1 ? 1 : 4) + 8 * header.spec.row_bytes() + kCodecBytes + kImgcodecsBytes;
  return make_held_reader(std::move(file), std::move(source), decode_bmp);
}

std::unique_ptr<Writer> create_bmp(const std::filesystem::path& path, const ImageSpec& spec,
                                   const CreateOptions& options) {
  check_held_spec(path, spec, kBmp);
  if (spec.extent.area() > std::int64_t{1} << 30) {  // what OpenCV reads back
    throw InvalidArgument(fmt::format("cannot write {}: {} x {} pixels are more than BMP takes; choose .tif",
                                      path.native(), spec.extent.cols, spec.extent.rows));
  }
  HeldSink sink;
  // The encoded bytes are in a vector that grows by doubling: at worst an old one of the image's size beside
  // a new one of twice that.
  sink.encoder_bytes = 3 * (spec.bytes() + spec.bytes() / 8 + kCodecBytes) + kImgcodecsBytes;
  sink.least_bytes = spec.bytes();
  std::optional<PerMetre> resolution;
  if (const auto& given = options.metadata.resolution) {
    if (given->unit != Resolution::Unit::none) resolution = per_metre(*given);
    if (!resolution) sink.warnings.emplace_back("the resolution is not kept: BMP holds whole numbers per metre");
  }
  const sepconv_imgcodecs& module = load_imgcodecs(path);
  return make_held_writer(
      path, spec, kBmp, options, std::move(sink),
      [&module, resolution](OutputFile& file, const PixelView& image) { encode_bmp(module, file, resolution, image); });
}

}  // namespace sepconv
