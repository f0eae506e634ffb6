// Numbers of bytes for people.
#pragma once

#include <string>

namespace sepconv {

/// "1.50 GiB", "256 MiB": binary units, three digits.
std::string format_bytes(double bytes);

}  // namespace sepconv
