// Description of a kind of stage: its keys, and how text is parsed into a stage. Help, completion and JSON
// use it; texts are parsed with a table of entries.
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

/// Valid values of a numeric key; they are finite in any case.
struct KeyRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool excludes_min = false;  ///< `least` itself is not valid

  bool contains(double value) const noexcept {
    return (excludes_min ? value > least : value >= least) && value <= most;
  }
  /// "greater than 0", "0 or more", "between 0 and 512"; empty if every number is valid.
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
    image,  ///< a file; from a program also pixels
    chain,
    text,
  };

  std::string name;
  Type type = Type::number;
  std::string words;                   ///< description
  std::string unit{};                  ///< of a number; may be empty
  KeyRange range{};                    ///< for numbers, integers and both sides of a size
  std::vector<std::string> choices{};  ///< for choices and flags
  std::string default_text{};          ///< as text; empty: no default, and `words` describe an omitted key
  bool needed = false;
  std::string only_with{};    ///< "operator=gaussian" or "values": the key is rejected without it
  std::string not_with{};     ///< the key is rejected together with this key
  std::string former_name{};  ///< name in older versions: accepted, not listed

  /// All of this as one line.
  std::string help() const;
};
std::string_view name_of(StageKey::Type type) noexcept;

/// The parsed text of a stage: "name:key=value,key=value".
struct StageText {
  std::string stage;
  std::vector<std::pair<std::string, std::string>> pairs;
  /// Images in memory by key, for values that have no text form.
  std::vector<std::pair<std::string, SecondaryImage>> images{};

  /// Splits the text. A token without '=' belongs to the value before it, so lists need no brackets:
  /// "convolve:row=1,2,1,col=-1,0,1". A value that begins with '[' extends to the matching ']':
  /// "subtract:chain=[box:radius=4,border=wrap | abs]". Throws InvalidArgument for a repeated key and for a
  /// key without a value.
  static StageText split(std::string_view text);
};

/// Position of the first `end` from `at` on that is outside of brackets, or text.size(). A bracket counts
/// only at the beginning of a value.
std::size_t find_outside_brackets(std::string_view text, std::size_t at, char end);
/// Splits a chain into the texts of its stages at '|' outside of brackets. Surrounding spaces are removed.
std::vector<std::string> split_chain(std::string_view text);
/// The same for the value of a key of type chain, which may be in brackets.
std::vector<std::string> split_subchain(std::string_view value);

struct StageEntry {
  std::string name;
  std::string help;     ///< one line
  std::string example;  ///< valid text; a test runs it
  std::vector<StageKey> keys;
  std::function<StagePtr(const StageText& text)> make;  ///< throws InvalidArgument
  std::string former_name{};                            ///< name in older versions: accepted, not listed
};
using StageTable = std::vector<StageEntry>;

/// The built-in stages. A program with other stages appends them to a copy and parses with that.
const StageTable& stage_table();

/// The stage or key with this name or else this former name; null if it does not exist.
template <class Range>
auto find_by_name(const Range& items, std::string_view name) noexcept
    -> decltype(&*std::ranges::begin(items)) {
  for (const auto& item : items)
    if (item.name == name) return &item;
  for (const auto& item : items)
    if (!name.empty() && item.former_name == name) return &item;
  return nullptr;
}

/// The entry with this name or former name. Throws InvalidArgument, suggesting the nearest name, if it does
/// not exist.
const StageEntry& find_stage_entry(std::string_view name, std::span<const StageEntry> table = stage_table());

/// Parses one stage, "name" or "name:key=value,...". Throws InvalidArgument, suggesting the nearest name for
/// an unknown stage or key.
StagePtr parse_stage(std::string_view text, std::span<const StageEntry> table = stage_table());

}  // namespace sepconv
