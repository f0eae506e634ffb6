// A TIFF tag in stored form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sepconv {

/// A TIFF tag that is copied without interpretation, such as the GeoTIFF tags: `type` is TIFF's field type,
/// `data` in native byte order.
struct RawTag {
  std::uint32_t tag = 0;
  std::uint16_t type = 0;
  std::uint64_t count = 0;
  std::vector<std::byte> data;
  friend bool operator==(const RawTag&, const RawTag&) = default;
};

}  // namespace sepconv
