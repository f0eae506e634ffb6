#include "io/exif.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "io/byte_order.hpp"

namespace sepconv {
namespace {

constexpr std::uint32_t kOrientation = 0x0112;
constexpr std::uint32_t kPixelCols = 0xA002, kPixelRows = 0xA003;
constexpr std::uint32_t kNumberOfImages = 0xB001;
constexpr std::uint16_t kShort = 3;
constexpr std::uint16_t kLong = 4;
constexpr std::uint16_t kLong8 = 16;
constexpr std::size_t kHeaderBytes = 8;
constexpr bool kIsBigEndian = std::endian::native == std::endian::big;

struct Entry {
  std::uint32_t tag = 0;
  std::uint16_t type = 0;
  std::uint32_t count = 0;
  std::size_t value = 0;  ///< offset of the value, in the entry or elsewhere
};

/// Reads the directories (IFDs) of EXIF.
class Directories {
 public:
  explicit Directories(std::span<const std::byte> tiff) : tiff_(tiff) {
    is_tiff_ = has(0, kHeaderBytes) &&
               (std::memcmp(tiff.data(), "MM", 2) == 0 || std::memcmp(tiff.data(), "II", 2) == 0);
    big_endian_ = is_tiff_ && std::memcmp(tiff.data(), "MM", 2) == 0;
    is_tiff_ = is_tiff_ && number(2, 2) == 42;
  }

  bool is_tiff() const noexcept { return is_tiff_; }
  std::size_t first() const noexcept { return number(4, 4); }

  /// Calls `visit` for each entry of the directory. Returns false if the directory does not exist.
  template <class Take>
  bool for_each(std::size_t directory, const Take& visit) const {
    constexpr std::size_t entry_bytes = 12;
    if (!is_tiff_ || !has(directory, 2)) return false;
    const std::size_t entries = directory + 2;
    const std::size_t bytes = number(directory, 2) * entry_bytes;
    if (!has(entries, bytes)) return false;
    for (std::size_t offset = entries; offset < entries + bytes; offset += entry_bytes) {
      Entry entry{number(offset, 2), static_cast<std::uint16_t>(number(offset + 2, 2)), number(offset + 4, 4),
                  offset + 8};
      const std::size_t width = field_width(entry.type).value;
      if (width * entry.count > 4) entry.value = number(offset + 8, 4);
      visit(entry);
    }
    return true;
  }

  std::uint32_t first_number(const Entry& entry) const noexcept {
    return number(entry.value, entry.type == kShort ? 2 : 4);
  }

  /// Returns null if the value is outside the data.
  std::optional<RawTag> value(const Entry& entry) const {
    const FieldWidth width = field_width(entry.type);
    const std::size_t bytes = width.value * entry.count;
    if (width.value == 0 || entry.count == 0 || !has(entry.value, bytes)) return std::nullopt;
    RawTag raw{entry.tag, entry.type, entry.count, {}};
    const auto stored = tiff_.subspan(entry.value, bytes);
    raw.data.assign(stored.begin(), stored.end());
    for (std::size_t at = 0; big_endian_ != kIsBigEndian && at < bytes; at += width.word)
      std::reverse(raw.data.begin() + static_cast<std::ptrdiff_t>(at),
                   raw.data.begin() + static_cast<std::ptrdiff_t>(at + width.word));
    return raw;
  }

 private:
  bool has(std::size_t offset, std::size_t count) const noexcept {
    return offset <= tiff_.size() && count <= tiff_.size() - offset;
  }
  std::uint32_t number(std::size_t at, std::size_t bytes) const noexcept {
    return has(at, bytes) ? static_cast<std::uint32_t>(read_unsigned(tiff_.subspan(at, bytes), big_endian_))
                          : 0;
  }

  std::span<const std::byte> tiff_;
  bool is_tiff_ = false;
  bool big_endian_ = false;
};

class ExifReader {
 public:
  explicit ExifReader(std::span<const std::byte> tiff) : directories_(tiff), remaining_bytes_(tiff.size()) {}

  ExifRead read() {
    Exif& exif = read_.exif;
    if (!read_directory(directories_.first(), exif.image) || read_.damaged) return {.damaged = true};
    read_optional_directory(exif_ifd_, exif.photo);
    read_optional_directory(gps_ifd_, exif.place);
    read_optional_directory(interoperability_ifd_, exif.interoperability);
    return std::move(read_);
  }

