// The pixels of a result as a picture has them: CMYK becomes RGB, colours that are multiplied by alpha become
// plain ones, and where a format has no alpha the picture is laid on a background.
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
  bool converts = false;                ///< else pixels are what they are
  bool cmyk = false;                    ///< the first four channels are inks
  std::int64_t colours = 0;             ///< channels before alpha
  std::optional<std::int64_t> alpha{};  ///< channel of the result
  bool multiplied = false;              ///< colours are multiplied by it
  std::optional<Background> background{};
  std::vector<std::string> said{};  ///< sentences
};

/// How an image of such channels becomes a picture with as many as one of the digits in `counts` says.
PictureColours picture_colours(std::int64_t channels, const Metadata& metadata, std::string_view counts,
                               const std::optional<Background>& background);

/// What is true of the picture.
Metadata metadata_of_picture(const PictureColours& how, Metadata metadata);

/// Makes pixels of u8 or u16 of the picture of those of the result; equal extents.
void paint(const PictureColours& how, const ConstPixelView& result, const PixelView& picture);

}  // namespace sepconv
