// What a stage that computes with neighbours makes of missing pixels: its key `missing`.
#pragma once

#include <optional>

#include "sepconv/pipeline/stages/keys.hpp"

namespace sepconv {

enum class MissingPolicy : std::uint8_t {
  ignore,     ///< the weights of what is there are renormalised; what is missing stays so
  propagate,  ///< a result is missing where its window touches one that is
  fill,       ///< as ignore, and what is missing gets the average of what is near it
};

/// The key `missing`, left out: as a source's declared pixels ask for, and plain arithmetic where none are.
inline Key missing_key(std::optional<MissingPolicy>& missing, bool fills = true) {
  ChoiceWords<MissingPolicy> words{{"ignore", MissingPolicy::ignore},
                                   {"propagate", MissingPolicy::propagate}};
  if (fills) words.emplace_back("fill", MissingPolicy::fill);
  return {.name = "missing",
          .value = choice(missing, words),
          .words = fills ? "of missing pixels (nodata, NaN): weights of what is there; missing wherever the "
                           "window touches one; or as the first, and holes are filled too"
                         : "of missing pixels (nodata, NaN): means of what is there; or missing wherever the "
                           "window touches one"};
}

}  // namespace sepconv
