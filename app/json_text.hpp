// JSON as it is printed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace sepconv::app {

/// Pure ASCII, so that nothing in it acts on a terminal. What is no UTF-8 is replaced.
inline std::string json_text(const nlohmann::ordered_json& value) {
  return value.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace sepconv::app
