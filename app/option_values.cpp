#include "option_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/error.hpp"
#include "kernels/transpose/permutation.hpp"
#include "pipeline/job/option.hpp"
#include "pipeline/job/option_values.hpp"

namespace sepconv::app {

namespace {

bool parse(std::string_view text, double& value) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

const std::vector<std::string>& type_names() {
  static const std::vector<std::string> names{"u8", "u16", "i16", "f32", "f64"};
  return names;
}

CLI::Validator whole_number(std::int64_t min_value, std::int64_t max_value) {
  const auto check = [min_value, max_value](std::string& text) -> std::string {
    std::string error = wrong_value(ValueKind::integer, "", min_value, max_value, text);
    if (error.empty())  // CLI11 would read a leading zero as octal
      text = fmt::format("{}", parse_whole_number(text).value());
    return error;
  };
  const bool is_bounded = max_value < std::numeric_limits<int>::max();
  return CLI::Validator(
      check, is_bounded ? fmt::format("{}..{}", min_value, max_value) : fmt::format("{}..", min_value));
}

CLI::Validator finite_number(double min_value) {
  const auto check = [min_value](std::string& text) -> std::string {
    double value = 0;
    if (parse(text, value) && std::isfinite(value) && value >= min_value) return {};
    const bool bounded = min_value > std::numeric_limits<double>::lowest();
    return fmt::format("'{}' is not a finite number{}", shortened(text),
                       bounded ? fmt::format(" of at least {}", min_value) : "");
  };
  return CLI::Validator(check, "");
}

CLI::Validator permutation_text() {
  const auto check = [](std::string& text) -> std::string {
    try {
      parse_permutation(text);
      return {};
    } catch (const InvalidArgument&) {
      return fmt::format("'{}' is not a permutation of axes, as 2,0,1 is, or 1,0 for rows and columns",
                         shortened(text));
    }
  };
  return CLI::Validator(check, "");
}

CLI::Option* add_choices(CLI::Option* option, const std::vector<std::string>& choices) {
  const std::string value = fmt::format("{}", fmt::join(choices, std::string(1, kWordSeparator)));
  const auto check = [value](const std::string& text) {
    return wrong_value(ValueKind::choice, value, 0, 0, text);
  };
  option->transform(CLI::Validator(check, ""));
  return option->type_name(value);
}

CLI::Option* add_image_option(CLI::App& command, const std::string& name, std::filesystem::path& path,
                              const std::string& help) {
  const auto set_path = [&path, name](const std::string& text) {
    if (text == "-")
      throw InvalidArgument(
          fmt::format("{} cannot be a pipe, because pixels are read and written at offsets; name a file, or "
                      "./- for a file of this name",
                      name));
    path = text;
  };
  return command.add_option_function<std::string>(name, set_path, help)->type_name(kFileType);
}

}  // namespace sepconv::app
