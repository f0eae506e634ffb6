// The common part of the readers' fuzz targets: reads the properties, then all pixels, wholly and in part.
// Any sepconv::Error is accepted.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/error.hpp"
#include "core/memory.hpp"
#include "io/formats.hpp"
#include "memory_file.hpp"

namespace sepconv::fuzz {

/// Larger images are opened but not decoded, to save time for more inputs.
inline constexpr std::int64_t kMaxDecodedBytes = 16 << 20;

inline bool starts_with(const std::uint8_t* data, std::size_t size, std::string_view magic) {
  return size >= magic.size() && std::memcmp(data, magic.data(), magic.size()) == 0;
}

/// Decodes `rect` into a buffer of exact size, so that the address sanitizer detects an overflow.
inline void read_rect(Reader& reader, const Rect& rect) {
  ImageSpec spec = reader.spec();
  spec.extent = rect.extent();
  std::vector<std::byte> pixels(static_cast<std::size_t>(spec.bytes()));
  SerialExecutor executor;
  reader.read(rect, {pixels.data(), spec.extent, spec.channels, spec.type, spec.row_bytes()}, executor);
}

inline void read_all(Reader& reader) {
  const ImageSpec& spec = reader.spec();
  if (spec.row_bytes() > kMaxDecodedBytes || spec.bytes() > kMaxDecodedBytes) return;
  if (reader.layout().access == Access::random) {
    const Extent extent = spec.extent;
    read_rect(reader, {extent.rows / 3, extent.cols / 3, (extent.rows + 2) / 3, (extent.cols + 2) / 3});
  }
  read_rect(reader, Rect::whole(spec.extent));
}

inline void read_image(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(data, size);
  try {
    file_info(file.path());
  } catch (const Error&) {  // ignored: a file that info refuses may still open
  }
  try {
    const auto reader = open_reader(file.path());
    reader->buffer_bytes(2);
    read_all(*reader);
  } catch (const Error&) {
  }
}

}  // namespace sepconv::fuzz
