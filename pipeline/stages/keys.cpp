#include "pipeline/stages/keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/error.hpp"
#include "pipeline/stages/spelling_suggestion.hpp"

namespace sepconv {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

/// The text of a value; empty if it is omitted.
std::optional<std::string> text_of(const KeyValue& value) {
  using Text = std::optional<std::string>;
  return std::visit(
      Overloaded{
          []<class T>(const T* option) -> Text { return fmt::format("{}", *option); },
          []<class T>(const std::optional<T>* option) -> Text {
            return *option ? Text(fmt::format("{}", **option)) : std::nullopt;
          },
          [](const std::optional<Extent>* option) -> Text {
            return *option ? Text(fmt::format("{}x{}", (*option)->cols, (*option)->rows)) : std::nullopt;
          },
          [](const std::vector<double>* option) -> Text {
            return option->empty() ? std::nullopt : Text(fmt::format("{}", fmt::join(*option, ",")));
          },
          [](const std::filesystem::path* option) -> Text {
            return option->empty() ? std::nullopt : Text(option->string());
          },
          [](const std::string* option) -> Text { return option->empty() ? std::nullopt : Text(*option); },
          [](const SecondaryImage* option) -> Text {
            return option->empty() ? std::nullopt : Text(option->text());
          },
          [](const Chain* option) -> Text {
            return option->empty() ? std::nullopt : Text(fmt::format("[{}]", option->text()));
          },
          [](const Choice& choice) -> Text {
            const auto i = choice.get();
            return !i ? std::nullopt : Text(*i < choice.words.size() ? choice.words[*i] : "?");
          }},
      value);
}

/// The numbers in a value, for range checks.
std::vector<double> numbers_of(const KeyValue& value) {
  using Numbers = std::vector<double>;
  return std::visit(
      Overloaded{[](double* option) { return Numbers{*option}; },
                 [](std::int64_t* option) { return Numbers{static_cast<double>(*option)}; },
                 [](std::optional<double>* option) { return *option ? Numbers{**option} : Numbers{}; },
                 [](std::optional<std::int64_t>* option) {
                   return *option ? Numbers{static_cast<double>(**option)} : Numbers{};
                 },
                 [](std::optional<Extent>* option) {
                   return *option ? Numbers{static_cast<double>((*option)->cols),
                                            static_cast<double>((*option)->rows)}
                                  : Numbers{};
                 },
                 [](std::vector<double>* option) { return *option; }, [](const auto&) { return Numbers{}; }},
      value);
}

StageKey::Type type_of(const KeyValue& value) {
  using enum StageKey::Type;
  constexpr StageKey::Type types[] = {number, number, integer, integer, flag,   numbers,
                                      size,   path,   image,   chain,   choice, text};
  static_assert(std::size(types) == std::variant_size_v<KeyValue>);
  return types[value.index()];
}

std::vector<std::string> choices_of(const KeyValue& value) {
  if (const Choice* const choice = std::get_if<Choice>(&value)) return choice->words;
  return type_of(value) == StageKey::Type::flag ? std::vector<std::string>{"false", "true"}
                                                : std::vector<std::string>{};
}

constexpr std::size_t kMaxNestedChains = 16;  // parsing recurses and uses the stack

/// Parses the text of a value. Returns an error message, or "" on success.
class ValueParser {
 public:
  explicit ValueParser(const std::string& text) : text_(text) {}

