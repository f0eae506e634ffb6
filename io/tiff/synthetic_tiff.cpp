#include "io/tiff/synthetic_tiff.hpp"

#include <tiff.h>

#include <algorithm>
#include <utility>

namespace sepconv {
namespace {

using Bytes = std::vector<std::byte>;

/// Collects entries, in ascending order of tags, and lays them out as a classic TIFF (TIFF 6.0, section 2).
class DirectoryBytes {
 public:
  explicit DirectoryBytes(bool big_endian) : big_endian_(big_endian) {}

  void add_long(std::uint16_t tag, std::int64_t value) {
    Bytes data;
    put(data, static_cast<std::uint64_t>(value), 4);
    entries_.push_back({tag, TIFF_LONG, 1, std::move(data)});
  }
  void add_shorts(std::uint16_t tag, std::int64_t count, std::uint16_t value) {
    Bytes data;
    for (std::int64_t i = 0; i < count; ++i) put(data, value, 2);
    entries_.push_back({tag, TIFF_SHORT, count, std::move(data)});
  }
  void add_short(std::uint16_t tag, std::uint16_t value) { add_shorts(tag, 1, value); }
  void add_pair(std::uint16_t tag, const std::array<std::uint16_t, 2>& values) {
    Bytes data;
    for (const std::uint16_t value : values) put(data, value, 2);
    entries_.push_back({tag, TIFF_SHORT, 2, std::move(data)});
  }
  void add_bytes(std::uint16_t tag, Bytes data) {
    const auto count = static_cast<std::int64_t>(data.size());
    entries_.push_back({tag, TIFF_UNDEFINED, count, std::move(data)});
  }

  Bytes finish() const {
    constexpr std::uint64_t kDirectoryOffset = 8;
    Bytes file;
    for (int i = 0; i < 2; ++i) file.push_back(static_cast<std::byte>(big_endian_ ? 'M' : 'I'));
    put(file, 42, 2);
    put(file, kDirectoryOffset, 4);
    put(file, entries_.size(), 2);
    Bytes overflow;
    const std::uint64_t overflow_offset = kDirectoryOffset + 2 + 12 * entries_.size() + 4;
    for (const Entry& entry : entries_) {
      put(file, entry.tag, 2);
      put(file, entry.type, 2);
      put(file, static_cast<std::uint64_t>(entry.count), 4);
      Bytes field = entry.data;
      if (field.size() > 4) {
        field.clear();
        put(field, overflow_offset + overflow.size(), 4);
        overflow.insert(overflow.end(), entry.data.begin(), entry.data.end());
        if (overflow.size() % 2 != 0) overflow.push_back({});
      }
      field.resize(4);
      file.insert(file.end(), field.begin(), field.end());
    }
    put(file, 0, 4);
    file.insert(file.end(), overflow.begin(), overflow.end());
    return file;
  }

 private:
  struct Entry {
    std::uint16_t tag;
    std::uint16_t type;
    std::int64_t count;
    Bytes data;
  };

  void put(Bytes& to, std::uint64_t value, int bytes) const {
    for (int i = 0; i < bytes; ++i) {
      const int shift = 8 * (big_endian_ ? bytes - 1 - i : i);
      to.push_back(static_cast<std::byte>(value >> shift));
    }
  }

  bool big_endian_;
  std::vector<Entry> entries_;
};

}  // namespace

std::vector<std::byte> one_block_tiff(const BlockFormat& format) {
  DirectoryBytes directory(format.big_endian);
  directory.add_long(TIFFTAG_IMAGEWIDTH, format.extent.cols);
  directory.add_long(TIFFTAG_IMAGELENGTH, format.extent.rows);
  directory.add_shorts(TIFFTAG_BITSPERSAMPLE, format.channels, static_cast<std::uint16_t>(format.type.bits));
  directory.add_short(TIFFTAG_COMPRESSION, format.compression);
  directory.add_short(TIFFTAG_PHOTOMETRIC, format.photometric);
  directory.add_short(TIFFTAG_FILLORDER, format.fill_order);
  directory.add_long(TIFFTAG_STRIPOFFSETS, 8);  // never read
  directory.add_short(TIFFTAG_SAMPLESPERPIXEL, static_cast<std::uint16_t>(format.channels));
  directory.add_long(TIFFTAG_ROWSPERSTRIP, format.extent.rows);
  directory.add_long(TIFFTAG_STRIPBYTECOUNTS, 1);  // never read
  directory.add_short(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  directory.add_short(TIFFTAG_PREDICTOR, format.predictor);
  directory.add_shorts(TIFFTAG_SAMPLEFORMAT, format.channels, sample_format(format.type));
  if (!format.jpeg_tables.empty()) directory.add_bytes(TIFFTAG_JPEGTABLES, format.jpeg_tables);
  if (format.photometric == PHOTOMETRIC_YCBCR)
    directory.add_pair(TIFFTAG_YCBCRSUBSAMPLING, format.subsampling);
  return directory.finish();
}

}  // namespace sepconv
