// Numbers in texts for people.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>
#include <string>

namespace sepconv::app {

/// `digits` significant digits; not-a-number has no sign, nor has zero.
inline std::string number_text(double value, int digits) {
  if (std::isnan(value)) return "nan";
  return fmt::format("{:.{}g}", value == 0 ? 0.0 : value, digits);
}

/// The end of a command's help, which its man page has as EXAMPLES.
inline std::string examples(std::initializer_list<const char*> commands) {
  std::string text;
  for (const char* const command : commands)
    text += fmt::format("{}Example:  {}", text.empty() ? "" : "\n", command);
  return text;
}

/// A stage's example as it is typed: shells take brackets for a pattern.
inline std::string example_command(const std::string& stage) {
  const bool is_pattern = stage.find('[') != std::string::npos;
  return fmt::format("sepconv run in.tif out.tif {}", is_pattern ? "'" + stage + "'" : stage);
}

}  // namespace sepconv::app
