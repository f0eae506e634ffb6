// What is known of a kind of stage without making one: its keys, and how its text becomes a stage. Help,
// completion and JSON read it; a table of entries is what texts are parsed with.
#pragma once

#include <functional>
#include <limits>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/chain/secondary_input.hpp"
#include "pipeline/chain/stage.hpp"

namespace sepconv {

/// What a number of a key may be; it is finite in any case.
struct KeyRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool above_least = false;  ///< the smallest itself is none

  bool contains(double value) const noexcept {
    return (above_least ? value > least : value >= least) && value <= most;
  }
  /// "greater than 0", "0 or more", "0 to 512"; empty where every number will do.
  std::string text() const;
};

/// One key of a stage.
struct StageKey {
  enum class Type : std::uint8_t {
    number,
    integer,
    flag,
    choice,
    numbers,
    path,
    size,
    image,  ///< the file of one; in a program its pixels, too
    chain,
    text,
  };

  std::string name;
  Type type = Type::number;
  std::string words;                   ///< what it means
  std::string unit{};                  ///< of a number; empty: it has none
  KeyRange range{};                    ///< of numbers, integers and both sides of a size
  std::vector<std::string> choices{};  ///< of a choice and of a flag
  std::string
      default_text{};  ///< as it would be typed; empty: none, and `words` say what leaving it out means
  bool needed = false;
  std::string
      only_with{};         ///< "operator=gaussian" or "values": means nothing without it, and is refused then
  std::string not_with{};  ///< a key together with which it means nothing, and is refused
  std::string former_name{};  ///< of older versions: understood, in no list

  /// All of this in one line.
  std::string help() const;
};
std::string_view name_of(StageKey::Type type) noexcept;

/// The text of a stage, taken apart: "name:key=value,key=value".
struct StageText {
  std::string stage;
  std::vector<std::pair<std::string, std::string>> pairs;
  /// Values that a program has and no text says, by their keys.
  std::vector<std::pair<std::string, SecondaryImage>> images{};

  /// A word without '=' belongs to the value before it, so lists are written plainly:
  /// "convolve:row=1,2,1,col=-1,0,1". What begins with '[' goes on to the ']' that closes it:
  /// "subtract:chain=[box:radius=4,border=wrap | abs]". Throws InvalidArgument for a key that stands twice
  /// and for a value without one.
  static StageText split(std::string_view text);
};

/// Where the text from `at` on has `end` outside of brackets, which begin where a value does; the text's end
/// if it has none.
std::size_t end_outside_brackets(std::string_view text, std::size_t at, char end);
/// Texts of stages with '|' between them, but for that within brackets. Spaces around each are left out.
std::vector<std::string> split_chain(std::string_view text);
/// The same of the value of a chain's key, which may stand in brackets.
std::vector<std::string> split_own_chain(std::string_view value);

struct StageEntry {
  std::string name;
  std::string help;     ///< one line
  std::string example;  ///< parses, and is run by a test
  std::vector<StageKey> keys;
  std::function<StagePtr(const StageText& text)> make;  ///< throws InvalidArgument
  std::string former_name{};                            ///< of older versions: understood, in no list
};
using StageTable = std::vector<StageEntry>;

/// sepconv's own stages. A program that has others puts them behind a copy and parses with that.
const StageTable& stage_table();

/// The stage or key of this name, else the one that had it in an older version; none: null.
template <class Range>
auto find_named(const Range& items, std::string_view name) noexcept -> decltype(&*std::ranges::begin(items)) {
  for (const auto& item : items)
    if (item.name == name) return &item;
  for (const auto& item : items)
    if (!name.empty() && item.former_name == name) return &item;
  return nullptr;
}

/// The entry of this name or former name. Throws InvalidArgument, with the nearest name, where there is none.
const StageEntry& stage_named(std::string_view name, std::span<const StageEntry> table = stage_table());

/// One stage from "name" or "name:key=value,...". Throws InvalidArgument, with the nearest name for an
/// unknown stage or key.
StagePtr parse_stage(std::string_view text, std::span<const StageEntry> table = stage_table());

}  // namespace sepconv
