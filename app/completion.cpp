#include "completion.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "commands.hpp"
#include "option_values.hpp"
#include "pipeline/chain/stage_entry.hpp"

namespace sepconv::app {

namespace {

using Kind = Completion::Kind;

/// The words that start with `begun`.
Completion of_words(std::vector<Completion::Word> words, const std::string& begun) {
  std::erase_if(words, [&begun](const auto& word) { return !word.text.starts_with(begun); });
  return {Kind::words, std::move(words)};
}

Completion of_stage_names(const std::string& begun) {
  std::vector<Completion::Word> words;
  for (const StageEntry& stage : stage_table()) words.push_back({stage.name, stage.help});
  return of_words(std::move(words), begun);
}

/// Completes the value of a stage's key. `before` is the typed text up to and including "KEY=".
Completion of_key_value(const StageKey& key, const std::string& before, const std::string& begun) {
  if (key.type == StageKey::Type::path || key.type == StageKey::Type::image) return {Kind::value_files};
  std::vector<Completion::Word> words;
  for (const std::string& choice : key.choices) words.push_back({before + choice, ""});
  return of_words(std::move(words), begun);
}

Completion of_stage(const std::string& begun);

/// Completes the last stage of a nested chain. The key starts at `key`, its value at `value`. Returns no
/// words after the closing bracket.
Completion of_own_chain(const std::string& begun, std::size_t key, std::size_t value) {
  if (end_outside_brackets(begun + ",", key, ',') == begun.size() && begun.ends_with(']')) return {};
  std::size_t last = value;
  if (value < begun.size() && begun[value] == '[') {
    ++last;
    for (std::size_t bar = 0; (bar = end_outside_brackets(begun, last, '|')) < begun.size();) last = bar + 1;
    last = std::min(begun.find_first_not_of(' ', last), begun.size());
  }
  Completion inner = of_stage(begun.substr(last));
  for (Completion::Word& word : inner.words) word.text.insert(0, begun, 0, last);
  return inner;
}

/// Offsets of the keys in the text of a stage.
std::vector<std::size_t> begins_of_keys(const std::string& stage, std::size_t colon) {
  std::vector<std::size_t> begins{colon + 1};
  for (std::size_t end = 0; (end = end_outside_brackets(stage, begins.back(), ',')) < stage.size();)
    begins.push_back(end + 1);
  return begins;
}

/// Completes "NAME[:KEY=VALUE,...]".
Completion of_stage(const std::string& begun) {
  const std::size_t colon = begun.find(':');
  if (colon == std::string::npos) return of_stage_names(begun);
  const StageEntry* stage = find_named(stage_table(), begun.substr(0, colon));
  if (stage == nullptr) return {};
  std::vector<std::size_t> begins = begins_of_keys(begun, colon);
  const std::size_t last = begins.back(), equals = begun.find('=', last);
  begins.pop_back();
  std::vector<Completion::Word> words;
  for (const StageKey& key : stage->keys) {
    const auto is_it = [&](std::size_t begin) {
      const std::size_t end = begun.find('=', begin);
      return end != std::string::npos &&
             find_named(std::span(&key, 1), std::string_view(begun).substr(begin, end - begin)) != nullptr;
    };
    if (is_it(last)) {
      return key.type == StageKey::Type::chain ? of_own_chain(begun, last, equals + 1)
                                               : of_key_value(key, begun.substr(0, equals + 1), begun);
    }
    if (std::ranges::none_of(begins, is_it))
      words.push_back({begun.substr(0, last) + key.name + "=", key.help()});
  }
  return equals == std::string::npos ? of_words(std::move(words), begun) : Completion{};
}

/// The choices in a type name that add_choices() made; empty for other type names. "..." is not a choice.
std::vector<std::string> words_of(std::string type) {
  type.resize(std::min(type.find('['), type.size()));
  const bool has_words = type.find(kWordSeparator) != std::string::npos &&
                         std::ranges::none_of(type, [](unsigned char c) { return std::isupper(c) != 0; });
  if (!has_words) return {};
  std::vector<std::string> words = CLI::detail::split(type, kWordSeparator);
  std::erase(words, "...");
  return words;
}

Completion of_value(const CLI::Option& option, const std::string& begun) {
  const std::string type = option.get_type_name();
  if (type == kFileType) return {Kind::files};
  if (type == kFolderType) return {Kind::folders};
  if (type == kStageType) return of_stage_names(begun);
  if (type == kStageTextType) return of_stage(begun);
  // For a list the last element is completed.
  const std::string before =
      option.get_delimiter() == '\0' ? "" : begun.substr(0, begun.rfind(option.get_delimiter()) + 1);
  std::vector<Completion::Word> words;
  for (const std::string& word : words_of(type)) words.push_back({before + word, ""});
  return of_words(std::move(words), begun);
}

std::vector<Completion::Word> command_names(const CLI::App& commands) {
  std::vector<Completion::Word> words;
  for (const CLI::App* one : commands_of(commands))
    words.push_back({one->get_name(), one->get_description()});
  return words;
}

std::vector<Completion::Word> option_names(const CLI::App& command) {
  std::vector<Completion::Word> words;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames())
      words.push_back({"--" + name, option->get_description()});
  }
  return words;
}

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

