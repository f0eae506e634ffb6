#include <mutex>
#include <utility>

#include "core/memory.hpp"
#include "io/buffered_image.hpp"
#include "io/extra_samples.hpp"
#include "io/flat/row_pieces.hpp"
#include "io/sidecars.hpp"
#include "io/world_file.hpp"

namespace sepconv {
namespace {

class BufferedReader final : public Reader {
 public:
  BufferedReader(InputFile file, BufferedSource source, DecodeImage decode)
      : file_(std::move(file)), source_(std::move(source)), decode_(std::move(decode)) {
    layout_.block = source_.spec.extent;
    layout_.streams = false;
    layout_.codec = kPicture;
    layout_.is_jpeg = source_.is_jpeg;
    layout_.chroma = source_.chroma;
    layout_.description = source_.description + ", decoded as a whole";
    layout_.warnings = source_.warnings;
    warn_about_unread_sidecars(file_.path(), true, layout_.warnings);
    read_world_file(file_.path(), source_.metadata, layout_.warnings);
    if (spec().channels >= 3) source_.metadata.photometric = Photometric::rgb;
    if (spec().channels == 4) source_.metadata.extra_samples = {kUnassociatedAlpha};
  }

  const ImageSpec& spec() const noexcept override { return source_.spec; }
  const SourceLayout& layout() const noexcept override { return layout_; }
  const Metadata& metadata() const noexcept override { return source_.metadata; }
  std::int64_t stored_bytes() const noexcept override { return file_.size(); }
  std::int64_t changed_ns() const noexcept override { return file_.changed_ns(); }
  std::int64_t buffer_bytes(int) const override {
    return source_.spec.bytes() + source_.decoder_bytes + buffered_bytes(source_.metadata);
  }

  std::vector<std::string> warnings_after_reading() const override {
    return source_.found ? *source_.found : std::vector<std::string>{};
  }

  void read(const Rect& rect, const PixelView& out, Executor& executor) override {
    std::call_once(decoded_, [this] {
      Buffer pixels(source_.spec.bytes());
      decode_(file_, dense_view(pixels.data(), source_.spec));
      pixels_ = std::move(pixels);
    });
    const ConstPixelView image = dense_view(pixels_.data(), source_.spec);
    for_each_row_piece(rect.rows, out.row_bytes(), executor, [&](std::int64_t first, std::int64_t count) {
      copy_pixels(image.crop({rect.row + first, rect.col, count, rect.cols}),
                  out.crop({first, 0, count, rect.cols}));
    });
  }

 private:
  InputFile file_;
  BufferedSource source_;
  DecodeImage decode_;
  SourceLayout layout_;
  std::once_flag decoded_;
  Buffer pixels_;
};

}  // namespace

std::unique_ptr<Reader> make_buffered_reader(InputFile file, BufferedSource source, DecodeImage decode) {
  return std::make_unique<BufferedReader>(std::move(file), std::move(source), std::move(decode));
}

std::int64_t buffered_bytes(const Metadata& metadata) noexcept {
  return static_cast<std::int64_t>(metadata.icc_profile.size() + metadata.description.size() +
                                   metadata.software.size() + metadata.date_time.size() +
                                   metadata.artist.size() + metadata.copyright.size() + metadata.xmp.size() +
                                   metadata.iptc.size()) +
         metadata.exif.bytes();
}

}  // namespace sepconv
