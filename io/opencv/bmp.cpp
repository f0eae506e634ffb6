#include "sepconv/io/opencv/bmp.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "sepconv/core/error.hpp"
#include "sepconv/io/file_errors.hpp"
#include "sepconv/io/held_image.hpp"
#include "sepconv/io/opencv/imgcodecs_loader.hpp"

namespace sepconv {
namespace {

/// Bound of what the module's libraries and their tables add to the process when they are loaded.
constexpr std::int64_t kImgcodecsBytes = std::int64_t{64} << 20;
constexpr std::int64_t kCodecBytes = std::int64_t{1} << 20;
constexpr HeldFormat kBmp{"BMP", false, "13", std::int64_t{1} << 20};

/// RGB to BGR and back; `to` may be `from`.
void copy_exchanging_red_and_blue(const ConstPixelView& from, const PixelView& to) noexcept {
  const std::int64_t channels = from.channels;
  for (std::int64_t row = 0; row < from.extent.rows; ++row) {
    const auto* in = from.row<std::uint8_t>(row);
    auto* out = to.row<std::uint8_t>(row);
    for (std::int64_t col = 0; col < from.extent.cols; ++col, in += channels, out += channels) {
      const std::uint8_t first = in[0];
      out[0] = in[2];
      out[1] = in[1];
      out[2] = first;
      if (channels == 4) out[3] = in[3];
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
  if (Extent{image.rows, image.cols} != out.extent || image.channels != out.channels ||
      image.element_bytes != 1) {
    throw_read_error(
        file.path(),
        fmt::format("its header announces {} x {} pixels of {} channels and OpenCV decodes {} x "
                    "{} of {}; convert it to TIFF",
                    out.extent.cols, out.extent.rows, out.channels, image.cols, image.rows, image.channels));
  }
  const ConstPixelView decoded{static_cast<const std::byte*>(image.data), out.extent, out.channels, out.type,
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

void encode_bmp(const sepconv_imgcodecs& module, OutputFile& file, const PixelView& image) {
  if (image.channels == 3) copy_exchanging_red_and_blue(image, image);
  const sepconv_image pixels{image.data,     image.extent.rows, image.extent.cols,
                             image.channels, image.pitch_bytes, 1};
  FileSink sink{file, nullptr};
  char error[512] = "";
  if (module.encode(&pixels, FileSink::write, &sink, error, sizeof error) == 0) return;
  if (sink.failure) std::rethrow_exception(sink.failure);
  throw IoError(fmt::format("cannot write {}: {}; choose .tif", file.target().native(), error));
}

}  // namespace

std::unique_ptr<Reader> open_bmp(InputFile file) {
  const BmpHeader header = read_bmp_header(file);
  HeldSource source;
  source.spec = header.spec;
  source.description = fmt::format("BMP{}{}", header.storage.empty() ? "" : ", ", header.storage);
  // The module's image beside ours.
  source.decoder_bytes = header.spec.bytes() + 8 * header.spec.row_bytes() + kCodecBytes + kImgcodecsBytes;
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
  const sepconv_imgcodecs& module = load_imgcodecs(path);
  return make_held_writer(
      path, spec, kBmp, options, std::move(sink),
      [&module](OutputFile& file, const PixelView& image) { encode_bmp(module, file, image); });
}

}  // namespace sepconv
