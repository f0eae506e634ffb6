// The checksum of RFC 3720, which Zarr's shards and the journals of partial results have. Internal to io/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sepconv {

/// `before`: that of bytes that these follow.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0) noexcept;

}  // namespace sepconv
