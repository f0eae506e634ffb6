#include "manual.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>
#include <sstream>
#include <string_view>

#include "commands.hpp"
#include "core/version.hpp"
#include "pipeline/chain/stage_entry.hpp"
#include "text.hpp"

namespace sepconv::app {

namespace {

/// The text escaped for roff: dashes can be typed and searched for, and no line is read as a macro.
std::string roff(std::string_view text) {
  std::string escaped;
  bool starts_line = true;
  for (const char c : text) {
    if (starts_line && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
    starts_line = c == '\n';
  }
  return escaped;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }
std::string item(const std::string& tag, std::string_view description) {
  return fmt::format(".TP\n{}\n{}{}", tag, roff(description), description.empty() ? "" : "\n");
}
std::string section(std::string_view name, const std::string& text) {
  return text.empty() ? "" : fmt::format(".SH {}\n{}", name, text);
}

std::string page_header(std::string name, int section_number, std::string_view description) {
  std::ranges::replace(name, ' ', '-');
  std::string title = name;
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
  if (description.ends_with('.')) description.remove_suffix(1);
  return fmt::format(".TH {} {} \"\" \"sepconv " SEPCONV_VERSION_STRING "\"\n.SH NAME\n{} \\- {}\n",
                     roff(title), section_number, roff(name), roff(description));
}

/// The full name of a command: "sepconv bench run".
std::string full_name(const CLI::App& command) {
  const CLI::App* const parent = command.get_parent();
  return (parent == nullptr ? "" : full_name(*parent) + " ") + command.get_name();
}

/// A reference to a man page: "sepconv-bench-run(1)".
std::string page_name(const CLI::App& command) {
  std::string name = full_name(command);
  std::ranges::replace(name, ' ', '-');
  return bold(name) + "(1)";
}

std::vector<const CLI::Option*> options_of(const CLI::App& command, bool arguments) {
  return command.get_options([arguments](const CLI::Option* option) {
    return !option->get_group().empty() && option->get_positional() == arguments;
  });
}

bool is_repeatable(const CLI::Option& option) { return option.get_items_expected_max() > 1; }

std::string synopsis(const CLI::App& command) {
  std::string line = bold(full_name(command)) + " [" + italic("OPTION") + "]...";
  for (const CLI::Option* option : options_of(command, true)) {
    const std::string name = italic(option->get_name(true)) + (is_repeatable(*option) ? "..." : "");
    line += option->get_required() ? " " + name : " [" + name + "]";
  }
  if (!commands_of(command).empty()) line += " " + italic("COMMAND");
  return line + "\n";
}

/// A clause that lists related options: "; not with --a, --b".
std::string related_options_text(std::string_view relation, const std::set<CLI::Option*>& options) {
  std::set<std::string> names;  // the order of pointers differs between builds
  for (const CLI::Option* option : options) names.insert(option->get_name());
  return names.empty() ? "" : fmt::format("; {} {}", relation, fmt::join(names, ", "));
}

std::string option_item(const CLI::Option& option) {
  std::vector<std::string> names;
  if (option.get_positional()) {
    names.push_back(italic(option.get_name(true)));
  } else {
    for (const std::string& name : option.get_snames()) names.push_back(bold("-" + name));
    for (const std::string& name : option.get_lnames()) names.push_back(bold("--" + name));
  }
  std::string tag = fmt::format("{}", fmt::join(names, ", "));
  if (const std::string type = option.get_type_name(); !type.empty() && type != option.get_name(true))
    tag += (type.starts_with("[=") ? "" : " ") + italic(type);
  return item(tag, option.get_description() + related_options_text("needs", option.get_needs()) +
                       related_options_text("not with", option.get_excludes()));
}

std::string options_text(const CLI::App& command, bool arguments) {
  std::string text;
  for (const CLI::Option* option : options_of(command, arguments)) text += option_item(*option);
  return text;
}

std::string commands_text(const CLI::App& command) {
  std::string text;
  for (const CLI::App* subcommand : commands_of(command))
    text += item(page_name(*subcommand), subcommand->get_description());
  return text;
}

/// The footer of a command's help, split into text and examples.
struct Footer {
  std::string text, examples;
};

/// Formats a line of a list: "  name   text", "  name", or a continuation line with deeper indentation.
std::string list_line(std::string_view line) {
  if (line.starts_with("    ")) return roff(line.substr(4)) + "\n.br\n";
  line.remove_prefix(2);
  const std::size_t gap = std::min(line.find("  "), line.size());
  const std::size_t help_offset = line.find_first_not_of(' ', gap);
  return item(bold(line.substr(0, gap)), help_offset == line.npos ? "" : line.substr(help_offset));
}

Footer footer_of(const CLI::App& command) {
  constexpr std::string_view kExample = "Example:  ";
  Footer footer;
  std::istringstream lines(command.get_footer());
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kExample)) {
      footer.examples += fmt::format(".PP\n.nf\n.RS\n{}\n.RE\n.fi\n", roff(line.substr(kExample.size())));
    } else if (line.starts_with("  ")) {
      footer.text += list_line(line);
    } else {
      footer.text += line.empty() ? "" : ".PP\n" + roff(line) + "\n";
    }
  }
  return footer;
}

