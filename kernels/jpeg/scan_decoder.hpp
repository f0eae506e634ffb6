// The first stage of JPEG decoding: the header and the entropy-coded data, to coefficients. A stream is
// decoded sequentially; many streams are decoded in parallel. The same source for a warp and for a host
// thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/host_device.hpp"
#include "kernels/jpeg/header.hpp"
#include "kernels/jpeg/huffman.hpp"

namespace sepconv::jpeg {

/// Tables in memory that the lanes share.
struct Tables {
  HuffmanTable huffman[2][kHuffmanTables];
  std::uint16_t quant[kMaxComponents][kCoefficients];  ///< in zigzag order
  std::uint8_t natural[kCoefficients];                 ///< zigzag order to natural order
};

/// Natural-order index (row * 8 + column) of coefficient `k` of the zigzag sequence (A.3.6).
SEPCONV_HOST_DEVICE inline int natural_index(int k) {
  // Every second diagonal runs upwards; the second half mirrors the first.
  const bool is_mirrored = k >= kCoefficients / 2;
  int step = is_mirrored ? kCoefficients - 1 - k : k, diagonal = 0;
  while (step > diagonal) step -= ++diagonal;
  const int row = diagonal % 2 == 0 ? diagonal - step : step;
  const int index = row * kSide + diagonal - row;
  return is_mirrored ? kCoefficients - 1 - index : index;
}

/// Decodes the coefficients of all blocks, dequantised, in natural order. `coefficients` has kBlockBytes for
/// each of the geometry's blocks and is aligned to 16 bytes.
template <class ThreadGroup>
class ScanDecoder {
 public:
  SEPCONV_HOST_DEVICE ScanDecoder(const std::byte* stream, std::int64_t bytes, const Geometry& geometry,
                                  std::byte* coefficients, Tables& tables)
      : stream_(reinterpret_cast<const std::uint8_t*>(stream)),
        bytes_(bytes),
        geometry_(geometry),
        coefficients_(reinterpret_cast<std::int16_t*>(coefficients)),
        tables_(tables),
        bits_(stream_, stream_) {}

  /// Returns false if the JPEG is refused; the coefficients are then undefined. All lanes return the same.
  SEPCONV_HOST_DEVICE bool run() {
    if (!HeaderParser(stream_, bytes_, geometry_).run(header_) || !build_tables()) return false;
    clear();
    bits_ = ScanBits(stream_ + header_.scan, stream_ + bytes_);
    return decode_mcus();
  }

 private:
  SEPCONV_HOST_DEVICE bool build_tables() {
    for (int kind = 0; kind < 2; ++kind) {
      for (int i = 0; i < kHuffmanTables; ++i) {
        const std::int64_t at = header_.huffman[kind][i];
        const unsigned max_symbol = kind == 0 ? kMaxDcBits : 255;
        if (is_used(kind, i) && !tables_.huffman[kind][i].build(group_, stream_ + at, max_symbol))
          return false;
      }
    }
    for (unsigned k = ThreadGroup::lane(); k < kCoefficients; k += ThreadGroup::kLanes) {
      tables_.natural[k] = static_cast<std::uint8_t>(natural_index(static_cast<int>(k)));
      for (int i = 0; i < geometry_.components; ++i) tables_.quant[i][k] = quant(header_.quant_table[i], k);
    }
    group_.sync();
    return true;
  }

  SEPCONV_HOST_DEVICE std::uint16_t quant(int table, unsigned k) const {
    const std::uint8_t* const values = stream_ + header_.quant[table];
    return header_.quant_is_wide[table] ? static_cast<std::uint16_t>(values[2 * k] << 8 | values[2 * k + 1])
                                        : values[k];
  }

  SEPCONV_HOST_DEVICE bool is_used(int kind, int table) const {
    const std::uint8_t* const used = kind == 0 ? header_.dc_table : header_.ac_table;
    for (int i = 0; i < geometry_.components; ++i)
      if (used[i] == table) return true;
    return false;
  }

  SEPCONV_HOST_DEVICE void clear() {
    const std::int64_t count = std::int64_t{geometry_.blocks()} * kCoefficients;
    for (std::int64_t i = ThreadGroup::lane(); i < count; i += ThreadGroup::kLanes) coefficients_[i] = 0;
    group_.sync();
  }

