// Declarations of the keys of a stage: data that points into its options. Parsing, checks, Stage::text(),
// help, completion and JSON are derived from it.
// docs/adding-a-stage.md shows a stage that consists of an options struct, keys() and make(), combined by a
// constant StageKind: kInvert({.white = 200}) creates the stage, and kInvert.entry() is its row in a table
// that texts are parsed with.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "pipeline/chain/chain.hpp"
#include "pipeline/chain/stage_entry.hpp"

namespace sepconv {

/// A choice among words, one per value of an enumeration; choice() creates it.
struct Choice {
  std::vector<std::string> words;
  std::function<std::optional<std::size_t>()> get;  ///< empty: omitted; words.size(): invalid value
  std::function<void(std::size_t)> set;
};

/// Pointer to an option. An optional, a list, path, image, chain or text may be omitted.
using KeyValue = std::variant<double*, std::optional<double>*, std::int64_t*, std::optional<std::int64_t>*,
                              bool*, std::vector<double>*, std::optional<Extent>*, std::filesystem::path*,
                              SecondaryImage*, Chain*, Choice, std::string*>;

/// A StageKey and the location of its value. The default is the value in default-constructed options.
struct Key {
  std::string_view name;
  KeyValue value;
  std::string_view words;
  std::string_view unit = "";
  KeyRange range = {};
  bool needed = false;
  std::string_view only_with = "";
  std::string_view not_with = "";
  std::string_view former_name = "";  ///< name in older versions: accepted, not listed
};
using Keys = std::vector<Key>;

constexpr KeyRange above(double low) { return {.least = low, .excludes_min = true}; }
constexpr KeyRange at_least(double low) { return {.least = low}; }
constexpr KeyRange between(double low, double high) { return {.least = low, .most = high}; }

/// `option` has the enumeration type E or std::optional<E>.
template <class E>
using ChoiceWords = std::vector<std::pair<std::string_view, E>>;
template <class Option, class E>
Choice choice_of(Option& option, ChoiceWords<E> words) {
  Choice choice;
  for (const auto& [word, value] : words) choice.words.emplace_back(word);
  choice.get = [&option, words]() -> std::optional<std::size_t> {
    if (option == Option{} && !std::is_same_v<Option, E>) return std::nullopt;
    std::size_t i = 0;
    while (i < words.size() && !(option == words[i].second)) ++i;
    return i;
  };
  choice.set = [&option, words](std::size_t i) { option = words[i].second; };
  return choice;
}
template <class E>
Choice choice(E& option, ChoiceWords<std::type_identity_t<E>> words) {
  return choice_of<E, E>(option, std::move(words));
}
template <class E>
Choice choice(std::optional<E>& option, ChoiceWords<std::type_identity_t<E>> words) {
  return choice_of<std::optional<E>, E>(option, std::move(words));
}

/// Concatenates the lists.
Keys joined(std::initializer_list<Keys> all);

/// Parses the value of a key of type chain, in brackets or not. Throws InvalidArgument.
Chain parse_chain(std::string_view text);

/// Descriptions for help and completion.
std::vector<StageKey> describe(const Keys& keys);

/// The options of a stage and their text. Both constructors throw InvalidArgument for values that the keys do
/// not allow. A key counts as given if its text is given, or if its value differs from the default.
class StageArguments {
 public:
  StageArguments(std::string_view stage, Keys keys, const Keys& defaults);
  /// Parses the values of the text into the options that `keys` point to.
  StageArguments(const StageText& text, Keys keys);

  /// All values that apply, in the order of the keys; the text parses back to the same stage.
  std::string text() const;

  /// Throws InvalidArgument: "stage 'clamp' cannot take low=3: it must not exceed high", or "needs 'low':
  /// ..." if the key was omitted.
  [[noreturn]] void refuse(std::string_view key, std::string_view why) const;

 private:
  const Key* find(std::string_view name) const noexcept;
  /// Whether `condition`, a key or "key=value", is met by the options.
  bool is_met(std::string_view condition) const;
  /// Whether only_with and not_with allow the key.
  bool applies(const Key& key) const;
  void check(const std::vector<std::string>& given) const;
  [[noreturn]] void fail_unknown(const std::string& key) const;

  std::string stage_;
  Keys keys_;
};

/// A kind of stage: `keys` declares its options, and `make` creates the stage from checked options.
template <class Options>
struct StageKind {
  std::string_view name;
  std::string_view help;     ///< one line
  std::string_view example;  ///< valid text
  Keys (*keys)(Options& options);
  StagePtr (*make)(const Options& options, const StageArguments& stage_args);
  std::string_view former_name = {};  ///< name in older versions: accepted, not listed

  /// Creates the stage. Throws InvalidArgument.
  StagePtr operator()(Options options) const {
    Options defaults;
    return make(options, StageArguments(name, keys(options), keys(defaults)));
  }

  StageEntry entry() const {
    Options defaults;
    return {std::string(name),
            std::string(help),
            std::string(example),
            describe(keys(defaults)),
            [kind = *this](const StageText& text) {
              Options options;
              const StageArguments stage_args(text, kind.keys(options));
              return kind.make(options, stage_args);
            },
            std::string(former_name)};
  }
};

}  // namespace sepconv