/// The option of "-n", "--name" or "--name=value"; null if it does not exist.
const CLI::Option* find_option(const CLI::App& command, const std::string& word) {
  return is_option(word) ? command.get_option_no_throw(word.substr(0, word.find('='))) : nullptr;
}

/// Removes the names of commands from the front of `words`. Returns the last of these commands.
const CLI::App& chosen_command(const CLI::App& program, std::span<const std::string>& words) {
  const CLI::App* command = &program;
  while (words.size() > 1) {
    const auto found =
        command->get_subcommands([&](const CLI::App* one) { return one->get_name() == words.front(); });
    if (found.empty()) break;
    command = found.front();
    words = words.subspan(1);
  }
  return *command;
}

std::vector<const CLI::Option*> arguments_of(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

/// Whether the command's arguments are names of commands.
bool takes_commands(const CLI::App& command) {
  const auto arguments = arguments_of(command);
  return !arguments.empty() && arguments.front()->get_type_name() == kCommandType;
}

Completion of_argument(const CLI::App& command, std::size_t position, const std::string& begun) {
  const auto arguments = arguments_of(command);
  if (arguments.empty()) return {};
  const bool repeats = arguments.back()->get_items_expected_max() > 1;
  if (position >= arguments.size() && !repeats) return {};
  return of_value(*arguments[std::min(position, arguments.size() - 1)], begun);
}

}  // namespace

Completion complete(const CLI::App& program, std::span<const std::string> words) {
  if (words.empty()) return {};
  const CLI::App& command = chosen_command(program, words);
  if (takes_commands(command)) {
    const CLI::App& explained = chosen_command(program, words);
    return words.size() == 1 ? of_words(command_names(explained), words.back()) : Completion{};
  }
  const std::string& begun = words.back();
  std::size_t position = 0;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const CLI::Option* const option = find_option(command, words[i]);
    const bool has_value =
        option != nullptr && option->get_items_expected_max() > 0 && words[i].find('=') == std::string::npos;
    if (has_value && i + 2 == words.size()) return of_value(*option, begun);
    // Such an option (--into) ends all arguments but the last.
    if (option != nullptr && option->get_trigger_on_parse()) position = arguments_of(command).size();
    if (has_value) ++i;
    if (!is_option(words[i]) && !has_value) ++position;
  }
  if (const std::size_t equals = begun.find('='); begun.starts_with("--") && equals != std::string::npos) {
    const CLI::Option* const option = find_option(command, begun);
    if (option == nullptr) return {};
    Completion completion = of_value(*option, begun.substr(equals + 1));
    if (completion.kind != Kind::words) return {Kind::value_files};
    for (Completion::Word& word : completion.words) word.text.insert(0, begun, 0, equals + 1);
    return completion;
  }
  if (begun.starts_with('-')) return of_words(option_names(command), begun);
  std::vector<Completion::Word> commands = command_names(command);
  return commands.empty() ? of_argument(command, position, begun) : of_words(std::move(commands), begun);
}

std::string to_lines(const Completion& completion) {
  constexpr const char* kKinds[] = {"words", "files", "value-files", "folders"};
  std::string lines = fmt::format("{}\n", kKinds[static_cast<int>(completion.kind)]);
  for (const Completion::Word& word : completion.words)
    lines += fmt::format("{} -- {}\n", word.text, word.help);
  return lines;
}

}  // namespace sepconv::app
