// Lists of names for messages.
#pragma once

#include <string>
#include <vector>

namespace sepconv {

/// Joins printable forms of names: "a, b and 5 more".
std::string join_names(std::vector<std::string> names);

/// Names of the members of a JSON object.
std::vector<std::string> member_names(const std::string& object);

}  // namespace sepconv
