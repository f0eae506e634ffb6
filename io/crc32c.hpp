// CRC-32C (RFC 3720), used by Zarr shards and checkpoint journals. Internal to io/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sepconv {

/// `previous_crc`: checksum of the preceding bytes.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t previous_crc = 0) noexcept;

}  // namespace sepconv
