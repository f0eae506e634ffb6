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

/// The words that start with `prefix`.
Completion complete_words(std::vector<Completion::Word> words, const std::string& prefix) {
  std::erase_if(words, [&prefix](const auto& word) { return !word.text.starts_with(prefix); });
  return {Kind::words, std::move(words)};
}

Completion complete_stage_name(const std::string& prefix) {
  std::vector<Completion::Word> words;
  for (const StageEntry& stage : stage_table()) words.push_back({stage.name, stage.help});
  return complete_words(std::move(words), prefix);
}

/// Completes the value of a stage's key. `head` is the typed text up to and including "KEY=".
Completion complete_key_value(const StageKey& key, const std::string& head, const std::string& prefix) {
  if (key.type == StageKey::Type::path || key.type == StageKey::Type::image) return {Kind::value_files};
  std::vector<Completion::Word> words;
  for (const std::string& choice : key.choices) words.push_back({head + choice, ""});
  return complete_words(std::move(words), prefix);
}

Completion complete_stage(const std::string& prefix);

/// Completes the last stage of a nested chain. The key starts at `key_offset`, its value at `value_offset`.
/// Returns no words after the closing bracket.
Completion complete_nested_chain(const std::string& prefix, std::size_t key_offset,
                                 std::size_t value_offset) {
  if (find_outside_brackets(prefix + ",", key_offset, ',') == prefix.size() && prefix.ends_with(']'))
    return {};
  std::size_t last = value_offset;
  if (value_offset < prefix.size() && prefix[value_offset] == '[') {
    ++last;
    for (std::size_t bar = 0; (bar = find_outside_brackets(prefix, last, '|')) < prefix.size();)
      last = bar + 1;
    last = std::min(prefix.find_first_not_of(' ', last), prefix.size());
  }
  Completion inner = complete_stage(prefix.substr(last));
  for (Completion::Word& word : inner.words) word.text.insert(0, prefix, 0, last);
  return inner;
}

/// Offsets of the keys in the text of a stage.
std::vector<std::size_t> key_offsets(const std::string& stage, std::size_t colon) {
  std::vector<std::size_t> offsets{colon + 1};
  for (std::size_t end = 0; (end = find_outside_brackets(stage, offsets.back(), ',')) < stage.size();)
    offsets.push_back(end + 1);
  return offsets;
}

/// Completes "NAME[:KEY=VALUE,...]".
Completion complete_stage(const std::string& prefix) {
  const std::size_t colon = prefix.find(':');
  if (colon == std::string::npos) return complete_stage_name(prefix);
  const StageEntry* stage = find_by_name(stage_table(), prefix.substr(0, colon));
  if (stage == nullptr) return {};
  std::vector<std::size_t> offsets = key_offsets(prefix, colon);
  const std::size_t last = offsets.back(), equals = prefix.find('=', last);
  offsets.pop_back();
  std::vector<Completion::Word> words;
  for (const StageKey& key : stage->keys) {
    const auto is_this_key = [&](std::size_t begin) {
      const std::size_t end = prefix.find('=', begin);
      return end != std::string::npos &&
             find_by_name(std::span(&key, 1), std::string_view(prefix).substr(begin, end - begin)) != nullptr;
    };
    if (is_this_key(last)) {
      return key.type == StageKey::Type::chain
                 ? complete_nested_chain(prefix, last, equals + 1)
                 : complete_key_value(key, prefix.substr(0, equals + 1), prefix);
    }
    if (std::ranges::none_of(offsets, is_this_key))
      words.push_back({prefix.substr(0, last) + key.name + "=", key.help()});
  }
  return equals == std::string::npos ? complete_words(std::move(words), prefix) : Completion{};
}

/// The choices in a type name that add_choices() made; empty for other type names. "..." is not a choice.
std::vector<std::string> type_choices(std::string type) {
  type.resize(std::min(type.find('['), type.size()));
  const bool has_words = type.find(kWordSeparator) != std::string::npos &&
                         std::ranges::none_of(type, [](unsigned char c) { return std::isupper(c) != 0; });
  if (!has_words) return {};
  std::vector<std::string> words = CLI::detail::split(type, kWordSeparator);
  std::erase(words, "...");
  return words;
}

