// What the program calls the library's options.
#pragma once

#include <string>
#include <string_view>

namespace sepconv::app {

/// Sentences of the library name its options as a program would write them, "PlanOptions::max_memory_bytes";
/// here they become "--max-memory".
std::string with_flags(std::string_view text);

}  // namespace sepconv::app
