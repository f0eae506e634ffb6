// Short names for the layouts that TIFF tests write.
#pragma once

#include "io/formats.hpp"

namespace sepconv {

inline FileLayout tiles(Extent tile, Compression compression = Compression::none) {
  FileLayout layout;
  layout.tiled = true;
  layout.tile = tile;
  layout.compression = compression;
  return layout;
}

inline FileLayout strips(std::int64_t rows, Compression compression = Compression::none) {
  FileLayout layout;
  layout.rows_per_strip = rows;
  layout.compression = compression;
  return layout;
}

}  // namespace sepconv
