// JSON as text in pure ASCII, so that it cannot act on a terminal. Invalid UTF-8 is replaced.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace sepconv {

/// On one line, without its end.
template <class Json>
std::string json_line(const Json& value) {
  return value.dump(-1, ' ', true, Json::error_handler_t::replace);
}

/// Indented, with the end of the last line.
template <class Json>
std::string json_lines(const Json& value) {
  return value.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace sepconv