 private:
  bool read_directory(std::size_t directory, std::vector<RawTag>& tags) {
    return directories_.for_each(directory, [&](const Entry& entry) {
      const bool is_first = &tags == &read_.exif.image;
      if (entry.tag == kExifPointer && is_first) exif_ifd_ = directories_.first_number(entry);
      if (entry.tag == kGpsPointer && is_first) gps_ifd_ = directories_.first_number(entry);
      if (entry.tag == kInteroperabilityPointer) interoperability_ifd_ = directories_.first_number(entry);
      if (entry.tag == kOrientation && is_first) read_orientation(entry);
      if (is_first && !is_retained_exif_tag(entry.tag)) return;
      if (entry.tag == kInteroperabilityPointer) return;
      read_value(entry, tags);
    });
  }

  void read_optional_directory(std::size_t directory, std::vector<RawTag>& tags) {
    if (directory == 0 || (read_directory(directory, tags) && !std::exchange(read_.damaged, false))) return;
    read_.lost = true;
    tags.clear();
  }

  void read_orientation(const Entry& entry) {
    const std::uint32_t value = directories_.first_number(entry);
    if (entry.type != kShort || entry.count != 1 || value < 1 || value > 8)
      read_.damaged = true;
    else
      read_.orientation = static_cast<std::uint16_t>(value);
  }

  /// Limits the total size, as overlapping values could exceed that of the file.
  void read_value(const Entry& entry, std::vector<RawTag>& tags) {
    std::optional<RawTag> raw = directories_.value(entry);
    if (!raw) return;
    if (raw->data.size() > remaining_bytes_) {
      read_.damaged = true;
      return;
    }
    remaining_bytes_ -= raw->data.size();
    if (entry.tag == kMakerNote && raw->data.size() > 4)
      read_.exif.maker_note_offset = static_cast<std::uint32_t>(entry.value);
    tags.push_back(std::move(*raw));
  }

