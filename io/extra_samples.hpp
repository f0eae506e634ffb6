// Words of TIFF's tag ExtraSamples (TIFF 6.0, section 18), in which Metadata::extra_samples tells what
// channels beyond the colours are. Private to io.
#pragma once

#include <cstdint>

namespace sepconv {

inline constexpr std::uint16_t kAssociatedAlpha = 1;    ///< colours are multiplied by it
inline constexpr std::uint16_t kUnassociatedAlpha = 2;  ///< they are not

}  // namespace sepconv
