// What stages are called elsewhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sepconv {

/// Names that people know from other tools, and what does the same here, or nearly.
struct Synonym {
  std::vector<std::string_view> names;
  std::vector<std::string_view> stages;  ///< texts that parse; none: there is nothing like it
  std::string_view remark;
};
const std::vector<Synonym>& stage_synonyms();

/// The end of a sentence that says what to use for a stage of this name, whatever its case; empty if nobody
/// calls one so.
std::string advice_for(std::string_view name);

}  // namespace sepconv