  Directories directories_;
  std::size_t remaining_bytes_;
  std::size_t exif_ifd_ = 0, gps_ifd_ = 0, interoperability_ifd_ = 0;
  ExifRead read_;
};

template <class Number>
std::vector<std::byte> bytes_of(Number number) {
  std::vector<std::byte> bytes(sizeof number);
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

void set_number(std::vector<RawTag>& tags, std::uint32_t tag, std::uint16_t type, std::uint64_t value) {
  std::erase_if(tags, [tag](const RawTag& raw) { return raw.tag == tag; });
  RawTag raw{tag, type, 1, {}};
  if (type == kShort) raw.data = bytes_of(static_cast<std::uint16_t>(value));
  if (type == kLong) raw.data = bytes_of(static_cast<std::uint32_t>(value));
  if (type == kLong8) raw.data = bytes_of(value);
  tags.push_back(std::move(raw));
}

bool has_tag(const std::vector<RawTag>& tags, std::uint32_t tag) {
  return std::ranges::find(tags, tag, &RawTag::tag) != tags.end();
}

/// Writes directories consecutively, in the machine's byte order.
class DirectoryWriter {
 public:
  DirectoryWriter(std::uint64_t begin, bool big_tiff) : begin_(begin), big_tiff_(big_tiff) {}

  void put(std::span<const std::byte> data) { bytes_.insert(bytes_.end(), data.begin(), data.end()); }
  void pad_to(std::size_t size) { bytes_.resize(std::max(bytes_.size(), size)); }
  std::vector<std::byte>& bytes() noexcept { return bytes_; }

  /// Returns the offset of the directory, or 0 without tags.
  std::uint64_t add(std::vector<RawTag> tags) {
    if (tags.empty()) return 0;
    std::ranges::stable_sort(tags, {}, &RawTag::tag);
    const std::size_t inline_bytes = big_tiff_ ? 8 : 4;
    std::vector<std::uint64_t> offsets;
    for (const RawTag& raw : tags) {
      const bool has_fixed_offset = raw.tag == kMakerNote && maker_note_offset_ != 0;
      if (raw.data.size() > inline_bytes && !has_fixed_offset) align();
      offsets.push_back(has_fixed_offset ? maker_note_offset_ : begin_ + bytes_.size());
      if (raw.data.size() > inline_bytes && !has_fixed_offset) put(raw.data);
    }
    align();
    const std::uint64_t directory = begin_ + bytes_.size();
    put_number(tags.size(), big_tiff_ ? 8 : 2);
    for (std::size_t i = 0; i < tags.size(); ++i) add_entry(tags[i], offsets[i], inline_bytes);
    put_number(0, inline_bytes);
    return directory;
  }

  void set_maker_note_offset(std::uint64_t offset) { maker_note_offset_ = offset; }
  std::uint16_t pointer_type() const noexcept { return big_tiff_ ? kLong8 : kLong; }

 private:
  void align() { bytes_.resize(bytes_.size() + bytes_.size() % 2); }
  void put_number(std::uint64_t value, std::size_t width) {
    const std::vector<std::byte> all = bytes_of(value);
    put(std::span(all).subspan(kIsBigEndian ? sizeof value - width : 0, width));
  }
  void add_entry(const RawTag& raw, std::uint64_t offset, std::size_t inline_bytes) {
    put_number(raw.tag, 2);
    put_number(raw.type, 2);
    put_number(raw.count, inline_bytes);
    if (raw.data.size() > inline_bytes) return put_number(offset, inline_bytes);
    put(raw.data);
    bytes_.resize(bytes_.size() + inline_bytes - raw.data.size());
  }

  std::uint64_t begin_;
  bool big_tiff_;
  std::uint64_t maker_note_offset_ = 0;
  std::vector<std::byte> bytes_;
};

/// Writes the Exif directory with the size of the image.
std::uint64_t add_photo(DirectoryWriter& writer, const Exif& exif, Extent image) {
  std::vector<RawTag> photo = exif.photo;
  if (const std::uint64_t at = writer.add(exif.interoperability); at != 0)
    set_number(photo, kInteroperabilityPointer, writer.pointer_type(), at);
  if (has_tag(photo, kPixelCols))
    set_number(photo, kPixelCols, kLong, static_cast<std::uint64_t>(image.cols));
  if (has_tag(photo, kPixelRows))
    set_number(photo, kPixelRows, kLong, static_cast<std::uint64_t>(image.rows));
  return writer.add(std::move(photo));
}

}  // namespace

std::int64_t Exif::bytes() const noexcept {
  std::size_t sum = 0;
  for (const auto* const tags : {&image, &photo, &place, &interoperability})
    for (const RawTag& raw : *tags) sum += raw.data.size() + 20;
  return static_cast<std::int64_t>(sum);
}

ExifRead read_exif(std::span<const std::byte> tiff) { return ExifReader(tiff).read(); }

std::optional<std::uint32_t> mpf_image_count(std::span<const std::byte> tiff) noexcept {
  const Directories directories(tiff);
  std::optional<std::uint32_t> images;
  directories.for_each(directories.first(), [&](const Entry& entry) {
    if (entry.tag == kNumberOfImages && entry.type == kLong && entry.count == 1)
      images = directories.first_number(entry);
  });
  return images;
}

std::vector<std::byte> encode_exif(const Exif& exif, std::uint16_t orientation, Extent image) {
  DirectoryWriter writer(0, false);
  const char order = kIsBigEndian ? 'M' : 'I';
  writer.pad_to(kHeaderBytes);
  const auto note = std::ranges::find(exif.photo, kMakerNote, &RawTag::tag);
  if (exif.maker_note_offset >= kHeaderBytes && note != exif.photo.end()) {
    writer.pad_to(exif.maker_note_offset);
    writer.put(note->data);
    writer.set_maker_note_offset(exif.maker_note_offset);
  }
  std::vector<RawTag> first = exif.image;
  set_number(first, kOrientation, kShort, orientation);
  if (const std::uint64_t at = add_photo(writer, exif, image); at != 0)
    set_number(first, kExifPointer, kLong, at);
  if (const std::uint64_t at = writer.add(exif.place); at != 0) set_number(first, kGpsPointer, kLong, at);
  const auto at = static_cast<std::uint32_t>(writer.add(std::move(first)));
  std::vector<std::byte>& bytes = writer.bytes();
  bytes[0] = bytes[1] = static_cast<std::byte>(order);
  const std::uint16_t magic = 42;
  std::memcpy(bytes.data() + 2, &magic, sizeof magic);
  std::memcpy(bytes.data() + 4, &at, sizeof at);
  return std::move(bytes);
}

ExifInTiff encode_exif_for_tiff(const Exif& exif, Extent image, std::uint64_t offset, bool big_tiff) {
  DirectoryWriter writer(offset, big_tiff);
  Exif without_note = exif;
  std::erase_if(without_note.photo, [](const RawTag& raw) { return raw.tag == kMakerNote; });
  ExifInTiff result;
  result.photo = add_photo(writer, without_note, image);
  result.place = writer.add(exif.place);
  result.bytes = std::move(writer.bytes());
  return result;
}

void drop_resolution(Exif& exif) {
  std::erase_if(exif.image,
                [](const RawTag& raw) { return raw.tag == 282 || raw.tag == 283 || raw.tag == 296; });
}

}  // namespace sepconv
