// Lists of names for messages.
#pragma once

#include <string>
#include <vector>

namespace sepconv {

/// "a, b and 5 more", of names that may hold anything.
std::string join_names(std::vector<std::string> names);

/// Names of the members of a JSON object.
std::vector<std::string> member_names(const std::string& object);

}  // namespace sepconv
