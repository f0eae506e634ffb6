// CRC-32C (RFC 3720: Castagnoli polynomial, reflected), slicing by eight tables.
#include "io/crc32c.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace sepconv {
namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78;

/// Table k contains the remainders of a byte followed by k zero bytes.
constexpr auto kTables = [] {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte)
      tables[k][byte] = tables[k - 1][byte] >> 8 ^ tables[0][tables[k - 1][byte] & 0xFF];
  }
  return tables;
}();

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t previous_crc) noexcept {
  std::uint32_t crc = ~previous_crc;
  while (std::endian::native == std::endian::little && bytes.size() >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    word ^= crc;
    crc = 0;
    for (std::size_t k = 0; k < 8; ++k) crc ^= kTables[7 - k][word >> 8 * k & 0xFF];
    bytes = bytes.subspan(8);
  }
  for (const std::byte byte : bytes)
    crc = crc >> 8 ^ kTables[0][(crc ^ static_cast<std::uint8_t>(byte)) & 0xFF];
  return ~crc;
}

}  // namespace sepconv
