#include "pipeline/plan/chain_files.hpp"

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
struct Given {
  const StageKey* key = nullptr;
  std::string name{}, value{};

  bool is_chain() const { return key != nullptr && key->type == StageKey::Type::chain && !value.empty(); }
  bool is_in_memory() const {
    return key != nullptr && key->type == StageKey::Type::image && value.starts_with(kInMemoryText);
  }
  bool is_file() const {
    if (key == nullptr || value.empty() || is_in_memory()) return false;
    return key->type == StageKey::Type::path || key->type == StageKey::Type::image;
  }
};

/// The pairs of a stage of stage_table(); empty for a caller-defined stage, whose text is arbitrary.
std::vector<Given> given_to(std::string_view stage) {
  std::vector<Given> all;
  const StageEntry* entry = find_named(stage_table(), stage.substr(0, stage.find(':')));
  if (entry == nullptr) return all;
  for (auto& [name, value] : StageText::split(stage).pairs) {
    const auto key = std::ranges::find(entry->keys, name, &StageKey::name);
    all.push_back({key == entry->keys.end() ? nullptr : &*key, std::move(name), std::move(value)});
  }
  return all;
}

/// Calls `take` with each value that names a file, and the text of its stage.
template <class Take>
void for_each_file(std::string_view stage, const Take& take) {
  for (const Given& given : given_to(stage)) {
    if (given.is_chain())
      for (const std::string& within : split_own_chain(given.value)) for_each_file(within, take);
    if (given.is_file()) take(given, stage);
  }
}

}  // namespace

std::string stage_with_pixels_in_memory(const Chain& chain) {
  for (const StagePtr& stage : chain.stages())
    if (std::ranges::any_of(given_to(stage->text()), &Given::is_in_memory))
      return stage->text().substr(0, stage->text().find(':'));  // without the address, which is meaningless
                                                                // to users
  return "";
}

PathsInUse files_read_by(const Chain& chain) {
  PathsInUse read;
  for (const StagePtr& stage : chain.stages())
    for_each_file(stage->text(), [&](const Given& given, std::string_view of) {
      read.emplace_back(fs::absolute(given.value), fmt::format("read by the stage {}", of));
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
    for_each_file(stage->text(), [&](const Given& given, std::string_view) {
      if (given.key->type == StageKey::Type::image) images.emplace_back(given.value);
    });
  return images;
}

std::string with_whole_paths(std::string_view stage) {
  std::vector<std::string> pairs;
  for (Given& given : given_to(stage)) {
    if (given.is_file()) given.value = fs::absolute(given.value).lexically_normal();
    if (given.is_chain()) {
      std::vector<std::string> within = split_own_chain(given.value);
      for (std::string& one : within) one = with_whole_paths(one);
      const bool in_brackets = given.value.starts_with('[');
      given.value =
          fmt::format("{}{}{}", in_brackets ? "[" : "", fmt::join(within, " | "), in_brackets ? "]" : "");
    }
    pairs.push_back(fmt::format("{}={}", given.name, given.value));
  }
  if (pairs.empty()) return std::string(stage);
  return fmt::format("{}:{}", stage.substr(0, stage.find(':')), fmt::join(pairs, ","));
}

Chain with_whole_paths(const Chain& chain) {
  Chain whole;
  for (const StagePtr& stage : chain.stages()) {
    const std::string text = stage->text(), other = with_whole_paths(text);
    whole.then(files_read_by(Chain(stage)).empty() || text == other ? stage : parse_stage(other));
  }
  return whole;
}

}  // namespace sepconv
