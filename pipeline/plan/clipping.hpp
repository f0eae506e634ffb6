// Values of a chain that are clipped when rounded to a type, as far as predictable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/reader.hpp"
#include "io/writer.hpp"
#include "pipeline/chain/chain.hpp"
#include "pipeline/chain/value_range.hpp"

namespace sepconv {

/// A point of a chain where values are rounded to integers: its end, or a cast within it.
struct Clipping {
  std::size_t stages = 0;  ///< number of stages that compute the values; later ones may move pixels
  bool is_last = true;     ///< the chain's end, including casts there; otherwise a cast followed by stages
  ValueRange made{};       ///< range before rounding
  ValueRange held{};       ///< range of its type
  ValueRange stored{};     ///< values stored for clipped values; differs from `held` if a limit is the nodata
                           ///< value
  std::string stage{};     ///< stage whose result exceeds `held`; empty if source values do
  struct Bound {
    std::string type{};  ///< type that sets this limit
    std::string cast{};  ///< cast to it; empty if it is only the result's type
  };
  Bound low{}, high{};
  std::string stretch{};                ///< the preceding stage if it is `stretch`
  std::optional<std::int64_t> alpha{};  ///< alpha channel, whose values are not rescaled when colours are
                                        ///< cast
  bool samples_alpha = false;           ///< the result's type differs from the source's
  Arithmetic arithmetic = Arithmetic::f32;

  bool below() const noexcept { return made.low < held.low - 0.5; }
  bool above() const noexcept { return made.high > held.high + 0.5; }
  /// Values span a small part of the type's range and may become a few integers.
  bool is_narrow() const noexcept;
  /// Whether values should be sampled.
  bool is_possible() const noexcept { return below() || above() || is_narrow() || samples_alpha; }
  /// Describes the values and the effect of clipping; empty if unknown.
  std::string note() const;
  /// Option text that preserves clipped values, or fractions.
  std::string way_out(const Bound& bound, bool keeps_fractions = false) const;

  /// The stages before this point, of the chain in which it was found or of an equivalent one.
  Chain before(const Chain& chain) const;
};

/// Clipping points in the chain's order; empty if values are not rounded to integers or the chain only moves
/// pixels.
std::vector<Clipping> find_clippings(const Reader& source, const Writer& sink, const Chain& chain,
                                     const std::vector<ImageSpec>& specs, Arithmetic arithmetic);

}  // namespace sepconv
