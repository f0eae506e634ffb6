#include "core/printable.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

namespace sepconv {
namespace {

struct Character {
  char32_t code;
  std::size_t bytes;
};

/// The first character of `text`; nullopt if its bytes are not UTF-8 (RFC 3629): truncated, overlong, a
/// surrogate, or beyond U+10FFFF.
std::optional<Character> first_character(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return Character{lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return std::nullopt;
  char32_t code = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return std::nullopt;
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr char32_t kMin[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kMin[bytes] || (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) return std::nullopt;
  return Character{code, bytes};
}

/// Control characters, line separators, and bidirectional controls.
bool acts_on_terminal(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x61c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

std::string escaped(std::string_view text, bool keeps_newlines) {
  std::string result;
  while (!text.empty()) {
    const std::optional<Character> character = first_character(text);
    const std::size_t bytes = character ? character->bytes : 1;
    const bool is_kept =
        character && (!acts_on_terminal(character->code) || (keeps_newlines && character->code == '\n'));
    if (is_kept) {
      result += text.substr(0, bytes);
    } else if (bytes == 1) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    } else {
      result += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(character->code));
    }
    text.remove_prefix(bytes);
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) { return escaped(text, false); }

std::string printable_lines(std::string_view text) { return escaped(text, true); }

std::string shortened(const std::string& text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  std::size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::optional<Character> character = first_character(text);
    if (!character) return false;
    text.remove_prefix(character->bytes);
  }
  return true;
}

}  // namespace sepconv
