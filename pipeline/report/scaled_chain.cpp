#include "pipeline/report/scaled_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "pipeline/stages/on_volume.hpp"

namespace sepconv {
namespace {

/// A Gaussian of this width in pixels leaves 0.99 of each pixel where it was.
constexpr double kNarrow = 0.3;

/// Within planes.
bool is_length(const StageKey& key) {
  return key.unit == "pixels" && !key.name.ends_with("_z") &&
         (key.type == StageKey::Type::number || key.type == StageKey::Type::integer);
}

bool has_neighbours(const StagePtr& stage) { return Chain(stage).work() == Work::neighbours; }

/// A stage of the level in the making, by the text of that of the image.
struct ScaledStage {
  std::string text;           ///< of the level's
  std::string before, after;  ///< its name and lengths, of the image and of the level
  bool has_length = false, is_narrow = false;

  explicit ScaledStage(const std::string& name) : text(name), before(name), after(name) {}

  void add_length(const StageKey& key, double value, double scale) {
    const bool is_whole = key.type == StageKey::Type::integer;
    const double scaled = is_whole ? std::round(value / scale) : value / scale;
    is_narrow = is_narrow || (is_whole ? scaled == 0 && value > 0 : scaled < kNarrow);
    const char* const mark = has_length ? "," : ":";
    has_length = true;
    before += fmt::format("{}{}={}", mark, key.name, value);
    after += fmt::format("{}{}={}", mark, key.name, scaled);
    add(fmt::format("{}={}", key.name, scaled));
  }
  void add(const std::string& pair) { text += (text.find(':') == std::string::npos ? ":" : ",") + pair; }
};

ScaledStage scaled_text(const std::string& text, double scale);

/// For a chain that a stage has for itself, in brackets or not, all lengths are scaled.
void add_chain(const std::string& key, std::string_view value, double scale, ScaledStage& scaled) {
  std::vector<std::string> texts, before, after;
  bool has_length = false;
  for (const std::string& text : split_own_chain(value)) {
    const ScaledStage one = scaled_text(text, scale);
    texts.push_back(one.text), before.push_back(one.before), after.push_back(one.after);
    has_length = has_length || one.has_length;
    scaled.is_narrow = scaled.is_narrow || one.is_narrow;
  }
  const auto pair = [&](const std::vector<std::string>& stages) {
    return fmt::format("{}=[{}]", key, fmt::join(stages, " | "));
  };
  scaled.add(pair(texts));
  if (!has_length) return;
  const char* const mark = scaled.has_length ? "," : ":";
  scaled.has_length = true;
  scaled.before += mark + pair(before), scaled.after += mark + pair(after);
}

ScaledStage scaled_text(const std::string& text, double scale) {
  const StageText parts = StageText::split(text);
  ScaledStage scaled(parts.stage);
  const StageEntry* entry = find_named(stage_table(), parts.stage);
  if (entry == nullptr) return scaled;  // one of the caller's own, whose keys are not known
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
    chain.notes.push_back(fmt::format("{} is seen without what it does along z",
                                      stage->text().substr(0, stage->text().find(':'))));
  chain.chain = chain.chain | in_planes(stage);
}

/// Adds the stage of the level, or the same where it has no lengths that are known.
void add_scaled(const StagePtr& stage, double scale, ScaledChain& chain) {
  const ScaledStage scaled = scaled_text(stage->text(), scale);
  add_in_plane(scaled.has_length ? parse_stage(scaled.text) : stage, chain);
  if (scaled.has_length) chain.lengths.push_back(scaled.after);
  if (!scaled.has_length && has_neighbours(stage))
    chain.notes.push_back(
        fmt::format("{} takes the level's neighbours, which lie {:.3g} times as far apart as the image's",
                    scaled.before, scale));
  if (scaled.is_narrow)
    chain.notes.push_back(fmt::format(
        "{} is narrower than a pixel of the level, where next to nothing is seen of it; a region shows it",
        scaled.before));
}

/// The result has the size that it says, whatever the level.
bool has_own_size(const StagePtr& stage) { return stage->text().find("resize:size=") == 0; }

}  // namespace

ScaledChain scaled_chain(const Chain& chain, double scale) {
  ScaledChain scaled;
  for (const StagePtr& stage : chain.stages()) {
    if (has_own_size(stage)) scale = 1;
    if (scale == 1 || stage->traits().scales) {
      add_in_plane(stage, scaled);
    } else {
      add_scaled(stage, scale, scaled);
    }
  }
  return scaled;
}

}  // namespace sepconv
