// Pictures in terminals that support them.
#pragma once

#include <cstdint>
#include <string>

#include "pipeline/report/preview.hpp"

namespace sepconv::app {

enum class PictureProtocol : std::uint8_t {
  none,
  kitty,  ///< https://sw.kovidgoyal.net/kitty/graphics-protocol/
  iterm,  ///< https://iterm2.com/documentation-images.html
  sixel,  ///< DEC's, VT340
};

/// The protocol that stdout's terminal supports: from its environment, else from its reply to a query. none
/// if stdout is not a terminal.
PictureProtocol picture_protocol();

/// Width of that terminal in pixels; 0 if unknown.
std::int64_t terminal_pixels();

/// The escape sequences that show the picture at the cursor. Throws InvalidArgument for
/// PictureProtocol::none.
std::string picture_text(const Preview& picture, PictureProtocol protocol);

}  // namespace sepconv::app