  SEPCONV_HOST_DEVICE bool decode_mcus() {
    const std::int32_t rows = geometry_.mcu_rows(), cols = geometry_.mcu_cols();
    std::int32_t left = header_.restart_interval;
    int restart = 0;
    for (std::int32_t row = 0; row < rows; ++row) {
      for (std::int32_t col = 0; col < cols; ++col) {
        if (header_.restart_interval > 0 && left-- == 0) {
          if (!bits_.read_marker(0xD0 + restart)) return false;
          restart = (restart + 1) % 8;
          left = header_.restart_interval - 1;
          for (int& dc : dc_) dc = 0;
        }
        if (!decode_mcu(row, col)) return false;
      }
    }
    return bits_.read_marker(0xD9);
  }

  SEPCONV_HOST_DEVICE bool decode_mcu(std::int32_t row, std::int32_t col) {
    for (int component = 0; component < geometry_.components; ++component) {
      const int across = component == 0 ? geometry_.across : 1, down = component == 0 ? geometry_.down : 1;
      const std::int64_t first = geometry_.first_block(component) +
                                 std::int64_t{row} * down * geometry_.blocks_across(component) + col * across;
      for (int y = 0; y < down; ++y) {
        for (int x = 0; x < across; ++x) {
          const std::int64_t index = first + y * geometry_.blocks_across(component) + x;
          if (!decode_block(component, coefficients_ + index * kCoefficients)) return false;
        }
      }
    }
    return true;
  }

  SEPCONV_HOST_DEVICE bool decode_block(int component, std::int16_t* to) {
    const std::uint16_t* const quant = tables_.quant[component];
    const int size = decode_symbol(tables_.huffman[0][header_.dc_table[component]]);
    if (size < 0) return false;
    int& dc = dc_[component];
    if (size > 0) dc += bits_.value(static_cast<unsigned>(size));
    if (dc < -kMax || dc > kMax || !store_coefficient(dc * quant[0], to)) return false;
    const HuffmanTable& table = tables_.huffman[1][header_.ac_table[component]];
    for (int k = 1; k < kCoefficients; ++k) {
      const int code = decode_symbol(table);
      if (code <= 0) {
        if (code == 0) break;
        return false;
      }
      k += code >> 4;
      const unsigned bits = static_cast<unsigned>(code) & 0xF;
      if (k >= kCoefficients || bits > kMaxAcBits || (bits == 0 && code != 0xF0)) return false;
      if (bits > 0 && !store_coefficient(bits_.value(bits) * quant[k], to + tables_.natural[k])) return false;
    }
    return !bits_.ran_out();
  }

  /// Returns -1 for an invalid code.
  SEPCONV_HOST_DEVICE int decode_symbol(const HuffmanTable& table) {
    bits_.fill();
    const std::uint32_t next = bits_.peek();
    const unsigned lookup = table.lookup[next >> (kMaxCodeBits - kLookBits)];
    if (lookup != 0) {
      bits_.skip(lookup >> 8);
      return static_cast<int>(lookup & 0xFF);
    }
    const unsigned length = table.length_of(next, kLookBits + 1, kMaxCodeBits);
    if (length > kMaxCodeBits) return -1;
    bits_.skip(length);
    return static_cast<int>(table.symbol_of(next, length));
  }

  /// Stores a coefficient. All lanes have the same value; one stores it. Returns false if it is out of range.
  SEPCONV_HOST_DEVICE bool store_coefficient(int value, std::int16_t* to) const {
    if (ThreadGroup::lane() == 0) *to = static_cast<std::int16_t>(value);
    return value >= -kMax && value <= kMax;
  }

  static constexpr int kMax = kMaxCoefficient;
  static constexpr unsigned kMaxDcBits = 11, kMaxAcBits = 10;  // of 8-bit pixels (F.1.2)

  ThreadGroup group_;
  const std::uint8_t* stream_;
  std::int64_t bytes_;
  Geometry geometry_;
  std::int16_t* coefficients_;
  Tables& tables_;
  Header header_;
  ScanBits bits_;
  int dc_[kMaxComponents] = {0, 0, 0};
};

}  // namespace sepconv::jpeg
