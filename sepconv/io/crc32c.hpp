// The checksum of RFC 3720, which Zarr's shards and the journals of partial results have. Internal to io/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sepconv {

std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept;

}  // namespace sepconv
