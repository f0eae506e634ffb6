// All stages by name. A new stage file adds its function to definitions().
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sepconv/core/error.hpp"
#include "sepconv/pipeline/stages/definition.hpp"
#include "sepconv/pipeline/stages/synonyms.hpp"

namespace sepconv {
namespace {

const StageDefinitions& definitions() {
  static const StageDefinitions all = [] {
    StageDefinitions joined;
    for (const auto contribute :
         {gaussian_stages, box_stages, binomial_stages, derivative_stages, multi_scale_stages, taps_stages,
          matrix_stages, pointwise_stages, transpose_stages, gemm_stages}) {
      std::ranges::move(contribute(), std::back_inserter(joined));
    }
    return joined;
  }();
  return all;
}

/// For the name of a stage that there is not.
std::string suggestion(std::string_view name, const std::vector<std::string>& known) {
  if (const std::string advice = advice_for(name); !advice.empty()) return advice;
  const auto meant = nearest(name, known);
  return meant ? fmt::format("did you mean '{}'?", *meant)
               : fmt::format("there are {}", fmt::join(known, ", "));
}

template <class Range, class Projection>
std::vector<std::string> names(const Range& range, Projection projection) {
  std::vector<std::string> result;
  std::ranges::transform(range, std::back_inserter(result), projection);
  return result;
}

}  // namespace

StagePtr parse_stage(std::string_view text) {
  const StageArgs args(text);
  const auto definition =
      std::ranges::find(definitions(), args.stage(), [](const auto& d) { return d.entry.name; });
  if (definition == definitions().end()) {
    throw InvalidArgument(fmt::format("unknown stage '{}': {}", args.stage(),
                                      suggestion(args.stage(), names(stage_table(), &StageEntry::name))));
  }
  const std::vector<std::string> keys = names(definition->entry.keys, &StageEntry::Key::name);
  for (const auto& [key, value] : args.pairs()) {
    if (std::ranges::find(keys, key) != keys.end()) continue;
    if (keys.empty())
      throw InvalidArgument(fmt::format("stage '{}' takes no '{}': it has no keys", args.stage(), key));
    const auto meant = nearest(key, keys);
    throw InvalidArgument(fmt::format("stage '{}' has no key '{}'{}; its keys are {}", args.stage(), key,
                                      meant ? fmt::format(" (did you mean '{}'?)", *meant) : "",
                                      fmt::join(keys, ", ")));
  }
  const StagePtr stage = definition->make(args);
  if (const std::string key = args.unread(); !key.empty())
    args.fail(key, "with the other keys as they are it means nothing; leave it out");
  return stage;
}

const std::vector<StageEntry>& stage_table() {
  static const std::vector<StageEntry> table = [] {
    std::vector<StageEntry> entries;
    std::ranges::transform(definitions(), std::back_inserter(entries), &StageDefinition::entry);
    return entries;
  }();
  return table;
}

}  // namespace sepconv
