// How a stage declares its keys: once, as data that points into its options. Texts, checks, Stage::text(),
// help, completion and JSON follow from that.
// docs/adding-a-stage.md shows a stage that is made of an options struct, keys() and make(), which a constant
// StageKind ties together: kInvert({.white = 200}) is the stage, kInvert.entry() its line in a table that
// texts are parsed with.
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

/// An enumeration whose values have words; choice() makes it.
struct Choice {
  std::vector<std::string> words;
  std::function<std::optional<std::size_t>()> get;  ///< none: left out; words.size(): no value of it
  std::function<void(std::size_t)> set;
};

/// Where an option is kept. What is optional, a list, a path, an image, a chain or a text may be left out.
using KeyValue = std::variant<double*, std::optional<double>*, std::int64_t*, std::optional<std::int64_t>*,
                              bool*, std::vector<double>*, std::optional<Extent>*, std::filesystem::path*,
                              SecondaryImage*, Chain*, Choice, std::string*>;

/// A StageKey and where its value is kept. The default is what stands there in options that nobody touched.
struct Key {
  std::string_view name;
  KeyValue value;
  std::string_view words;
  std::string_view unit = "";
  KeyRange range = {};
  bool needed = false;
  std::string_view only_with = "";
  std::string_view not_with = "";
  std::string_view former_name = "";  ///< of older versions: understood, in no list
};
using Keys = std::vector<Key>;

constexpr KeyRange above(double low) { return {.least = low, .above_least = true}; }
constexpr KeyRange at_least(double low) { return {.least = low}; }
constexpr KeyRange between(double low, double high) { return {.least = low, .most = high}; }

/// `kept` is of the enumeration E, or an optional one.
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

/// The keys of all, in this order.
Keys joined(std::initializer_list<Keys> all);

/// The stages of a key's text, in brackets or not. Throws InvalidArgument.
Chain parse_chain(std::string_view text);

/// As help and completion know them.
std::vector<StageKey> describe(const Keys& keys);

/// A stage's options and how they are written. Both constructors throw InvalidArgument for what the keys do
/// not allow; a key counts as given when its text is, or when it differs from the default.
class StageArguments {
 public:
  StageArguments(std::string_view stage, Keys keys, const Keys& defaults);
  /// Puts the values of the text where `keys` keep them.
  StageArguments(const StageText& text, Keys keys);

  /// Every value that means something, in the order of the keys: parses back to the same stage.
  std::string text() const;

  /// "stage 'clamp' cannot take low=3: it must not exceed high", or "needs 'low': ..." if it was left out.
  [[noreturn]] void refuse(std::string_view key, std::string_view why) const;

 private:
  const Key* find(std::string_view name) const noexcept;
  /// Whether `condition`, a key or "key=value", holds.
  bool is_met(std::string_view condition) const;
  bool applies(const Key& key) const;
  void check(const std::vector<std::string>& given) const;
  [[noreturn]] void fail_unknown(const std::string& key) const;

  std::string stage_;
  Keys keys_;
};

/// A kind of stage: what `keys` declare of its options, and what `make` makes of options that were checked.
template <class Options>
struct StageKind {
  std::string_view name;
  std::string_view help;     ///< one line
  std::string_view example;  ///< a text that parses
  Keys (*keys)(Options& options);
  StagePtr (*make)(const Options& options, const StageArguments& spelling);
  std::string_view former_name = {};  ///< of older versions: understood, in no list

  /// Throws InvalidArgument.
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
              const StageArguments spelling(text, kind.keys(options));
              return kind.make(options, spelling);
            },
            std::string(former_name)};
  }
};

}  // namespace sepconv
