// Texts for people: numbers and example commands.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>
#include <string>

namespace sepconv::app {

/// The value with `digits` significant digits. NaN and zero have no sign.
inline std::string number_text(double value, int digits) {
  if (std::isnan(value)) return "nan";
  return fmt::format("{:.{}g}", value == 0 ? 0.0 : value, digits);
}

/// Example lines for the end of a command's help; its man page shows them as EXAMPLES.
inline std::string examples(std::initializer_list<const char*> commands) {
  std::string text;
  for (const char* const command : commands)
    text += fmt::format("{}Example:  {}", text.empty() ? "" : "\n", command);
  return text;
}

/// A command with a stage's example. Brackets are quoted, because shells expand them.
inline std::string example_command(const std::string& stage) {
  const bool is_pattern = stage.find_first_of("[(") != std::string::npos;
  return fmt::format("sepconv run in.tif out.tif {}", is_pattern ? "'" + stage + "'" : stage);
}

}  // namespace sepconv::app
