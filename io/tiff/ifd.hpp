// Reads the directories of a TIFF without libtiff: the images of the file, their tags and the sizes of these,
// and the lengths of the block tables.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "io/byte_file.hpp"

namespace sepconv {

/// A directory entry: TIFF 6.0, section 2, and BigTIFF.
struct TiffEntry {
  std::uint32_t tag = 0;
  std::uint16_t type = 0;
  std::uint64_t count = 0;
  std::int64_t value_offset = 0;                ///< offset in the file
  std::optional<std::uint64_t> inline_value{};  ///< the first value if it is an integer stored in the entry
  /// Bytes of all values; more than any file has if the product would overflow.
  std::int64_t bytes() const noexcept;
};

/// A directory.
struct TiffEntries {
  std::vector<TiffEntry> list;
  std::uint64_t next = 0;  ///< offset of the next directory; 0: it is the last
  enum class Kind : std::uint8_t {
    image,
    reduced,
    mask
  } kind = Kind::image;  ///< by NewSubfileType, or SubfileType

  const TiffEntry* find(std::uint32_t tag) const noexcept;
};

/// Iterates over a chain of directories until it ends or is invalid. libtiff reports damage.
class TiffChain {
 public:
  explicit TiffChain(const InputFile& file);

  /// Returns the first directory, then the next one; null after the last.
  std::optional<TiffEntries> next();
  /// Offset of the directory that next() returns; 0 after the last.
  std::uint64_t next_offset() const noexcept { return next_; }
  /// Returns the directory at this offset, whether in a chain or not; null if it is invalid.
  std::optional<TiffEntries> at(std::uint64_t offset) const { return read(offset); }
  bool big_tiff() const noexcept { return big_tiff_; }
  bool big_endian() const noexcept { return big_endian_; }
  /// Whether the chain ended with an invalid offset or a cycle.
  bool broken() const noexcept { return broken_; }
  /// First value of an entry of unsigned integers; null for other types and beyond the end of the file.
  std::optional<std::uint64_t> number(const TiffEntry& entry) const { return number(entry, 0); }
  std::optional<std::uint64_t> number(const TiffEntry& entry, std::uint64_t index) const;

 private:
  std::optional<TiffEntries> read(std::uint64_t offset) const;
  TiffEntries::Kind kind_of(const TiffEntries& entries) const;
  std::uint64_t number_at(std::int64_t offset, int bytes) const;

  const InputFile& file_;
  bool big_tiff_ = false;
  bool big_endian_ = false;
  bool broken_ = false;
  std::uint64_t next_ = 0;
  std::unordered_set<std::uint64_t> visited_;  // a cycle ends the chain
};

}  // namespace sepconv
