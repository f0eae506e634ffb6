// Byte counts as text.
#pragma once

#include <string>

namespace sepconv {

/// Formats "1.50 GiB", "256 MiB": binary units, three significant digits.
std::string format_bytes(double bytes);

}  // namespace sepconv
