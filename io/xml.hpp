// XML that is not believed. Internal to io/.
#pragma once

#include <pugixml.hpp>
#include <string>
#include <string_view>

namespace sepconv {

/// More elements than any real file's; a tree takes some hundred bytes for each while it is looked at.
inline constexpr std::ptrdiff_t kMaxXmlElements = 400'000;
inline constexpr int kMaxXmlDepth = 64;

/// Reads a text with these of pugixml's options. Entities of its own are not expanded (pugixml knows none).
/// Empty, or why it is of no use, as "is damaged at byte 20".
std::string parse_xml(std::string_view text, unsigned options, pugi::xml_document& document);
/// In UTF-8, which its declaration says then, if it has one.
std::string xml_text(pugi::xml_document& document);

}  // namespace sepconv
