#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "options.hpp"
#include "pipeline/job/output_option.hpp"

namespace sepconv::app {
namespace {

std::vector<std::string> words_of(std::string_view value) {
  std::istringstream text{std::string(value)};
  std::vector<std::string> words;
  for (std::string word; std::getline(text, word, kWordSeparator);) words.push_back(word);
  return words;
}

void add_output_option(CLI::App& command, const OutputOption& option, OutputOptions& request) {
  const auto parse = [&option, &request](const std::string& text) { option.parse(request, text); };
  const std::string help(option.help);
  std::string flags(option.names[0].flag);
  if (!option.second_flag.empty()) flags += fmt::format(",{}", option.second_flag);
  if (option.flag != nullptr) {
    command.add_flag(flags, request.*option.flag, help);
    return;
  }
  CLI::Option* const added = option.value.starts_with('[')
                                 ? command.add_flag(flags + "{auto}")->description(help)->each(parse)
                                 : command.add_option_function<std::string>(flags, parse, help);
  if (option.is_choice) {
    add_choices(added, words_of(option.value));
  } else {
    added->type_name(std::string(option.value));
  }
}

}  // namespace

void add_layout_options(CLI::App& command, OutputOptions& request) {
  for (const OutputOption& option : output_option_table()) {
    if (option.scope != OptionScope::picture) add_output_option(command, option, request);
  }
}

void add_picture_options(CLI::App& command, FileOptions& files) {
  command.add_flag("--orient", files.orient, "apply the orientation tag of the input (EXIF, TIFF)");
  for (const OutputOption& option : output_option_table()) {
    if (option.scope == OptionScope::picture) add_output_option(command, option, files.output);
  }
}

}  // namespace sepconv::app
