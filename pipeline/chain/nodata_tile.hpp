// Tiles of a source with missing pixels: what can be left out where nothing is missing, or all. Private to
// pipeline/chain.
#pragma once

#include <optional>
#include <vector>

#include "kernels/pointwise/missing.hpp"
#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// How a tile is computed. All ways have the same bits.
struct TilePath {
  std::size_t first = 0;  ///< the stage that it begins with
  /// The stages between mark_missing and store_missing all join_missing: the first of them `mark`, if there
  /// is one, and the last the stage stored_in_place. Nothing has been looked at, but for all that is missing.
  bool fuses = false;
  const PointwiseOp* mark = nullptr;
  /// The stage that stores missing pixels, where it may look at pixels that are stored already.
  std::optional<std::size_t> stored_in_place{};
  /// What all elements of missing pixels are stored as, of a chain that stores them so.
  std::optional<double> missing_value{};
  bool is_all_missing = false;  ///< all of the result is that
  bool mixed = false;           ///< some of what it is made of is missing, as far as is known
};

/// For these needed_rects() of a tile. Looks at the source's pixels where the chain honours missing ones: it
/// begins with mark_missing or an AlphaOp, unless those that are NaN are missing, and ends with store_missing
/// or an AlphaOp, but for transposes.
TilePath choose_tile_path(const Chain& chain, const std::vector<ImageSpec>& specs, const ConstRegion& source,
                          const std::vector<Rect>& needed);

/// `out` cut into parts that are looked at for themselves, of a tile that is mixed and needs this much: most
/// holes then cost their surroundings, and what is computed twice lies in a core's cache. Not into parts of
/// which most is halo.
std::vector<Rect> split_mixed_tile(const Rect& out, Extent needed);

/// A stage that stores missing pixels, on stored pixels of its type.
void store_missing_in_place(const StageTraits& store, const PixelView& pixels, Arithmetic arithmetic);

}  // namespace sepconv
