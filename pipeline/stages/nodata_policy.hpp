// What a stage that computes with neighbours makes of missing pixels: its key `missing`.
#pragma once

#include <optional>

#include "pipeline/stages/keys.hpp"

namespace sepconv {

enum class MissingPolicy : std::uint8_t {
  ignore,     ///< the weights of valid pixels are renormalised; what is missing stays so
  propagate,  ///< a result is missing where its window touches one that is
  fill,       ///< as ignore, and what is missing gets the average of what is near it
};

/// What a stage can make of missing pixels.
enum class MissingSupport : std::uint8_t {
  all,
  no_fill,         ///< where one is missing nothing is computed
  propagate_only,  ///< of a window that is there as a whole: its weights sum to 0, and some of them stand for
                   ///< nothing
};

/// The key `missing`, left out: as a source's declared pixels ask for, and plain arithmetic where none are.
inline Key missing_key(std::optional<MissingPolicy>& missing, MissingSupport support = MissingSupport::all) {
  if (support == MissingSupport::propagate_only)
    return {.name = "missing",
            .value = choice(missing, {{"propagate", MissingPolicy::propagate}}),
            .words = "nodata handling. propagate: a missing pixel in the window makes the result missing"};
  const bool fills = support == MissingSupport::all;
  ChoiceWords<MissingPolicy> words{{"ignore", MissingPolicy::ignore},
                                   {"propagate", MissingPolicy::propagate}};
  if (fills) words.emplace_back("fill", MissingPolicy::fill);
  return {
      .name = "missing",
      .value = choice(missing, words),
      .words =
          fills ? "nodata handling. ignore: computes with the valid pixels of the window, and missing pixels "
                  "stay missing. propagate: a missing pixel in the window makes the result missing. fill: as "
                  "ignore, and missing pixels get a value. Default: ignore, if the source "
                  "declares nodata"
                : "nodata handling. ignore: computes with the valid pixels of the window, and missing pixels "
                  "stay missing. propagate: a missing pixel in the window makes the result missing. Default: "
                  "ignore, if the source declares nodata"};
}

}  // namespace sepconv
