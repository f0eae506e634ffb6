#include "help_format.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/job/option.hpp"

namespace sepconv::app {
namespace {

constexpr std::size_t kColumns = 100, kIndent = 30, kShortLines = 2;

constexpr const char* kOutput = "Output";
constexpr const char* kResume = "Plans, regions and resuming";
constexpr const char* kReports = "Reports";

template <class Table>
bool contains(const Table& table, std::string_view flag) {
  return std::ranges::any_of(table, [&](const auto& option) { return option.names[0].flag == flag; });
}

/// The help group of an option, by its flag. Groups are shown in the order of their first option in the
/// command.
std::string_view group_of(std::string_view flag) {
  static const std::map<std::string_view, std::string_view> others{
      {"--format", kOutput},  {"--output-dir", kOutput}, {"--region", kResume},      {"--plan", kResume},
      {"--resume", kResume},  {"--discard", kResume},    {"--create-only", kResume}, {"--part", kResume},
      {"--dry-run", kResume}, {"--reference", kResume},  {"--trace", kReports},      {"--report", kReports},
      {"--stats", kReports},  {"--json", kReports},      {"--quiet", kReports},      {"--verbose", kReports}};
  if (const auto found = others.find(flag); found != others.end()) return found->second;
  if (contains(output_option_table(), flag)) return kOutput;
  if (contains(open_option_table(), flag) || contains(file_option_table(), flag)) return "Input";
  if (contains(plan_option_table(), flag)) return "Memory and devices";
  if (contains(missing_option_table(), flag)) return "Nodata and alpha";
  return {};
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    std::string& line = lines.back();
    if (!line.empty() && line.size() + 1 + word.size() > width)
      lines.push_back(word);
    else
      line += (line.empty() ? "" : " ") + word;
  }
  return lines;
}

/// Offset of the last end of a sentence outside parentheses before `end`; 0 if the text has no such end.
std::size_t last_sentence_end(std::string_view text, std::size_t end) {
  int depth = 0;
  std::size_t found = 0;
  for (std::size_t i = 0; i + 1 < end; ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0 && (text[i] == ';' || text[i] == '.') && text[i + 1] == ' ') found = i;
  }
  return found;
}

/// The first sentences that fit on two lines; at least one.
std::string shortened_text(const std::string& text, std::size_t width) {
  std::size_t end = text.size();
  while (wrapped(std::string_view(text).substr(0, end), width).size() > kShortLines) {
    const std::size_t sentence_end = last_sentence_end(text, end);
    if (sentence_end == 0) break;
    end = sentence_end;
  }
  return text.substr(0, end);
}

/// Replaces each line "  name  help" by its name.
std::string names_only(const std::string& footer) {
  std::istringstream lines(footer);
  std::string text, names;
  const auto flush = [&] {
    if (names.empty()) return;
    for (const std::string& line : wrapped(names, kColumns - 2)) text += "  " + line + "\n";
    names.clear();
  };
  for (std::string line; std::getline(lines, line);) {
    const bool is_listed = line.starts_with("  ") && line.size() > 2 && line[2] != ' ';
    if (is_listed) {
      names += line.substr(2, line.find(' ', 2) - 2) + " ";
    } else {
      flush();
      text += line + "\n";
    }
  }
  flush();
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

class HelpFormatter final : public CLI::Formatter {
 public:
  explicit HelpFormatter(bool is_long) : is_long_(is_long) {}

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != text.npos;) text.erase(at, 1);
    return text;
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    // CLI11 prints a flag with an optional value as "--pyramid{auto}"; here it is "--pyramid[=nearest|none]".
    const std::string flags = make_option_name(option, is_positional);
    const std::string name =
        "  " + (flags.ends_with('}') ? flags.substr(0, flags.find('{')) + option->get_type_name()
                                     : flags + make_option_opts(option));
    const std::size_t width = kColumns - kIndent;
    const std::string& description = option->get_description();
    const std::string help = is_long_ ? description : shortened_text(description, width);
    std::string text = name;
    bool is_first = name.size() + 2 <= kIndent;
    for (const std::string& line : wrapped(help, width)) {
      if (!is_first) text += '\n';
      text += std::string(is_first ? kIndent - name.size() : kIndent, ' ') + line;
      is_first = false;
    }
    return text + '\n';
  }

  /// The type name of the option's value. Conflicts with other options are reported when they occur.
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    return (type.empty() ? "" : " " + type) + (option->get_expected_max() > 1 ? " ..." : "");
  }

  std::string make_footer(const CLI::App* app) const override {
    const std::string& footer = app->get_footer();
    if (footer.empty()) return "";
    return "\n" + (is_long_ || footer.find("Stages (") == footer.npos ? footer : names_only(footer)) + "\n";
  }

 private:
  bool is_long_;
};

void apply_format(CLI::App& app, const std::shared_ptr<HelpFormatter>& formatter) {
  app.formatter(formatter);
  for (CLI::Option* option : app.get_options()) {
    if (option->get_lnames().empty() || option->get_group() != "Options") continue;
    if (const std::string_view group = group_of("--" + option->get_lnames().front()); !group.empty())
      option->group(std::string(group));
  }
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    apply_format(*command, formatter);
}

}  // namespace

void set_help_format(CLI::App& program) { apply_format(program, std::make_shared<HelpFormatter>(false)); }

std::string long_help(const CLI::App& command, const std::string& name) {
  return HelpFormatter(true).make_help(&command, name, CLI::AppFormatMode::Normal);
}

}  // namespace sepconv::app
