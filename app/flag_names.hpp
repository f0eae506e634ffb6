// The command-line flags of the library's options.
#pragma once

#include <string>
#include <string_view>

namespace sepconv::app {

/// Messages of the library name its options as C++ members, like "PlanOptions::max_memory_bytes". Replaces
/// these names by flags, like "--max-memory".
std::string with_flags(std::string_view text);

}  // namespace sepconv::app
