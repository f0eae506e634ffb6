#include "io/png/png_chunks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "io/buffered_image.hpp"
#include "io/byte_order.hpp"
#include "io/byte_stream.hpp"
#include "io/exif.hpp"
#include "io/file_errors.hpp"
#include "io/photograph.hpp"
#include "io/pixel_density.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kSignatureBytes = 8;
constexpr std::int64_t kMaxChunkBytes = (std::int64_t{1} << 31) - 1;
constexpr std::size_t kMaxNames = 8;

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string latin1_to_utf8(std::string_view latin1) {
  std::string utf8;
  for (const char character : latin1) {
    const auto code = static_cast<unsigned char>(character);
    if (code < 0x80) {
      utf8 += character;
    } else {
      utf8 += {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
    }
  }
  return utf8;
}

/// Removes the text up to the next zero, and the zero, from the front of `data`. Returns the text, or null
/// without a zero.
std::optional<std::string_view> read_until_zero(std::string_view& data) {
  const std::size_t end = data.find('\0');
  if (end == data.npos) return std::nullopt;
  const std::string_view text = data.substr(0, end);
  data.remove_prefix(end + 1);
  return text;
}

/// Reads all chunks and collects their contents.
class ChunkReader {
 public:
  explicit ChunkReader(const InputFile& file) : file_(file), bytes_(file, kSignatureBytes, 4096) {}

  PngChunks read_all() {
    while (next()) {
    }
    if (chunks_.pixel_bytes == 0)
      throw_read_error(file_.path(),
                       "it holds no pixels (no IDAT chunk); the file is damaged, copy it again");
    if (frames_ > 0) chunks_.images = frames_ + (default_image_is_frame_ ? 0 : 1);
    add_warnings();
    return std::move(chunks_);
  }

 private:
  /// Reads a chunk. Returns false after the last one.
  bool next() {
    const std::int64_t begin = bytes_.position();
    std::byte head[8];
    bytes_.read(head);
    length_ = big32(head);
    name_ = as_text(std::span(head).subspan(4));
    check_chunk(begin);
    if (name_ == "IDAT") {
      if (chunks_.pixel_bytes == 0) append_to_head(begin, 8);
      chunks_.pixel_bytes += length_;
    } else if (name_ == "IHDR" || name_ == "PLTE" || name_ == "tRNS" || name_ == "iCCP") {
      copy_for_libpng(begin);
    } else if (name_ != "IEND") {
      if (name_ == "acTL") read_animation();
      if (name_ == "fcTL" && chunks_.pixel_bytes == 0) default_image_is_frame_ = true;
      read_ancillary();
    }
    bytes_.skip(begin + 12 + length_ - bytes_.position());
    return name_ != "IEND";
  }

  void check_chunk(std::int64_t begin) const {
    const auto is_letter = [](char character) {
      return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
    };
    if (length_ > kMaxChunkBytes || !std::ranges::all_of(name_, is_letter))
      throw_read_error(
          file_.path(),
          fmt::format("no valid chunk begins at byte {}; the file is damaged, copy it again", begin));
    if (begin == kSignatureBytes && name_ != "IHDR")
      throw_read_error(file_.path(), "its first chunk is not IHDR; the file is damaged, copy it again");
    if (begin + 12 + length_ > file_.size()) {
      throw_read_error(file_.path(),
                       fmt::format("its {} chunk needs {} bytes from byte {} on and the file has {}; it is "
                                   "truncated, copy it again",
                                   name_, 12 + length_, begin, file_.size()));
    }
  }

  /// Copies the chunk to the head for libpng if it is the first of its type and before the pixels.
  void copy_for_libpng(std::int64_t begin) {
    if (chunks_.pixel_bytes != 0 || has_seen(name_)) return;
    seen_.push_back(name_);
    if (length_ <= kMaxProfileBytes) {
      chunks_.has_profile |= name_ == "iCCP";
      return append_to_head(begin, 12 + length_);
    }
    chunks_.warnings.push_back(fmt::format("its {} chunk of {} bytes is left out", name_, length_));
  }

  void append_to_head(std::int64_t begin, std::int64_t count) {
    std::vector<std::byte>& head = chunks_.head;
    if (head.empty()) {
      head.resize(kSignatureBytes);
      file_.read_at(0, head);
    }
    const std::size_t old_size = head.size();
    head.resize(old_size + static_cast<std::size_t>(count));
    file_.read_at(begin, std::span(head).subspan(old_size));
  }

  void read_ancillary() {
    const bool known =
        name_ == "pHYs" || name_ == "eXIf" || name_ == "tEXt" || name_ == "iTXt" || name_ == "sRGB";
    if (known && length_ <= kMaxTextBytes) {
      std::vector<std::byte> data(static_cast<std::size_t>(length_));
      bytes_.read(data);
      if ((name_ == "pHYs" && parse_resolution(data)) || (name_ == "eXIf" && parse_exif(data)) ||
          (name_ == "sRGB" && parse_intent(data)) || (name_ == "tEXt" && parse_text(as_text(data))) ||
          (name_ == "iTXt" && parse_international_text(as_text(data))))
        return;
    }
    // tIME is dropped silently: the result gets its own date.
    if (name_ != "tIME" && !has_seen(name_) && seen_.size() < 100) seen_.push_back(name_);
  }

  bool parse_resolution(std::span<const std::byte> data) {
    if (data.size() != 9) return false;
    const PixelDensity stored{big32(data), big32(data.subspan(4))};
    if (stored.x == 0 || stored.y == 0) return false;
    const bool has_unit = data[8] == std::byte{1};
    chunks_.metadata.resolution =
        has_unit ? per_inch(stored) : Resolution{double(stored.x), double(stored.y), Resolution::Unit::none};
    return true;
  }

  bool parse_intent(std::span<const std::byte> data) {
    constexpr std::byte kMaxIntent{3};
    if (data.size() != 1 || data[0] > kMaxIntent || chunks_.pixel_bytes != 0) return false;
    chunks_.metadata.srgb_intent = std::to_integer<std::uint8_t>(data[0]);
    return true;
  }

  /// acTL: number of frames, number of plays. It is ignored after the pixels (PNG 3, 11.3.6.1).
  void read_animation() {
    if (length_ != 8 || chunks_.pixel_bytes != 0) return;
    std::byte frames[4];
    bytes_.read(frames);
    frames_ = big32(frames);
  }

  bool parse_exif(std::span<const std::byte> data) {
    if (std::exchange(has_exif_, true)) return true;
    ExifRead read = read_exif(data);
    chunks_.metadata.orientation = read.orientation;
    chunks_.metadata.exif = std::move(read.exif);
    if (read.damaged) chunks_.warnings.emplace_back("the EXIF data are damaged and left out");
    if (read.lost) chunks_.warnings.emplace_back("a part of the EXIF data is damaged and left out");
    return true;
  }

  /// tEXt: keyword, zero, Latin-1.
  bool parse_text(std::string_view data) {
    const auto keyword = read_until_zero(data);
    return keyword && store_text(*keyword, latin1_to_utf8(data));
  }

  /// iTXt: keyword, zero, compression flag and method, language, zero, translated keyword, zero, UTF-8.
  bool parse_international_text(std::string_view data) {
    const auto keyword = read_until_zero(data);
    if (!keyword || data.size() < 2 || data[0] != 0) return false;
    data.remove_prefix(2);
    if (!read_until_zero(data) || !read_until_zero(data)) return false;
    if (*keyword == kPngXmpKeyword && chunks_.metadata.xmp.empty()) {
      const auto packet = std::as_bytes(std::span(data));
      chunks_.metadata.xmp.assign(packet.begin(), packet.end());
      return true;
    }
    return store_text(*keyword, std::string(data));
  }

  bool store_text(std::string_view keyword, std::string text) {
    const auto* const known = std::ranges::find(kPngTexts, keyword, &PngText::keyword);
    if (known == std::end(kPngTexts) || text.find('\0') != text.npos) return false;
    std::string& destination = chunks_.metadata.*known->text;
    constexpr std::size_t tiff_date = 19;
    if (!destination.empty() || (known->text == &Metadata::date_time && text.size() != tiff_date))
      return false;
    destination = std::move(text);
    return true;
  }

  bool has_seen(std::string_view name) const { return std::ranges::find(seen_, name) != seen_.end(); }

  void add_warnings() {
    if (chunks_.images > 1) {
      chunks_.warnings.push_back(
          fmt::format("of {} images (an animation) only the one that is shown without animation is read",
                      chunks_.images));
      std::erase_if(
          seen_, [](const std::string& name) { return name == "acTL" || name == "fcTL" || name == "fdAT"; });
    }
    // A profile overrides sRGB, gAMA and cHRM, and sRGB overrides gAMA and cHRM (11.3.2).
    const bool has_colour_space = chunks_.metadata.srgb_intent || has_seen("iCCP");
    if (has_seen("iCCP")) chunks_.metadata.srgb_intent.reset();
    std::erase_if(seen_, [&](const std::string& name) {
      return name == "IHDR" || name == "PLTE" || name == "tRNS" || name == "iCCP" ||
             (has_colour_space && (name == "gAMA" || name == "cHRM"));
    });
    if (seen_.empty()) return;
    seen_.resize(std::min(seen_.size(), kMaxNames));
    chunks_.warnings.push_back(fmt::format("{} of PNG {} left out: {}",
                                           seen_.size() == 1 ? "a chunk" : "chunks",
                                           seen_.size() == 1 ? "is" : "are", fmt::join(seen_, ", ")));
  }

  const InputFile& file_;
  InputBytes bytes_;
  std::int64_t length_ = 0;
  std::string name_;
  bool has_exif_ = false;
  std::int64_t frames_ = 0;
  bool default_image_is_frame_ = false;
  std::vector<std::string> seen_;
  PngChunks chunks_;
};

}  // namespace

PngChunks read_png_chunks(const InputFile& file) { return ChunkReader(file).read_all(); }

}  // namespace sepconv