  std::string operator()(double* option) const {
    return parse_whole(text_, *option) ? "" : "a finite number is needed";
  }
  std::string operator()(std::int64_t* option) const {
    return parse_whole(text_, *option) ? "" : "a whole number is needed";
  }
  template <class T>
  std::string operator()(std::optional<T>* option) const {
    return (*this)(&option->emplace());
  }
  std::string operator()(bool* option) const {
    *option = text_ == "true";
    return *option || text_ == "false" ? "" : "it is one of false, true";
  }
  std::string operator()(std::vector<double>* option) const {
    for (std::size_t at = 0; at <= text_.size();) {
      const std::size_t end = std::min(text_.find(',', at), text_.size());
      const std::string_view word = std::string_view(text_).substr(at, end - at);
      if (!parse_whole(word, option->emplace_back())) return fmt::format("'{}' is not a finite number", word);
      at = end + 1;
    }
    return "";
  }
  std::string operator()(std::optional<Extent>* option) const {
    const std::size_t x = std::min(text_.find('x'), text_.size() - 1);
    const std::string_view text = text_;
    Extent& size = option->emplace();
    const bool both = parse_whole(text.substr(0, x), size.cols) && parse_whole(text.substr(x + 1), size.rows);
    return both ? "" : "COLSxROWS is needed, as 640x480 is";
  }
  std::string operator()(std::filesystem::path* option) const {
    *option = text_;
    return "";
  }
  std::string operator()(std::string* option) const {
    *option = text_;
    return "";
  }
  std::string operator()(SecondaryImage* option) const {
    *option = SecondaryImage(text_);
    return text_.starts_with(kInMemoryPrefix)
               ? "pixels in memory have no text form; create the stage from the pixels or from a file"
               : "";
  }
  std::string operator()(Chain* option) const {
    if (text_.starts_with('[') != text_.ends_with(']')) return "a bracket is missing";
    std::size_t nested_chains = 0;
    for (std::size_t at = text_.find("chain="); at != text_.npos; at = text_.find("chain=", at + 1))
      ++nested_chains;
    if (nested_chains > kMaxNestedChains) return "it has too many chains within";
    *option = parse_chain(text_);
    return "";
  }
  std::string operator()(const Choice& choice) const {
    const auto found = std::ranges::find(choice.words, text_);
    if (found == choice.words.end()) return fmt::format("it is one of {}", fmt::join(choice.words, ", "));
    choice.set(static_cast<std::size_t>(found - choice.words.begin()));
    return "";
  }

 private:
  template <class T>
  static bool parse_whole(std::string_view text, T& value) {
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
  }

  const std::string& text_;
};

/// The file name in a value; empty if it has none.
std::string file_name_of(const KeyValue& value) {
  if (const auto* const path = std::get_if<std::filesystem::path*>(&value)) return (*path)->native();
  if (const auto* const image = std::get_if<SecondaryImage*>(&value)) return (*image)->file.native();
  return "";
}

/// An error message for an invalid value; empty if it is valid.
std::string find_error(const Key& key) {
  const std::vector<double> numbers = numbers_of(key.value);
  for (const double number : numbers) {
    if (!std::isfinite(number))
      return numbers.size() > 1 ? fmt::format("'{}' is not a finite number", number)
                                : "a finite number is needed";
    if (!key.range.contains(number)) return fmt::format("it must be {}", key.range.text());
  }
  if (const Choice* const choice = std::get_if<Choice>(&key.value); choice != nullptr) {
    if (choice->get() == choice->words.size())
      return fmt::format("it is one of {}", fmt::join(choice->words, ", "));
  }
  if (const std::string name = file_name_of(key.value); !name.empty()) {
    if (const std::size_t comma = name.find(','); name.find('=', std::min(comma, name.size())) != name.npos)
      return "a name with ',' before '=' reads as another key; give the file another name";
  }
  return "";
}

}  // namespace

Keys joined(std::initializer_list<Keys> groups) {
  Keys keys;
  for (const Keys& group : groups) keys.insert(keys.end(), group.begin(), group.end());
  return keys;
}

Chain parse_chain(std::string_view text) { return Chain::parse(split_subchain(text)); }

std::vector<StageKey> describe(const Keys& keys) {
  std::vector<StageKey> described;
  for (const Key& key : keys) {
    described.push_back({.name = std::string(key.name),
                         .type = type_of(key.value),
                         .words = std::string(key.words),
                         .unit = std::string(key.unit),
                         .range = key.range,
                         .choices = choices_of(key.value),
                         .default_text = text_of(key.value).value_or(""),
                         .needed = key.needed,
                         .only_with = std::string(key.only_with),
                         .not_with = std::string(key.not_with),
                         .former_name = std::string(key.former_name)});
  }
  return described;
}

StageArguments::StageArguments(std::string_view stage, Keys keys, const Keys& defaults)
    : stage_(stage), keys_(std::move(keys)) {
  std::vector<std::string> given;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if (text_of(keys_[i].value) != text_of(defaults[i].value)) given.emplace_back(keys_[i].name);
  }
  check(given);
}