std::string exit_status() {
  const std::pair<ExitCode, const char*> codes[] = {
      {kDone, "Done. Of compare: the images are equal."},
      {kFailed, "Failed; standard error has one sentence that says why. Of compare: the images differ."},
      {kWrongUsage, "Wrong usage, and nothing was done. Of compare: also all other trouble."},
      {kInterrupted, "Interrupted."},
      {kBrokenPipe, "Nobody reads standard output any more."}};
  std::string text;
  for (const auto& [code, description] : codes) text += item(bold(std::to_string(code)), description);
  return text;
}

std::string see_also(const CLI::App& command) {
  std::string text = bold("sepconv-stages") + "(7)";
  if (command.get_parent() != nullptr) text = page_name(*command.get_parent()) + ",\n" + text;
  return text + "\n";
}

std::string command_page(const CLI::App& command) {
  const Footer footer = footer_of(command);
  return page_header(full_name(command), 1, command.get_description()) +
         section("SYNOPSIS", synopsis(command)) +
         section("DESCRIPTION", roff(command.get_description()) + "\n" + footer.text) +
         section("COMMANDS", commands_text(command)) + section("ARGUMENTS", options_text(command, true)) +
         section("OPTIONS", options_text(command, false)) + section("EXIT STATUS", exit_status()) +
         section("EXAMPLES", footer.examples) + section("SEE ALSO", see_also(command));
}

void add_command_pages(const CLI::App& command, std::vector<ManualPage>& pages) {
  std::string name = full_name(command);
  std::ranges::replace(name, ' ', '-');
  pages.push_back({fmt::format("man1/{}.1", name), command_page(command)});
  for (const CLI::App* subcommand : commands_of(command)) {
    // A command that is a program of its own writes its pages itself.
    if (!subcommand->get_prefix_command()) add_command_pages(*subcommand, pages);
  }
}

std::string stage_text(const StageEntry& stage) {
  std::string text = fmt::format(".SS {}\n{}.\n", roff(stage.name), roff(stage.help));
  for (const StageKey& key : stage.keys)
    text += item(bold(key.name + "=") + italic(name_of(key.type)), key.help());
  return text + fmt::format(".PP\nExample: {}\n", bold(example_command(stage.example)));
}

ManualPage stages_page() {
  std::string stages;
  for (const StageEntry& stage : stage_table()) stages += stage_text(stage);
  return {
      "man7/sepconv-stages.7",
      page_header("sepconv-stages", 7, "filters of sepconv and their keys") +
          section("SYNOPSIS", italic("NAME") + "[:" + italic("KEY") + "=" + italic("VALUE") + ",...]\n") +
          section("DESCRIPTION",
                  "A stage is a filter with its keys. A chain is stages one after another: each sees the "
                  "result of the one before, extended by its own border, and the image passes through all of "
                  "them at once. Values are rounded once, at the end.\n") +
          section("STAGES", stages) +
          section("SEE ALSO", bold("sepconv-run") + "(1),\n" + bold("sepconv-stages") + "(1)\n")};
}

}  // namespace

std::vector<ManualPage> manual_pages(const CLI::App& program) {
  std::vector<ManualPage> pages;
  add_command_pages(program, pages);
  const auto is_stages = [](const CLI::App* command) { return command->get_name() == "stages"; };
  if (std::ranges::any_of(commands_of(program), is_stages)) pages.push_back(stages_page());
  return pages;
}

}  // namespace sepconv::app
