#include "pipeline/report/scaled_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "pipeline/stages/on_volume.hpp"

namespace sepconv {
namespace {

/// A Gaussian with this sigma in pixels has a centre weight of 0.99.
constexpr double kMinSigma = 0.3;

/// Whether the key is a length in pixels within planes.
bool is_length(const StageKey& key) {
  return key.unit == "pixels" && !key.name.ends_with("_z") &&
         (key.type == StageKey::Type::number || key.type == StageKey::Type::integer);
}

bool has_neighbours(const StagePtr& stage) { return Chain(stage).work() == Work::neighbours; }

/// Builds the text of a stage for a level from the text of the image's stage.
struct ScaledStage {
  std::string text;           ///< the stage for the level
  std::string before, after;  ///< name and lengths of the image's stage and of the level's stage
  bool has_length = false, is_narrow = false;

  explicit ScaledStage(const std::string& name) : text(name), before(name), after(name) {}

  void add_length(const StageKey& key, double value, double scale) {
    const bool is_whole = key.type == StageKey::Type::integer;
    const double scaled = is_whole ? std::round(value / scale) : value / scale;
    is_narrow = is_narrow || (is_whole ? scaled == 0 && value > 0 : scaled < kMinSigma);
    const char* const separator = has_length ? "," : ":";
    has_length = true;
    before += fmt::format("{}{}={}", separator, key.name, value);
    after += fmt::format("{}{}={}", separator, key.name, scaled);
    add(fmt::format("{}={}", key.name, scaled));
  }
  void add(const std::string& pair) { text += (text.find(':') == std::string::npos ? ":" : ",") + pair; }
};

ScaledStage scaled_text(const std::string& text, double scale);

/// Scales all lengths of a nested chain, in brackets or not.
void add_chain(const std::string& key, std::string_view value, double scale, ScaledStage& scaled) {
  std::vector<std::string> texts, before, after;
  bool has_length = false;
  for (const std::string& text : split_subchain(value)) {
    const ScaledStage nested = scaled_text(text, scale);
    texts.push_back(nested.text), before.push_back(nested.before), after.push_back(nested.after);
    has_length = has_length || nested.has_length;
    scaled.is_narrow = scaled.is_narrow || nested.is_narrow;
  }
  const auto pair = [&](const std::vector<std::string>& stages) {
    return fmt::format("{}=[{}]", key, fmt::join(stages, " | "));
  };
  scaled.add(pair(texts));
  if (!has_length) return;
  const char* const separator = scaled.has_length ? "," : ":";
  scaled.has_length = true;
  scaled.before += separator + pair(before), scaled.after += separator + pair(after);
}

ScaledStage scaled_text(const std::string& text, double scale) {
  const StageText parts = StageText::split(text);
  ScaledStage scaled(parts.stage);
  const StageEntry* entry = find_by_name(stage_table(), parts.stage);
  if (entry == nullptr) return scaled;  // a stage of the caller, whose keys are unknown
  for (const auto& [name, value] : parts.pairs) {
    const auto key = std::ranges::find(entry->keys, name, &StageKey::name);
    if (key != entry->keys.end() && is_length(*key)) {
      scaled.add_length(*key, std::strtod(value.c_str(), nullptr), scale);
    } else if (key != entry->keys.end() && key->type == StageKey::Type::chain) {
      add_chain(name, value, scale, scaled);
    } else {
      scaled.add(name + "=" + value);
    }
  }
  return scaled;
}

void add_in_plane(const StagePtr& stage, ScaledChain& chain) {
  if (filters_along_z(stage))
    chain.notes.push_back(fmt::format("{} is seen without its filter along z",
                                      stage->text().substr(0, stage->text().find(':'))));
  chain.chain = chain.chain | in_planes(stage);
}

/// Adds the stage for the level, or the unchanged stage if it has no known lengths.
void add_scaled(const StagePtr& stage, double scale, ScaledChain& chain) {
  const ScaledStage scaled = scaled_text(stage->text(), scale);
  add_in_plane(scaled.has_length ? parse_stage(scaled.text) : stage, chain);
  if (scaled.has_length) chain.lengths.push_back(scaled.after);
  if (!scaled.has_length && has_neighbours(stage))
    chain.notes.push_back(
        fmt::format("{} takes the level's neighbours, which are {:.3g} times as far apart as the image's",
                    scaled.before, scale));
  if (scaled.is_narrow)
    chain.notes.push_back(fmt::format(
        "{} is narrower than a pixel of the level, so its effect is hardly visible; a region shows it",
        scaled.before));
}

/// Whether the stage sets an absolute size, independent of the level.
bool sets_absolute_size(const StagePtr& stage) {
  return stage->text().starts_with("resize:size=") || stage->text().starts_with("resize:fit=");
}

}  // namespace

ScaledChain scaled_chain(const Chain& chain, double scale) {
  ScaledChain scaled;
  for (const StagePtr& stage : chain.stages()) {
    if (sets_absolute_size(stage)) scale = 1;
    if (scale == 1 || stage->traits().changes_size) {
      add_in_plane(stage, scaled);
    } else {
      add_scaled(stage, scale, scaled);
    }
  }
  return scaled;
}

}  // namespace sepconv
