#include <fmt/format.h>

#include <exception>

#include "sepconv/core/error.hpp"
#include "sepconv/core/memory.hpp"
#include "sepconv/io/flat/row_pieces.hpp"
#include "sepconv/io/opencv/image_file.hpp"
#include "sepconv/io/opencv/imgcodecs_loader.hpp"

namespace sepconv {
namespace {

/// What a format holds of ours; `channels` as a text of digits.
struct Capability {
  std::string_view ending, name;
  bool u16;
  std::string_view channels;
};
constexpr Capability kCapabilities[] = {
    {".png", "PNG", true, "134"}, {".jpg", "JPEG", false, "13"}, {".jpeg", "JPEG", false, "13"},
    {".ppm", "PPM", true, "3"},   {".pgm", "PGM", true, "1"},    {".bmp", "BMP", false, "13"},
};

const Capability& capability_of(std::string_view ending) {
  for (const Capability& capability : kCapabilities) {
    if (capability.ending == ending) return capability;
  }
  throw InvalidArgument(fmt::format("no small format has the ending {}; choose .png or .jpg", ending));
}

void check_spec(const std::filesystem::path& path, const Capability& capability, const ImageSpec& spec) {
  constexpr std::int64_t longest_side = std::int64_t{1} << 20;  // what OpenCV reads back
  const std::int64_t limit = capability.name == "JPEG" ? 65500 : longest_side;
  if (spec.extent.rows > limit || spec.extent.cols > limit || spec.extent.area() > std::int64_t{1} << 30) {
    throw InvalidArgument(fmt::format("cannot write {}: {} x {} pixels are more than {} takes; choose .tif",
                                      path.native(), spec.extent.cols, spec.extent.rows, capability.name));
  }
  const bool type_fits = spec.type == PixelType::u8 || (spec.type == PixelType::u16 && capability.u16);
  const bool channels_fit =
      spec.channels < 10 &&
      capability.channels.find(static_cast<char>('0' + spec.channels)) != std::string_view::npos;
  if (type_fits && channels_fit) return;
  std::string counts(1, capability.channels.front());
  for (const char digit : capability.channels.substr(1)) counts += fmt::format(" or {}", digit);
  throw InvalidArgument(fmt::format(
      "cannot write {}: {} holds u8{} with {} channels and the image is {} with {}; cast it or choose .tif",
      path.native(), capability.name, capability.u16 ? " and u16" : "", counts, name_of(spec.type),
      spec.channels));
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

class ImageWriter final : public Writer {
 public:
  ImageWriter(const std::filesystem::path& path, const Capability& capability, const ImageSpec& spec,
              const CreateOptions& options)
      : file_(path, {options.overwrite, options.durable}),
        module_(load_imgcodecs(path)),
        ending_(capability.ending),
        spec_(spec),
        quality_(options.layout.level > 0 ? options.layout.level : 90) {
    layout_.streams = false;
    layout_.description = fmt::format("{}, encoded as a whole", capability.name);
  }

  const ImageSpec& spec() const noexcept override { return spec_; }
  const SinkLayout& layout() const noexcept override { return layout_; }

  std::int64_t buffer_bytes(int) const override {
    // The image, and the encoded bytes in a vector that grows by doubling: at worst an old one of the image's
    // size beside a new one of twice that. Deflate and JPEG at quality 100 add little to what does not
    // compress.
    const std::int64_t encoded = spec_.bytes() + spec_.bytes() / 8 + (std::int64_t{1} << 20);
    return spec_.bytes() + 3 * encoded + kImgcodecsBytes;
  }

  void write(const Rect& rect, const ConstPixelView& in, Executor& executor) override {
    if (image_.size() == 0) image_ = Buffer(spec_.bytes());
    for_each_row_piece(rect.rows, in.row_bytes(), executor, [&](std::int64_t first, std::int64_t count) {
      copy_exchanging_red_and_blue(in.crop({first, 0, count, rect.cols}),
                                   pixels().crop({rect.row + first, rect.col, count, rect.cols}));
    });
  }

  void prepare_finish() override {
    if (encoded_) return;
    const sepconv_image image{image_.data(),     spec_.extent.rows,
                              spec_.extent.cols, spec_.channels,
                              spec_.row_bytes(), static_cast<std::int32_t>(size_of(spec_.type))};
    FileSink sink{file_, nullptr};
    char error[512] = "";
    if (module_.encode(ending_.c_str(), &image, quality_, FileSink::write, &sink, error, sizeof error) != 0) {
      if (sink.failure) std::rethrow_exception(sink.failure);
      throw IoError(fmt::format("cannot write {}: {}; choose .tif", file_.target().native(), error));
    }
    encoded_ = true;
    image_ = Buffer();
  }

  void finish() override {
    prepare_finish();
    file_.commit();
  }

 private:
  PixelView pixels() const noexcept {
    return {image_.data(), spec_.extent, spec_.channels, spec_.type, spec_.row_bytes()};
  }

  OutputFile file_;
  const sepconv_imgcodecs& module_;
  std::string ending_;
  ImageSpec spec_;
  int quality_;
  Buffer image_;
  bool encoded_ = false;
  SinkLayout layout_;
};

}  // namespace

std::unique_ptr<Writer> create_image(const std::filesystem::path& path, const std::string& ending,
                                     const ImageSpec& spec, const CreateOptions& options) {
  const Capability& capability = capability_of(ending);
  check_spec(path, capability, spec);
  return std::make_unique<ImageWriter>(path, capability, spec, options);
}

}  // namespace sepconv
