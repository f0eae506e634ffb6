// Pictures in terminals that show them.
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

/// What the terminal behind standard output can: by its environment, else by what it answers when it is
/// asked. None where that is not a terminal.
PictureProtocol picture_protocol();

/// Pixels across that terminal; 0 if it does not say.
std::int64_t terminal_pixels();

/// What shows the picture at the cursor. Throws InvalidArgument for none.
std::string picture_text(const Preview& picture, PictureProtocol protocol);

}  // namespace sepconv::app
