#include "io/tiff/tiff_photograph.hpp"

#include <tiff.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "io/byte_order.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kMaxBytes = std::int64_t{1} << 20;  // each of EXIF, XMP and IPTC
constexpr std::size_t kMaxEntries = 1024;

class PhotographReader {
 public:
  explicit PhotographReader(const InputFile& file) : file_(file), chain_(file) {}

  std::optional<RawTag> value(const TiffEntry& entry) {
    const FieldWidth width = field_width(entry.type);
    const std::int64_t bytes = entry.bytes();
    if (width.value == 0 || bytes <= 0 || bytes > remaining_bytes_) return std::nullopt;
    RawTag raw{entry.tag, entry.type, entry.count, std::vector<std::byte>(static_cast<std::size_t>(bytes))};
    if (file_.read_some_at(entry.value_offset, raw.data) != bytes) return std::nullopt;
    remaining_bytes_ -= bytes;
    const bool is_native = chain_.big_endian() == (std::endian::native == std::endian::big);
    for (std::size_t at = 0; !is_native && at < raw.data.size(); at += width.word)
      std::reverse(raw.data.begin() + static_cast<std::ptrdiff_t>(at),
                   raw.data.begin() + static_cast<std::ptrdiff_t>(at + width.word));
    return raw;
  }

  bool has_maker_note() const noexcept { return has_maker_note_; }

  /// Returns the directory that an entry points to; empty if it is invalid.
  std::vector<RawTag> directory(const TiffEntry* pointer, std::vector<RawTag>* interoperability = nullptr) {
    std::vector<RawTag> tags;
    if (pointer == nullptr) return tags;
    const auto offset = chain_.number(*pointer);
    const auto entries = offset ? chain_.at(*offset) : std::nullopt;
    if (!entries || entries->list.size() > kMaxEntries) return tags;
    for (const TiffEntry& entry : entries->list) {
      if (entry.tag == kInteroperabilityPointer) {
        if (interoperability != nullptr) *interoperability = directory(&entry);
      } else if (entry.tag == kMakerNote) {
        has_maker_note_ = true;
      } else if (auto raw = value(entry)) {
        tags.push_back(std::move(*raw));
      }
    }
    return tags;
  }

 private:
  const InputFile& file_;
  TiffChain chain_;
  std::int64_t remaining_bytes_ = kMaxBytes;
  bool has_maker_note_ = false;
};

/// Undoes byte swapping: some writers store IPTC as 32-bit numbers in the file's byte order.
std::vector<std::byte> iptc_bytes(RawTag raw) {
  constexpr std::byte kDataSet{0x1C};  // begins each of its data sets
  const bool is_swapped = field_width(raw.type).word == 4 && raw.data.size() % 4 == 0 &&
                          raw.data[0] != kDataSet && raw.data[3] == kDataSet;
  for (std::size_t at = 0; is_swapped && at < raw.data.size(); at += 4)
    std::reverse(raw.data.begin() + static_cast<std::ptrdiff_t>(at),
                 raw.data.begin() + static_cast<std::ptrdiff_t>(at + 4));
  return std::move(raw.data);
}

}  // namespace

bool read_photograph(const InputFile& file, const TiffEntries& entries, Metadata& metadata) {
  PhotographReader photograph(file);
  Exif& exif = metadata.exif;
  exif.photo = photograph.directory(entries.find(kExifPointer), &exif.interoperability);
  exif.place = photograph.directory(entries.find(kGpsPointer));
  for (const std::uint32_t tag : {TIFFTAG_MAKE, TIFFTAG_MODEL}) {
    const TiffEntry* const entry = entries.find(tag);
    if (auto raw = entry == nullptr ? std::nullopt : photograph.value(*entry))
      exif.image.push_back(std::move(*raw));
  }
  if (const TiffEntry* const entry = entries.find(TIFFTAG_XMLPACKET))
    if (auto raw = PhotographReader(file).value(*entry)) metadata.xmp = std::move(raw->data);
  if (const TiffEntry* const entry = entries.find(TIFFTAG_RICHTIFFIPTC))
    if (auto raw = PhotographReader(file).value(*entry)) metadata.iptc = iptc_bytes(std::move(*raw));
  return photograph.has_maker_note();
}

}  // namespace sepconv
