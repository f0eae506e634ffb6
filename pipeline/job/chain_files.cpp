#include "pipeline/job/chain_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "pipeline/chain/secondary_input.hpp"
#include "pipeline/stages/keys.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;

/// A key=value pair of a stage's text.
struct StageValue {
  const StageKey* key = nullptr;
  std::string name{}, value{};

  bool is_chain() const { return key != nullptr && key->type == StageKey::Type::chain && !value.empty(); }
  bool is_in_memory() const {
    return key != nullptr && key->type == StageKey::Type::image && value.starts_with(kInMemoryPrefix);
  }
  bool is_file() const {
    if (key == nullptr || value.empty() || is_in_memory()) return false;
    return key->type == StageKey::Type::path || key->type == StageKey::Type::image;
  }
};

/// The pairs of a stage of stage_table(); empty for a caller-defined stage, whose text is arbitrary.
std::vector<StageValue> stage_values(std::string_view stage) {
  std::vector<StageValue> values;
  const StageEntry* entry = find_by_name(stage_table(), stage.substr(0, stage.find(':')));
  if (entry == nullptr) return values;
  for (auto& [name, value] : StageText::split(stage).pairs) {
    const auto key = std::ranges::find(entry->keys, name, &StageKey::name);
    values.push_back({key == entry->keys.end() ? nullptr : &*key, std::move(name), std::move(value)});
  }
  return values;
}

/// Calls `visit` with each value that names a file, and the text of its stage.
template <class Visit>
void for_each_file(std::string_view stage, const Visit& visit) {
  for (const StageValue& item : stage_values(stage)) {
    if (item.is_chain())
      for (const std::string& nested : split_subchain(item.value)) for_each_file(nested, visit);
    if (item.is_file()) visit(item, stage);
  }
}

}  // namespace

std::string stage_with_pixels_in_memory(const Chain& chain) {
  for (const StagePtr& stage : chain.stages())
    if (std::ranges::any_of(stage_values(stage->text()), &StageValue::is_in_memory))
      return stage->text().substr(0, stage->text().find(':'));  // without the address
  return "";
}

PathsInUse files_read_by(const Chain& chain) {
  PathsInUse read;
  for (const StagePtr& stage : chain.stages())
    for_each_file(stage->text(), [&](const StageValue& item, std::string_view stage_text) {
      read.emplace_back(fs::absolute(item.value), fmt::format("read by the stage {}", stage_text));
    });
  return read;
}

PathsInUse files_read_by(const fs::path& input, const Chain& chain) {
  PathsInUse read = files_read_by(chain);
  read.emplace(read.begin(), input, "the input image");
  return read;
}

std::vector<fs::path> secondary_images_of(const Chain& chain) {
  std::vector<fs::path> images;
  for (const StagePtr& stage : chain.stages())
    for_each_file(stage->text(), [&](const StageValue& item, std::string_view) {
      if (item.key->type == StageKey::Type::image) images.emplace_back(item.value);
    });
  return images;
}

std::string with_absolute_paths(std::string_view stage) {
  std::vector<std::string> pairs;
  for (StageValue& item : stage_values(stage)) {
    if (item.is_file()) item.value = fs::absolute(item.value).lexically_normal();
    if (item.is_chain()) {
      std::vector<std::string> nested = split_subchain(item.value);
      for (std::string& nested_stage : nested) nested_stage = with_absolute_paths(nested_stage);
      const bool in_brackets = item.value.starts_with('[');
      item.value =
          fmt::format("{}{}{}", in_brackets ? "[" : "", fmt::join(nested, " | "), in_brackets ? "]" : "");
    }
    pairs.push_back(fmt::format("{}={}", item.name, item.value));
  }
  if (pairs.empty()) return std::string(stage);
  return fmt::format("{}:{}", stage.substr(0, stage.find(':')), fmt::join(pairs, ","));
}

Chain with_absolute_paths(const Chain& chain) {
  Chain whole;
  for (const StagePtr& stage : chain.stages()) {
    const std::string text = stage->text(), absolute = with_absolute_paths(text);
    whole.then(files_read_by(Chain(stage)).empty() || text == absolute ? stage : parse_stage(absolute));
  }
  return whole;
}

}  // namespace sepconv
