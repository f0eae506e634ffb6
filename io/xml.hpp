// Untrusted XML. Internal to io/.
#pragma once

#include <pugixml.hpp>
#include <string>
#include <string_view>

namespace sepconv {

/// Maximum number of elements, more than in real files. An element needs some hundred bytes of memory.
inline constexpr std::ptrdiff_t kMaxXmlElements = 400'000;
inline constexpr int kMaxXmlDepth = 64;

/// Parses a text with options of pugixml. Custom entities are not expanded (pugixml does not support them).
/// Returns an empty string or the problem, such as "is damaged at byte 20".
std::string parse_xml(std::string_view text, unsigned options, pugi::xml_document& document);
/// The document in UTF-8; sets the encoding of its declaration, if it has one.
std::string xml_text(pugi::xml_document& document);

}  // namespace sepconv
