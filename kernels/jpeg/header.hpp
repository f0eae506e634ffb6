// Parser of a JPEG's header up to the scan (ITU-T T.81, B.2): positions of the tables, and the tables of each
// component. Accepts only what encoders of TIFF images write: baseline or extended sequential Huffman coding
// of 8 bits, all components in one scan. The same source for a GPU and for a host thread.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "kernels/jpeg/geometry.hpp"

namespace sepconv::jpeg {

inline constexpr int kMaxComponents = 3;
inline constexpr int kQuantTables = 4;
inline constexpr int kHuffmanTables = 2;  ///< per class, as in baseline JPEG

/// Positions are byte offsets in the stream; 0: the table does not exist.
struct Header {
  std::int64_t quant[kQuantTables];         ///< 64 values, in zigzag order
  bool quant_is_wide[kQuantTables];         ///< values of 16 bits instead of 8
  std::int64_t huffman[2][kHuffmanTables];  ///< [DC, AC]: 16 counts, then the symbols
  std::uint8_t id[kMaxComponents];
  std::uint8_t quant_table[kMaxComponents], dc_table[kMaxComponents], ac_table[kMaxComponents];
  std::int32_t restart_interval;  ///< in MCUs; 0: no restarts
  std::int64_t scan;              ///< first byte of the entropy-coded data
};

/// Parses the segments. Rejects everything that libjpeg would warn of or decode differently.
class HeaderParser {
 public:
  SEPCONV_HOST_DEVICE HeaderParser(const std::uint8_t* stream, std::int64_t bytes, const Geometry& geometry)
      : stream_(stream), bytes_(bytes), geometry_(geometry) {}

  /// Returns false if the JPEG is refused.
  SEPCONV_HOST_DEVICE bool run(Header& header) {
    header = Header{};
    if (bytes_ < 2 || stream_[0] != 0xFF || stream_[1] != 0xD8) return false;
    bool has_frame = false;
    for (std::int64_t at = 2; bytes_ - at >= 4;) {
      const std::int64_t end = at + 2 + big_endian_16(at + 2);
      if (stream_[at] != 0xFF || big_endian_16(at + 2) < 2 || end > bytes_) return false;
      const int marker = stream_[at + 1];
      at += 4;
      switch (marker) {
        case 0xDB:
          if (!quant_tables(at, end, header)) return false;
          break;
        case 0xC4:
          if (!huffman_tables(at, end, header)) return false;
          break;
        case 0xC0:
        case 0xC1:
          if (has_frame || !frame(at, end, header)) return false;
          has_frame = true;
          break;
        case 0xDD:
          if (end - at != 2) return false;
          header.restart_interval = big_endian_16(at);
          break;
        case 0xDA:
          header.scan = end;
          return has_frame && scan(at, end, header);
        default:
          if (!may_skip(marker, at, end)) return false;
      }
      at = end;
    }
    return false;
  }

 private:
  SEPCONV_HOST_DEVICE int big_endian_16(std::int64_t at) const { return stream_[at] << 8 | stream_[at + 1]; }
  SEPCONV_HOST_DEVICE bool matches_text(std::int64_t at, const char* word, int count) const {
    for (int i = 0; i < count; ++i)
      if (stream_[at + i] != static_cast<std::uint8_t>(word[i])) return false;
    return true;
  }

  SEPCONV_HOST_DEVICE bool quant_tables(std::int64_t at, std::int64_t end, Header& header) const {
    while (at < end) {
      const int table = stream_[at] & 0xF, is_wide = stream_[at] >> 4;
      const std::int64_t bytes = kCoefficients * (1 + is_wide);
      if (table >= kQuantTables || is_wide > 1 || end - at < 1 + bytes) return false;
      header.quant[table] = at + 1;
      header.quant_is_wide[table] = is_wide != 0;
      at += 1 + bytes;
    }
    return at == end;
  }

  SEPCONV_HOST_DEVICE bool huffman_tables(std::int64_t at, std::int64_t end, Header& header) const {
    while (at < end) {
      const int table = stream_[at];
      if (end - at < 17 || (table & 0xF) >= kHuffmanTables || table >> 4 > 1) return false;
      int symbols = 0;
      for (int length = 1; length <= 16; ++length) symbols += stream_[at + length];
      if (symbols > 256 || symbols > end - at - 17) return false;
      header.huffman[table >> 4][table & 0xF] = at + 1;
      at += 17 + symbols;
    }
    return at == end;
  }

  SEPCONV_HOST_DEVICE bool frame(std::int64_t at, std::int64_t end, Header& header) const {
    const int count = geometry_.components;
    if (end - at != 6 + 3 * count || stream_[at] != 8 || stream_[at + 5] != count ||
        big_endian_16(at + 1) != geometry_.rows || big_endian_16(at + 3) != geometry_.cols)
      return false;
    for (int i = 0; i < count; ++i) {
      const std::uint8_t* const component = stream_ + at + 6 + 3 * i;
      const int sampling = i == 0 ? geometry_.across << 4 | geometry_.down : 0x11;
      if (component[1] != sampling || component[2] >= kQuantTables) return false;
      header.id[i] = component[0];
      header.quant_table[i] = component[2];
      for (int previous = 0; previous < i; ++previous)
        if (header.id[previous] == component[0]) return false;
    }
    return true;
  }

  SEPCONV_HOST_DEVICE bool scan(std::int64_t at, std::int64_t end, Header& header) const {
    const int count = geometry_.components;
    if (end - at != 4 + 2 * count || stream_[at] != count) return false;
    for (int i = 0; i < count; ++i) {
      const int id = stream_[at + 1 + 2 * i], tables = stream_[at + 2 + 2 * i];
      const int dc = tables >> 4, ac = tables & 0xF;
      if (id != header.id[i] || dc >= kHuffmanTables || ac >= kHuffmanTables || header.huffman[0][dc] == 0 ||
          header.huffman[1][ac] == 0 || header.quant[header.quant_table[i]] == 0)
        return false;
      header.dc_table[i] = static_cast<std::uint8_t>(dc);
      header.ac_table[i] = static_cast<std::uint8_t>(ac);
    }
    const std::uint8_t* const band = stream_ + at + 1 + 2 * count;
    return band[0] == 0 && band[1] == kCoefficients - 1 && band[2] == 0;
  }

  /// Whether a comment or application segment may be skipped; false if libjpeg would warn of it.
  SEPCONV_HOST_DEVICE bool may_skip(int marker, std::int64_t at, std::int64_t end) const {
    if (marker == 0xE0 && end - at >= 6 && matches_text(at, "JFIF", 4))
      return stream_[at + 5] == 1;  // its version
    if (marker == 0xEE && end - at >= 12 && matches_text(at, "Adobe", 5))
      return stream_[at + 11] <= 1;  // transform
    return (marker >= 0xE0 && marker <= 0xEF) || marker == 0xFE;
  }

  const std::uint8_t* stream_;
  std::int64_t bytes_;
  Geometry geometry_;
};

}  // namespace sepconv::jpeg
