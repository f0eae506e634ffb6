// Tiles of a source with missing pixels: steps that can be skipped if no pixel or every pixel is missing.
// Private to pipeline/chain.
#pragma once

#include <optional>
#include <vector>

#include "kernels/pointwise/missing.hpp"
#include "pipeline/chain/graph.hpp"

namespace sepconv {

/// How a tile is computed. All paths give the same bits.
struct TilePath {
  std::size_t first = 0;  ///< index of the first node to compute
  /// All stages between mark_missing and store_missing use apply_fused(). The first of them also applies
  /// `mark`, unless null, and the last also applies stage stored_in_place. The pixels were only checked for
  /// all being missing.
  bool fuses = false;
  const PointwiseOp* mark = nullptr;
  /// Index of the store_missing node, if it may work on pixels that are already stored.
  std::optional<std::size_t> stored_in_place{};
  /// Value that every element of a missing pixel is stored as, if it is the same for all.
  std::optional<double> missing_value{};
  bool is_all_missing = false;  ///< the whole result is missing_value
  bool mixed = false;           ///< some input pixels may be missing
};

/// Chooses the path for a tile with these needed_rects(). Scans the pixels of the source if the graph handles
/// missing pixels. Such a graph begins with mark_missing or an AlphaOp, unless missing pixels are NaN
/// already, and ends with store_missing or an AlphaOp, followed by transposes at most.
TilePath choose_tile_path(const Graph& graph, const ConstRegion& source, const std::vector<Rect>& needed);

/// Splits a mixed tile that needs this extent into parts that are scanned separately. Most holes then slow
/// down only their surroundings, and recomputed pixels stay in the cache of a core. Parts are not so small
/// that most of their input is halo.
std::vector<Rect> split_mixed_tile(const Rect& out, Extent needed);

/// Applies a primitive that stores missing pixels to stored pixels of its type.
void store_missing_in_place(const PrimitiveTraits& store, const PixelView& pixels, Arithmetic arithmetic);

}  // namespace sepconv
