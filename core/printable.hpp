// Escaping of untrusted text for display: file names, text from files, user input.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sepconv {

/// Returns valid UTF-8 unchanged, except for characters that act on a terminal: control characters (\x1b,
/// \x0a, \u009b), line separators and bidirectional controls (\u2028, \u202e, \u2066), and bytes that are not
/// UTF-8 (\xff). These are escaped.
std::string printable(std::string_view text);

/// The same for text of several lines: '\n' is not escaped.
std::string printable_lines(std::string_view text);

/// The text, cut between characters after at most `max_bytes`, with "..." in place of the rest.
std::string shortened(const std::string& text, std::size_t max_bytes = 40);

/// Whether all of it is valid UTF-8.
bool is_utf8(std::string_view text);

}  // namespace sepconv
