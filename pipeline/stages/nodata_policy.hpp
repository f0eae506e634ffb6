// Handling of missing pixels by stages with neighbours: the key `nodata`.
#pragma once

#include <optional>

#include "pipeline/stages/keys.hpp"

namespace sepconv {

enum class MissingPolicy : std::uint8_t {
  ignore,     ///< computes with valid pixels, renormalising weights; missing pixels stay missing
  propagate,  ///< a result is missing if its window contains a missing pixel
  fill,       ///< as ignore, and missing pixels get the average of valid pixels nearby
};

/// The policies that a stage supports.
enum class MissingSupport : std::uint8_t {
  all,
  no_fill,         ///< ignore and propagate
  propagate_only,  ///< for weights that sum to 0, which cannot be renormalised
};

/// The key `nodata`. If omitted: the default policy if the source declares nodata, otherwise plain
/// arithmetic.
inline Key nodata_key(std::optional<MissingPolicy>& nodata, MissingSupport support = MissingSupport::all) {
  if (support == MissingSupport::propagate_only)
    return {.name = "nodata",
            .value = choice(nodata, {{"propagate", MissingPolicy::propagate}}),
            .words = "nodata handling. propagate: a missing pixel in the window makes the result missing",
            .former_name = "missing"};
  const bool fills = support == MissingSupport::all;
  ChoiceWords<MissingPolicy> words{{"ignore", MissingPolicy::ignore},
                                   {"propagate", MissingPolicy::propagate}};
  if (fills) words.emplace_back("fill", MissingPolicy::fill);
  return {
      .name = "nodata",
      .value = choice(nodata, words),
      .words =
          fills ? "nodata handling. ignore: computes with the valid pixels of the window, and missing pixels "
                  "stay missing. propagate: a missing pixel in the window makes the result missing. fill: as "
                  "ignore, and missing pixels get a value. Default: ignore, if the source "
                  "declares nodata"
                : "nodata handling. ignore: computes with the valid pixels of the window, and missing pixels "
                  "stay missing. propagate: a missing pixel in the window makes the result missing. Default: "
                  "ignore, if the source declares nodata",
      .former_name = "missing"};
}

}  // namespace sepconv
