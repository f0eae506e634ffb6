// The directories of a TIFF as the file has them, read before libtiff makes anything of them: what images the
// file holds, what tags they carry and how large those are, and how long their tables of blocks are.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "io/byte_file.hpp"

namespace sepconv {

/// TIFF 6.0, section 2, and the BigTIFF extension of it.
struct TiffEntry {
  std::uint32_t tag = 0;
  std::uint16_t type = 0;
  std::uint64_t count = 0;
  std::int64_t value_offset = 0;  ///< in the file
  std::optional<std::uint64_t>
      in_place{};  ///< the first value, where it is an integer that lies in the entry
  /// Bytes of all values; more than any file has where they cannot be counted.
  std::int64_t bytes() const noexcept;
};

/// One directory.
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

/// The directories of a chain, until it ends or is no longer one: what is damaged is libtiff's to say.
class TiffChain {
 public:
  explicit TiffChain(const InputFile& file);

  /// The first directory, and the one after that which was returned last; nothing behind the last.
  std::optional<TiffEntries> next();
  /// Where the one that next() returns lies; 0 behind the last.
  std::uint64_t next_offset() const noexcept { return next_; }
  /// The directory at this offset, of a chain or not; nothing where there is none.
  std::optional<TiffEntries> at(std::uint64_t offset) const { return read(offset); }
  bool big_tiff() const noexcept { return big_tiff_; }
  bool big_endian() const noexcept { return big_endian_; }
  /// Whether the chain did not end but leads nowhere, or back.
  bool broken() const noexcept { return broken_; }
  /// The first value of an entry of integers; nothing for others and where the file ends.
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
  std::unordered_set<std::uint64_t> seen_;  // a chain that comes back has ended
};

}  // namespace sepconv
