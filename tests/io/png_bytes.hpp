// PNG files built byte by byte with uncompressed pixels, for tests of variants that our encoder does not
// write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sepconv::png_bytes {

inline std::string big32(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

inline std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

inline std::uint32_t adler32(std::string_view bytes) {
  std::uint32_t a = 1, b = 0;
  for (const char byte : bytes) {
    a = (a + static_cast<unsigned char>(byte)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

inline std::string chunk(std::string_view name, std::string_view data) {
  const std::string body = std::string(name) + std::string(data);
  return big32(static_cast<std::uint32_t>(data.size())) + body + big32(crc32(body));
}

/// A zlib stream of one stored block.
inline std::string stored(std::string_view data) {
  const auto size = static_cast<std::uint16_t>(data.size());
  std::string stream = "\x78\x01\x01";
  for (const std::uint16_t field : {size, static_cast<std::uint16_t>(~size)}) {
    stream += {static_cast<char>(field & 0xFF), static_cast<char>(field >> 8)};
  }
  return stream + std::string(data) + big32(adler32(data));
}

/// `pixel_rows`: filter byte and packed samples of each row. `between`: chunks before the pixels.
inline std::string file(std::uint32_t cols, std::uint32_t rows, int depth, int colour,
                        std::string_view pixel_rows, std::string_view between = {}, bool interlaced = false) {
  const std::string header = big32(cols) + big32(rows) +
                             std::string{static_cast<char>(depth), static_cast<char>(colour), '\0', '\0',
                                         static_cast<char>(interlaced)};
  return "\x89PNG\r\n\x1A\n" + chunk("IHDR", header) + std::string(between) +
         chunk("IDAT", stored(pixel_rows)) + chunk("IEND", "");
}

}  // namespace sepconv::png_bytes
