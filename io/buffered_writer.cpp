#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/memory.hpp"
#include "io/buffered_image.hpp"
#include "io/coverage_tracker.hpp"
#include "io/extra_samples.hpp"
#include "io/flat/row_pieces.hpp"
#include "io/full_scale.hpp"

namespace sepconv {
namespace {

class BufferedWriter final : public Writer {
 public:
  BufferedWriter(const std::filesystem::path& path, BufferedPicture picture, SinkLayout layout,
                 const BufferedSink& sink, EncodeImage encode)
      : file_(path, {picture.options.overwrite, picture.options.durable}),
        picture_(std::move(picture)),
        layout_(std::move(layout)),
        encoder_bytes_(sink.encoder_bytes),
        encode_(std::move(encode)) {
    file_.expect(sink.min_bytes);
    file_.add_warnings(layout_.warnings);
  }

  const ImageSpec& spec() const noexcept override { return picture_.result; }
  const SinkLayout& layout() const noexcept override { return layout_; }
  std::int64_t buffer_bytes(int) const override { return picture_.spec.bytes() + encoder_bytes_; }

  void write(const Rect& rect, const ConstPixelView& in, Executor& executor) override {
    if (image_.size() == 0) image_ = Buffer(picture_.spec.bytes());
    written_.add(rect);
    const PixelView image = dense_view(image_.data(), picture_.spec);
    for_each_row_piece(rect.rows, in.row_bytes(), executor, [&](std::int64_t first, std::int64_t count) {
      const ConstPixelView from = in.crop({first, 0, count, rect.cols});
      const PixelView to = image.crop({rect.row + first, rect.col, count, rect.cols});
      picture_.colours.converts ? paint(picture_.colours, from, to) : copy_pixels(from, to);
    });
  }

  void prepare_finish() override {
    if (encoded_) return;
    written_.check_coverage(picture_.spec.extent, file_.target().native());
    encode_(file_, dense_view(image_.data(), picture_.spec));
    encoded_ = true;
    image_ = Buffer();
  }

  void finish() override {
    prepare_finish();
    file_.commit();
  }