Completion complete_value(const CLI::Option& option, const std::string& prefix) {
  const std::string type = option.get_type_name();
  if (type == kFileType) return {Kind::files};
  if (type == kFolderType) return {Kind::folders};
  if (type == kStageType) return complete_stage_name(prefix);
  if (type == kStageTextType) return complete_stage(prefix);
  // For a list the last element is completed.
  const std::string head =
      option.get_delimiter() == '\0' ? "" : prefix.substr(0, prefix.rfind(option.get_delimiter()) + 1);
  std::vector<Completion::Word> words;
  for (const std::string& word : type_choices(type)) words.push_back({head + word, ""});
  return complete_words(std::move(words), prefix);
}

std::vector<Completion::Word> command_names(const CLI::App& commands) {
  std::vector<Completion::Word> words;
  for (const CLI::App* command : commands_of(commands))
    words.push_back({command->get_name(), command->get_description()});
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
    const auto found = command->get_subcommands(
        [&](const CLI::App* candidate) { return candidate->get_name() == words.front(); });
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
bool expects_command_names(const CLI::App& command) {
  const auto arguments = arguments_of(command);
  return !arguments.empty() && arguments.front()->get_type_name() == kCommandType;
}

Completion complete_argument(const CLI::App& command, std::size_t position, const std::string& prefix) {
  const auto arguments = arguments_of(command);
  if (arguments.empty()) return {};
  const bool is_repeated = arguments.back()->get_items_expected_max() > 1;
  if (position >= arguments.size() && !is_repeated) return {};
  return complete_value(*arguments[std::min(position, arguments.size() - 1)], prefix);
}

}  // namespace

Completion complete(const CLI::App& program, std::span<const std::string> words) {
  if (words.empty()) return {};
  const CLI::App& command = chosen_command(program, words);
  if (expects_command_names(command)) {
    const CLI::App& help_target = chosen_command(program, words);
    return words.size() == 1 ? complete_words(command_names(help_target), words.back()) : Completion{};
  }
  const std::string& prefix = words.back();
  std::size_t position = 0;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const CLI::Option* const option = find_option(command, words[i]);
    const bool has_value =
        option != nullptr && option->get_items_expected_max() > 0 && words[i].find('=') == std::string::npos;
    if (has_value && i + 2 == words.size()) return complete_value(*option, prefix);
    // Such an option (--output-dir) ends all arguments but the last.
    if (option != nullptr && option->get_trigger_on_parse()) position = arguments_of(command).size();
    if (has_value) ++i;
    if (!is_option(words[i]) && !has_value) ++position;
  }
  if (const std::size_t equals = prefix.find('='); prefix.starts_with("--") && equals != std::string::npos) {
    const CLI::Option* const option = find_option(command, prefix);
    if (option == nullptr) return {};
    Completion completion = complete_value(*option, prefix.substr(equals + 1));
    if (completion.kind != Kind::words) return {Kind::value_files};
    for (Completion::Word& word : completion.words) word.text.insert(0, prefix, 0, equals + 1);
    return completion;
  }
  if (prefix.starts_with('-')) return complete_words(option_names(command), prefix);
  std::vector<Completion::Word> commands = command_names(command);
  return commands.empty() ? complete_argument(command, position, prefix)
                          : complete_words(std::move(commands), prefix);
}

std::string to_lines(const Completion& completion) {
  constexpr const char* kKinds[] = {"words", "files", "value-files", "folders"};
  std::string lines = fmt::format("{}\n", kKinds[static_cast<int>(completion.kind)]);
  for (const Completion::Word& word : completion.words)
    lines += fmt::format("{} -- {}\n", word.text, word.help);
  return lines;
}

}  // namespace sepconv::app
