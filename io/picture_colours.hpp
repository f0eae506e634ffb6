// Conversion of a result to a picture: CMYK to RGB, premultiplied to plain colours, and blending with a
// background if the format has no alpha.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/image.hpp"
#include "io/background.hpp"
#include "io/metadata.hpp"

namespace sepconv {

struct PictureColours {
  std::int64_t channels = 0;            ///< of the picture
  bool converts = false;                ///< if false, pixels are unchanged
  bool cmyk = false;                    ///< the first four channels are CMYK
  std::int64_t colours = 0;             ///< channels before alpha
  std::optional<std::int64_t> alpha{};  ///< channel of the result
  bool multiplied = false;              ///< colours are premultiplied by alpha
  std::optional<Background> background{};
  std::vector<std::string> warnings{};  ///< warnings
};

/// Returns the conversion of an image to a picture whose number of channels is one of the digits in `counts`.
PictureColours picture_colours(std::int64_t channels, const Metadata& metadata, std::string_view counts,
                               const std::optional<Background>& background);

/// The metadata of the picture.
Metadata metadata_of_picture(const PictureColours& conversion, Metadata metadata);

/// Converts pixels of u8 or u16 of the result to those of the picture; equal extents.
void paint(const PictureColours& conversion, const ConstPixelView& result, const PixelView& picture);

}  // namespace sepconv