 private:
  OutputFile file_;
  BufferedPicture picture_;
  SinkLayout layout_;
  std::int64_t encoder_bytes_;
  EncodeImage encode_;
  Buffer image_;
  CoverageTracker written_;
  bool encoded_ = false;
};

/// The stage that keeps the first channels: the colours if they are known, else as many as the format
/// supports.
std::string channel_removal_stage(std::int64_t channels, std::string_view counts, const Metadata& metadata) {
  std::int64_t remaining = 1;
  for (const char digit : counts) remaining = digit - '0' < channels ? digit - '0' : remaining;
  if (metadata.photometric)
    remaining = std::min<std::int64_t>(remaining, *metadata.photometric == Photometric::rgb ? 3 : 1);
  std::string values;
  for (std::int64_t i = 0; i < remaining * channels; ++i)
    values += fmt::format("{}{}", i == 0 ? "" : ",", i / channels == i % channels ? 1 : 0);
  return fmt::format("mix_channels:rows={},values={}", remaining, values);
}

/// The stage that scales the full range of a type to u8.
std::string stage_to_u8(PixelType type) {
  return fmt::format("stretch:low=0,high={},type=u8", full_scale(type));
}

}  // namespace

void check_buffered_spec(const std::filesystem::path& path, const ImageSpec& spec,
                         const BufferedFormat& format, const Metadata& metadata) {
  const auto [rows, cols] = spec.extent;
  if (rows > format.longest_side || cols > format.longest_side) {
    throw InvalidArgument(fmt::format("cannot write {}: {} x {} pixels are more than {} takes; choose {}",
                                      path.native(), cols, rows, format.name, format.other));
  }
  const bool type_fits = spec.type == PixelType::u8 || (spec.type == PixelType::u16 && format.u16);
  const bool channels_fit =
      spec.channels < 10 &&
      format.channels.find(static_cast<char>('0' + spec.channels)) != std::string_view::npos;
  if (type_fits && channels_fit) return;
  std::string advice =
      type_fits ? fmt::format("choose {}", format.other)
                : fmt::format("convert it to u8 with the stage {} or OutputOptions::to_8bit, or choose {}",
                              stage_to_u8(spec.type), format.other);
  if (!channels_fit && alpha_channel(metadata, spec.channels) && metadata.photometric &&
      meaning_of(*metadata.photometric).empty())
    advice += ", or blend it with a background, OutputOptions::background = white";
  else if (!channels_fit && spec.channels < 10)
    advice += fmt::format(", or leave channels out with {}",
                          channel_removal_stage(spec.channels, format.channels, metadata));
  std::string counts(1, format.channels.front());
  for (const char digit : format.channels.substr(1)) counts += fmt::format(" or {}", digit);
  throw InvalidArgument(
      fmt::format("cannot write {}: {} holds u8{} with {} channel{} and the image is {} with {}; {}",
                  path.native(), format.name, format.u16 ? " and u16" : "", counts, counts == "1" ? "" : "s",
                  name_of(spec.type), spec.channels, advice));
}

namespace {

/// Whether the format stores the image with a colour table, which has at most 256 entries.
bool stores_colour_table(const ImageSpec& spec, const BufferedFormat& format) {
  return (format.metadata & static_cast<unsigned>(MetadataKind::colours)) != 0 && spec.channels == 1 &&
         spec.type == PixelType::u8;
}

/// MetadataKinds that the format stores for such an image.
unsigned stored_metadata(const ImageSpec& spec, const BufferedFormat& format, const Metadata& metadata) {
  const bool stores_alpha = spec.channels == 4 && !metadata.extra_samples.empty() &&
                            metadata.extra_samples.back() == kUnassociatedAlpha;
  const unsigned without_colours = format.metadata & ~static_cast<unsigned>(MetadataKind::colours);
  return without_colours | (stores_alpha ? static_cast<unsigned>(MetadataKind::alpha) : 0u) |
         (stores_colour_table(spec, format) ? static_cast<unsigned>(MetadataKind::colours) : 0u);
}

}  // namespace

void check_picture(const std::filesystem::path& path, const ImageSpec& spec, const BufferedFormat& format,
                   const Metadata& metadata) {
  std::string advice;
  const auto throw_error = [&](std::string_view fact, std::string_view consequence) {
    throw InvalidArgument(fmt::format("cannot write {}: the source states that {}, and {} {}; choose {}{}",
                                      path.native(), fact, format.name, consequence, format.other, advice));
  };
  const std::string_view colours = metadata.photometric ? meaning_of(*metadata.photometric) : "";
  if (!colours.empty()) throw_error(colours, "cannot store that, so that viewers would show another picture");
  if (metadata.colours && metadata.colours->classes && !stores_colour_table(spec, format))
    throw_error("its values are classes, which a colour table shows", "cannot store one");
  const bool anything_known = metadata.photometric || !metadata.extra_samples.empty();
  if (spec.channels != 4 || !anything_known) return;
  const std::uint16_t fourth = metadata.extra_samples.empty() ? 0 : metadata.extra_samples.back();
  if (fourth == kAssociatedAlpha)
    throw_error("its colours are multiplied by alpha already (associated alpha)",
                "shows them multiplied once more");
  if (fourth == kUnassociatedAlpha) return;
  advice = fmt::format(", or leave it out with {}", channel_removal_stage(spec.channels, "3", metadata));
  throw_error("channel 4 is not alpha", "shows it as such");
}

BufferedPicture make_buffered_picture(const std::filesystem::path& path, const ImageSpec& result,
                                      const BufferedFormat& format, const CreateOptions& options) {
  BufferedPicture picture{result, result, {}, options};
  const bool has_alpha = format.channels.find('4') != format.channels.npos;
  const std::optional<Background>& background =
      options.background || has_alpha ? options.background : options.background_without_alpha;
  picture.colours = picture_colours(result.channels, options.metadata, format.channels, background);
  picture.spec.channels = picture.colours.channels;
  picture.options.metadata = metadata_of_picture(picture.colours, options.metadata);
  const std::vector<std::string>& colour_warnings = picture.colours.warnings;
  picture.options.warnings.insert(picture.options.warnings.end(), colour_warnings.begin(),
                                  colour_warnings.end());
  check_buffered_spec(path, picture.spec, format, picture.options.metadata);
  check_picture(path, picture.spec, format, picture.options.metadata);
  return picture;
}

std::unique_ptr<Writer> make_buffered_writer(const std::filesystem::path& path, const BufferedFormat& format,
                                             BufferedPicture picture, BufferedSink sink, EncodeImage encode) {
  const ImageSpec& spec = picture.spec;
  const CreateOptions& options = picture.options;
  SinkLayout layout;
  layout.streams = false;
  layout.codec = kPicture;
  layout.description = fmt::format("{}{}, encoded as a whole", format.name, sink.kind);
  layout.warnings = std::move(sink.warnings);
  layout.warnings.insert(layout.warnings.end(), options.warnings.begin(), options.warnings.end());
  std::string warning = dropped_metadata_warning(
      options.metadata, stored_metadata(spec, format, options.metadata), format.name);
  if (!warning.empty()) layout.warnings.push_back(std::move(warning));
  if (spec.channels == 4 && options.metadata.extra_samples.empty())
    layout.warnings.push_back(fmt::format(
        "channel 4 becomes alpha: nothing is known of the image's channels, and {} shows a fourth as that",
        format.name));
  return std::make_unique<BufferedWriter>(path, std::move(picture), std::move(layout), sink,
                                          std::move(encode));
}

}  // namespace sepconv
