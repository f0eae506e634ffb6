// An image and what hides pixels of it: a mask in another page of a TIFF or in another file, or a value that
// all channels have.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/reader.hpp"

namespace sepconv {

/// Whether the mask is one of the image's size and of one integer channel, as masks are.
bool is_mask_of(const Reader& mask, const Reader& image);

/// Which pixels of an image are hidden.
struct HiddenPixels {
  std::unique_ptr<Reader> mask{};       ///< where it is 0; see is_mask_of()
  std::optional<double> of_all{};       ///< where all channels but alpha have this value
  bool others_have_masks = false;       ///< none of this one, which is read as if it had one
  bool to_be_alpha = false;             ///< of floating pixels, too
  std::vector<std::string> warnings{};  ///< to be added to SourceLayout::warnings
};

/// The image, in which these are missing. Of floating pixels they are the image's nodata value, or NaN, which
/// becomes that; unless all channels are asked, or alpha is. Else alpha is 0 there: the image's own, or one
/// channel more, Metadata::mask_channel, which is opaque elsewhere. What is hidden by a value is said in
/// SourceLayout::warnings.
std::unique_ptr<Reader> make_masked_reader(std::unique_ptr<Reader> image, HiddenPixels hidden);

}  // namespace sepconv