StageArguments::StageArguments(const StageText& text, Keys keys)
    : stage_(text.stage), keys_(std::move(keys)) {
  std::vector<std::string> given;
  const auto mark_given = [&](const Key& key) {
    if (std::ranges::find(given, key.name) != given.end())
      throw InvalidArgument(fmt::format("stage '{}' is given '{}' twice; keep one", stage_, key.name));
    given.emplace_back(key.name);
  };
  for (const auto& [name, value] : text.pairs) {
    const Key* const key = find(name);
    if (key == nullptr) fail_unknown(name);
    mark_given(*key);
    const std::string error_text =
        value.empty() ? "a value is needed" : std::visit(ValueParser(value), key->value);
    if (!error_text.empty())
      throw InvalidArgument(fmt::format("stage '{}' cannot take {}={}: {}", stage_, name, value, error_text));
  }
  for (const auto& [name, image] : text.images) {
    const Key* const key = find(name);
    SecondaryImage* const* const option =
        key != nullptr ? std::get_if<SecondaryImage*>(&key->value) : nullptr;
    if (option == nullptr)
      throw InvalidArgument(fmt::format("stage '{}' takes no image for '{}'", stage_, name));
    **option = image;
    mark_given(*key);
  }
  check(given);
}

std::string StageArguments::text() const {
  std::string text = stage_;
  for (const Key& key : keys_) {
    const auto value = text_of(key.value);
    if (value && applies(key))
      text += fmt::format("{}{}={}", text.size() == stage_.size() ? ":" : ",", key.name, *value);
  }
  return text;
}

void StageArguments::refuse(std::string_view key, std::string_view why) const {
  const auto value = text_of(find(key)->value);
  throw InvalidArgument(value ? fmt::format("stage '{}' cannot take {}={}: {}", stage_, key, *value, why)
                              : fmt::format("stage '{}' needs '{}': {}", stage_, key, why));
}

const Key* StageArguments::find(std::string_view name) const noexcept { return find_by_name(keys_, name); }

bool StageArguments::is_met(std::string_view condition) const {
  const std::size_t equals = condition.find('=');
  const auto value = text_of(find(condition.substr(0, equals))->value);
  return value && (equals == condition.npos || *value == condition.substr(equals + 1));
}

bool StageArguments::applies(const Key& key) const {
  return (key.only_with.empty() || is_met(key.only_with)) && (key.not_with.empty() || !is_met(key.not_with));
}

void StageArguments::check(const std::vector<std::string>& given) const {
  for (const Key& key : keys_) {
    if (applies(key)) {
      if (key.needed && !text_of(key.value)) refuse(key.name, key.words);
      if (const std::string error_text = find_error(key); !error_text.empty()) refuse(key.name, error_text);
    } else if (std::ranges::find(given, key.name) != given.end()) {
      if (key.not_with.empty() || !is_met(key.not_with))
        refuse(key.name, fmt::format("it goes only with {}", key.only_with));
      refuse(key.name, fmt::format("give {} or {}, not both", key.name, key.not_with));
    }
  }
}

void StageArguments::fail_unknown(const std::string& key) const {
  if (keys_.empty())
    throw InvalidArgument(fmt::format("stage '{}' takes no '{}': it has no keys", stage_, key));
  std::vector<std::string> known;
  for (const Key& known_key : keys_) known.emplace_back(known_key.name);
  const Key* const chain = find("chain");
  if (chain != nullptr && text_of(chain->value))
    throw InvalidArgument(
        fmt::format("stage '{}' has no key '{}'; a chain with several keys stands in brackets, like "
                    "{}:chain=[gaussian:sigma=8,radius=20]",
                    stage_, key, stage_));
  const auto suggestion = nearest(key, known);
  throw InvalidArgument(fmt::format("stage '{}' has no key '{}'{}; its keys are {}", stage_, key,
                                    suggestion ? fmt::format(" (did you mean '{}'?)", *suggestion) : "",
                                    fmt::join(known, ", ")));
}

}  // namespace sepconv
