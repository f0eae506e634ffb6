// Readers and writers of images seen with other rows and pixels. Private to io/tensor.
#pragma once

#include <memory>

#include "io/reader.hpp"
#include "io/tensor/tensor.hpp"
#include "io/writer.hpp"

namespace sepconv {

/// `image` cut as `grid` says. Rectangles of whole pixels (spread) and of whole image rows (lines) cost
/// nothing more; others are cut out of such, a MiB or a row of pixels at a time.
std::unique_ptr<Reader> make_grid_reader(std::unique_ptr<Reader> image, TensorGrid grid);

/// Rectangles are of whole blocks of the image, as the layout says.
std::unique_ptr<Writer> make_grid_writer(std::unique_ptr<Writer> image, TensorGrid grid);

}  // namespace sepconv
