// The table of all stages, and parsing. Chain itself knows no stages. A new stage adds its entry to
// stage_table().
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.hpp"
#include "pipeline/chain/chain.hpp"
#include "pipeline/stages/aliases.hpp"
#include "pipeline/stages/spelling_suggestion.hpp"
#include "pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

[[noreturn]] void fail_unknown(std::string_view name, std::span<const StageEntry> table) {
  if (name.empty()) throw InvalidArgument("a stage has no name; write one, like gaussian:sigma=2");
  std::string advice = alternatives_for(name);
  if (advice.empty()) {
    std::vector<std::string> known;
    for (const StageEntry& entry : table) known.push_back(entry.name);
    const auto suggestion = nearest(name, known);
    advice = suggestion ? fmt::format("did you mean '{}'?", *suggestion)
                        : fmt::format("there are {}", fmt::join(known, ", "));
  }
  throw InvalidArgument(fmt::format("unknown stage '{}': {}", name, advice));
}

}  // namespace

const StageTable& stage_table() {
  static const StageTable all = {
      GaussianOptions::entry(),
      BoxOptions::entry(),
      BinomialOptions::entry(),
      SobelOptions::entry(),
      ScharrOptions::entry(),
      DerivativeOptions::entry(),
      GradientOptions::entry(),
      GaussianLaplaceOptions::entry(),
      DogOptions::entry(),
      UnsharpOptions::entry(),
      ConvolveOptions::entry(),
      CorrelateOptions::entry(),
      MixChannelsOptions::entry(),
      MathOptions::entry(),
      ScaleOptions::entry(),
      CastOptions::entry(),
      StretchOptions::entry(),
      ClampOptions::entry(),
      AbsOptions::entry(),
      ThresholdOptions::entry(),
      TransposeOptions::entry(),
      GemmStageOptions::entry(),
      ReduceOptions::entry(),
      ResizeOptions::entry(),
      MedianOptions::entry(),
      PercentileOptions::entry(),
      RankOptions::entry(),
      ErodeOptions::entry(),
      DilateOptions::entry(),
      OpeningOptions::entry(),
      ClosingOptions::entry(),
      TophatOptions::entry(),
      BlackhatOptions::entry(),
      StddevOptions::entry(),
      LocalRangeOptions::entry(),
      LocalNormalizeOptions::entry(),
      GuidedOptions::entry(),
      HessianOptions::entry(),
      StructureTensorOptions::entry(),
      SatoOptions::entry(),
      AddOptions::entry(),
      SubtractOptions::entry(),
      MultiplyOptions::entry(),
      DivideOptions::entry(),
      MinOptions::entry(),
      MaxOptions::entry(),
      BlendOptions::entry(),
  };
  return all;
}

const StageEntry& find_stage_entry(std::string_view name, std::span<const StageEntry> table) {
  const StageEntry* entry = find_by_name(table, name);
  if (entry == nullptr) fail_unknown(name, table);
  return *entry;
}

StagePtr parse_stage(std::string_view text, std::span<const StageEntry> table) {
  StageText parts = StageText::split(text);
  const StageEntry& entry = find_stage_entry(parts.stage, table);
  parts.stage = entry.name;
  return entry.make(parts);
}

Chain Chain::parse(std::span<const std::string> stages, std::span<const StageEntry> table) {
  Chain chain;
  for (const std::string& stage : stages) chain.then(parse_stage(stage, table));
  return chain;
}

Chain Chain::parse(std::initializer_list<std::string_view> stages, std::span<const StageEntry> table) {
  Chain chain;
  for (const std::string_view stage : stages) chain.then(parse_stage(stage, table));
  return chain;
}

}  // namespace sepconv
