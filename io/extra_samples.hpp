// Values of TIFF's tag ExtraSamples (TIFF 6.0, section 18), which Metadata::extra_samples contains. Private
// to io.
#pragma once

#include <cstdint>

namespace sepconv {

inline constexpr std::uint16_t kAssociatedAlpha = 1;    ///< colours are premultiplied
inline constexpr std::uint16_t kUnassociatedAlpha = 2;  ///< colours are not premultiplied

}  // namespace sepconv
