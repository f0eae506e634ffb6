// What of a chain's values its result's type does not hold, as far as it can be told beforehand.
#pragma once

#include <optional>
#include <string>

#include "sepconv/io/reader.hpp"
#include "sepconv/io/writer.hpp"
#include "sepconv/pipeline/chain/chain.hpp"
#include "sepconv/pipeline/chain/value_range.hpp"

namespace sepconv {

/// The chain up to where values are rounded to what is stored: without the casts at its end, and without what
/// gives missing pixels their value.
Chain before_store(const Chain& chain);

/// Of a result of integers.
struct Clipping {
  ValueRange made;      ///< before it is rounded
  ValueRange held;      ///< by its type
  std::string stage{};  ///< that made it more than is held; empty if it cannot be told
  std::string type{};   ///< that holds it
  Arithmetic arithmetic = Arithmetic::f32;

  bool below() const noexcept { return made.low < held.low - 0.5; }
  bool above() const noexcept { return made.high > held.high + 0.5; }
  /// Values are few of those that the type has, and may become a few whole numbers.
  bool is_narrow() const noexcept;
  /// Worth a look at some of the values.
  bool is_possible() const noexcept { return below() || above() || is_narrow(); }
  /// The stage, what it makes and what becomes of it; nothing where that cannot be told.
  std::string note() const;
  /// What keeps the values, to be typed.
  std::string way_out() const;
};

/// Nothing where the result is no integers, or the chain only moves pixels.
std::optional<Clipping> clipping_of(const Reader& source, const Writer& sink, const Chain& chain,
                                    const std::vector<ImageSpec>& specs, Arithmetic arithmetic);

}  // namespace sepconv
