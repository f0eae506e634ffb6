// What of a chain's values a type that they are rounded to does not hold, as far as it can be told
// beforehand.
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

/// A place of a chain where values are rounded to integers: its end, or a cast within it.
struct Clipping {
  std::size_t stages = 0;  ///< that make the values; those that only move pixels may be between
  bool is_last = true;     ///< it is the chain's end, with the casts there; else a cast with stages behind it
  ValueRange made{};       ///< before it is rounded
  ValueRange held{};       ///< by its type
  ValueRange stored{};     ///< what values beyond those become: other than them where one is the nodata value
  std::string stage{};     ///< that made it more than is held; empty if the source has such values
  struct Bound {
    std::string type{};  ///< that holds no more
    std::string cast{};  ///< to it; empty if it is the result's type only
  };
  Bound low{}, high{};
  std::string stretch{};                ///< the stage before it, if that is `stretch`
  std::optional<std::int64_t> alpha{};  ///< the channel, which keeps its numbers where colours are cast
  bool watches_alpha = false;           ///< the result's type is another than the source's
  Arithmetic arithmetic = Arithmetic::f32;

  bool below() const noexcept { return made.low < held.low - 0.5; }
  bool above() const noexcept { return made.high > held.high + 0.5; }
  /// Values are few of those that the type has, and may become a few whole numbers.
  bool is_narrow() const noexcept;
  /// Worth a look at some of the values.
  bool is_possible() const noexcept { return below() || above() || is_narrow() || watches_alpha; }
  /// What the values are and what becomes of them; nothing where that cannot be told.
  std::string note() const;
  /// What keeps values beyond, or fractions, to be typed.
  std::string way_out(const Bound& bound, bool of_fractions = false) const;

  /// Those stages of the chain that it was found in, or of one like it.
  Chain before(const Chain& chain) const;
};

/// In the chain's order; none where the values are not integers, or the chain only moves pixels.
std::vector<Clipping> clippings_of(const Reader& source, const Writer& sink, const Chain& chain,
                                   const std::vector<ImageSpec>& specs, Arithmetic arithmetic);

}  // namespace sepconv
