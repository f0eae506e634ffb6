// An image with hidden pixels: by a mask in another page of a TIFF or in another file, or by a value of all
// channels.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/reader.hpp"

namespace sepconv {

/// Whether the mask has the image's size and one u8 channel, as masks do.
bool is_mask_of(const Reader& mask, const Reader& image);

/// Which pixels of an image are hidden.
struct HiddenPixels {
  std::unique_ptr<Reader> mask{};       ///< hides pixels where it is 0; see is_mask_of()
  std::optional<double> of_all{};       ///< hides pixels whose channels except alpha all have this value
  bool others_have_masks = false;       ///< other images have masks: this one is read as if it had one
  bool to_be_alpha = false;             ///< use alpha also for floating-point pixels
  std::vector<std::string> warnings{};  ///< to be added to SourceLayout::warnings
};

/// Returns the image with hidden pixels as missing ones. Floating-point pixels get the image's nodata value,
/// or NaN, which becomes the nodata value, unless `of_all` or `to_be_alpha` is set. Otherwise alpha is 0: the
/// image's own, or an added channel, Metadata::mask_channel, which is opaque elsewhere.
/// SourceLayout::warnings reports pixels that are hidden by a value.
std::unique_ptr<Reader> make_masked_reader(std::unique_ptr<Reader> image, HiddenPixels hidden);

}  // namespace sepconv
