// Text that came from elsewhere - names of files, what files say of themselves, words that were typed - as it
// may be shown.
#pragma once

#include <string>
#include <string_view>

namespace sepconv {

/// Valid UTF-8 as it is, but for what acts on a terminal instead of being seen on it: control characters
/// (\x1b, \x0a, \u009b), separators of lines and directions of writing (\u2028, \u202e, \u2066), and bytes
/// that are not UTF-8 (\xff). They are shown as escapes.
std::string printable(std::string_view text);

/// The same for a text of several lines: '\n' stays.
std::string printable_lines(std::string_view text);

/// Whether all of it is valid UTF-8.
bool is_utf8(std::string_view text);

}  // namespace sepconv
