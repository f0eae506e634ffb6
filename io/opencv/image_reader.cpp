#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "sepconv/core/error.hpp"
#include "sepconv/io/flat/row_pieces.hpp"
#include "sepconv/io/opencv/image_file.hpp"
#include "sepconv/io/opencv/imgcodecs_loader.hpp"

namespace sepconv {
namespace {

template <class T, int kChannels>
void exchange_rows(const ConstPixelView& from, const PixelView& to) noexcept {
  for (std::int64_t row = 0; row < from.extent.rows; ++row) {
    const T* in = from.row<T>(row);
    T* out = to.row<T>(row);
    for (std::int64_t col = 0; col < from.extent.cols; ++col, in += kChannels, out += kChannels) {
      const T first = in[0];
      out[0] = in[2];
      out[1] = in[1];
      out[2] = first;
      if constexpr (kChannels == 4) out[3] = in[3];
    }
  }
}

class ImageReader final : public Reader {
 public:
  ImageReader(const InputFile& file, const ImageHeader& header)
      : path_(file.path()), header_(header), stored_bytes_(file.size()) {
    layout_.block = header.spec.extent;
    layout_.streams = false;
    layout_.description = fmt::format("{}{}{}, decoded as a whole", name_of(header.format),
                                      header.storage.empty() ? "" : ", ", header.storage);
  }
  ImageReader(const ImageReader&) = delete;
  ImageReader& operator=(const ImageReader&) = delete;
  ~ImageReader() override {
    if (handle_ != nullptr) module_->release(handle_);
  }

  const ImageSpec& spec() const noexcept override { return header_.spec; }
  const SourceLayout& layout() const noexcept override { return layout_; }
  const Metadata& metadata() const noexcept override { return metadata_; }
  std::int64_t stored_bytes() const noexcept override { return stored_bytes_; }
  std::int64_t buffer_bytes(int) const override {
    return header_.spec.bytes() + header_.decoder_bytes + kImgcodecsBytes;
  }

  void read(const Rect& rect, const PixelView& out, Executor& executor) override {
    std::call_once(decoded_, [this] { decode(); });
    for_each_row_piece(rect.rows, out.row_bytes(), executor, [&](std::int64_t first, std::int64_t count) {
      copy_exchanging_red_and_blue(pixels_.crop({rect.row + first, rect.col, count, rect.cols}),
                                   out.crop({first, 0, count, rect.cols}));
    });
  }

 private:
  [[noreturn]] void fail(std::string_view fact) const {
    throw IoError(fmt::format("cannot read {}: {}", path_.native(), fact));
  }

  void decode() {
    module_ = &load_imgcodecs(path_);
    sepconv_image image{};
    char error[512] = "";
    handle_ = module_->decode(path_.c_str(), &image, error, sizeof error);
    if (handle_ == nullptr)
      fail(fmt::format("{}; it is damaged or of a rare kind, convert it to TIFF", error));
    const ImageSpec found{
        {image.rows, image.cols}, image.channels, image.element_bytes == 2 ? PixelType::u16 : PixelType::u8};
    if (found != header_.spec) {
      module_->release(std::exchange(handle_, nullptr));
      fail(
          fmt::format("its header announces {} x {} pixels of {} {} and OpenCV decodes {} x {} of {} {}; "
                      "convert it to TIFF",
                      header_.spec.extent.cols, header_.spec.extent.rows, header_.spec.channels,
                      name_of(header_.spec.type), found.extent.cols, found.extent.rows, found.channels,
                      name_of(found.type)));
    }
    pixels_ = {static_cast<const std::byte*>(image.data), found.extent, found.channels, found.type,
               image.pitch_bytes};
  }

  std::filesystem::path path_;
  ImageHeader header_;
  std::int64_t stored_bytes_;
  SourceLayout layout_;
  Metadata metadata_;
  std::once_flag decoded_;
  const sepconv_imgcodecs* module_ = nullptr;
  void* handle_ = nullptr;
  ConstPixelView pixels_;  // the module's memory, channels in the order B, G, R, A
};

}  // namespace

void copy_exchanging_red_and_blue(const ConstPixelView& from, const PixelView& to) noexcept {
  if (from.channels < 3) return copy_pixels(from, to);
  const bool wide = from.type == PixelType::u16;
  if (from.channels == 3) {
    wide ? exchange_rows<std::uint16_t, 3>(from, to) : exchange_rows<std::uint8_t, 3>(from, to);
  } else {
    wide ? exchange_rows<std::uint16_t, 4>(from, to) : exchange_rows<std::uint8_t, 4>(from, to);
  }
}

std::unique_ptr<Reader> open_image(const InputFile& file, SmallFormat format) {
  return std::make_unique<ImageReader>(file, read_image_header(file, format));
}

}  // namespace sepconv
