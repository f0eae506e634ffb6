// Readers and writers that present an image with other rows and columns. Private to io/tensor.
#pragma once

#include <memory>

#include "io/reader.hpp"
#include "io/tensor/tensor.hpp"
#include "io/writer.hpp"

namespace sepconv {

/// A reader of `image` as a grid. Rectangles of whole pixels (spread) and of whole image rows (lines) are
/// read directly. Others are copied out of them through a buffer of 1 MiB or one row of pixels.
std::unique_ptr<Reader> make_grid_reader(std::unique_ptr<Reader> image, TensorGrid grid);

/// A writer of `image` as a grid. Rectangles must be whole blocks of its layout.
std::unique_ptr<Writer> make_grid_writer(std::unique_ptr<Writer> image, TensorGrid grid);

}  // namespace sepconv
