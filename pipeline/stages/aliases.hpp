// Names of stages in other tools.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sepconv {

/// Names from other tools, and the stages with the same or nearly the same effect.
struct Synonym {
  std::vector<std::string_view> names;
  std::vector<std::string_view> stages;  ///< valid stage texts; empty: not supported
  std::string_view remark;
};
const std::vector<Synonym>& stage_synonyms();

/// The end of an error message that suggests stages for this name, ignoring case; empty if the name is not a
/// known synonym.
std::string alternatives_for(std::string_view name);

}  // namespace sepconv
