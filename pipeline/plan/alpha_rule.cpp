#include "pipeline/plan/alpha_rule.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "io/full_scale.hpp"
#include "pipeline/stages/alpha_weighting.hpp"

namespace sepconv {
namespace {

constexpr std::string_view kAlphaIgnored =
    "alpha is ignored: colours of transparent pixels bleed into their neighbours";

/// Whether the stage mixes the alpha channel with others, or mixes whole rows or columns of positions, so
/// that it no longer describes single pixels.
bool mixes(const StagePtr& stage) {
  return stage->properties().mixes_channels || stage->properties().product != Product::none;
}

/// Whether the chain mixes the channel that Chain::with_mask_channel() adds. A product of NaN is NaN in all
/// channels, so products do not mix it.
bool mixes_mask(const Chain& chain) {
  return std::ranges::any_of(chain.stages(), [](const StagePtr& stage) {
    return stage->properties().mixes_channels && !stage->properties().keeps_last_channel;
  });
}

bool mixes_alpha(const Chain& chain, const ImageSpec& source) {
  return std::ranges::any_of(chain.stages(), mixes) ||
         std::ranges::any_of(chain.specs(source),
                             [&](const ImageSpec& spec) { return spec.channels != source.channels; });
}

/// Why alpha must be a mask: something else also makes pixels missing. Empty if nothing does.
std::string why_mask(const Chain& chain, const MissingPixels& missing) {
  if (missing.is_mask) return "a mask hides pixels";
  if (missing.from_secondary) return "a second image of the chain has missing pixels";
  if (missing.value) return fmt::format("pixels of value {} are missing, too", *missing.value);
  if (const Stage* const stage = stage_with_fixed_means(chain))
    return fmt::format("'{}' says what becomes of missing pixels", stage->text());
  return {};
}

}  // namespace

std::string_view name_of(AlphaRule rule) noexcept { return rule == AlphaRule::weight ? "weight" : "mask"; }

std::optional<AlphaRule> alpha_rule_named(std::string_view name) noexcept {
  for (const AlphaRule rule : {AlphaRule::weight, AlphaRule::mask})
    if (name == name_of(rule)) return rule;
  return std::nullopt;
}

void find_alpha(const Reader& source, const Chain& chain, const MissingOptions& options,
                MissingPixels& missing) {
  const std::int64_t channels = source.spec().channels;
  const std::optional<std::int64_t> declared =
      alpha_channel(source.metadata(), channels, source.layout().stored);
  const std::optional<std::int64_t> alpha = options.alpha ? options.alpha : declared;
  if (!alpha) {
    if (options.alpha_rule)
      missing.ignored_reason +=
          fmt::format("{}MissingOptions::alpha_rule changes nothing, because no channel is alpha",
                      missing.ignored_reason.empty() ? "" : "; ");
    return;
  }
  if (*alpha < 0 || *alpha >= channels)
    throw InvalidArgument(fmt::format("channel {} cannot be alpha: the image has {}", *alpha, channels));
  const bool is_mask = source.metadata().mask_channel && alpha == channels - 1;
  const bool mixed = is_mask ? mixes_mask(chain) : mixes_alpha(chain, source.spec());
  if (!mixed && !options.none) {
    missing.alpha = alpha;
    missing.is_mask = is_mask;
    missing.multiplied = alpha == declared && alpha_is_associated(source.metadata());
    missing.opaque = full_scale(source.layout().stored.value_or(SampleType(source.spec().type)));
    missing.opaque_in_result = missing.opaque;
    for (const StagePtr& stage : chain.stages())
      missing.opaque_in_result = stage->properties().opaque.value_or(missing.opaque_in_result);
  } else if (chain.work() == Work::neighbours) {
    missing.ignored_reason +=
        fmt::format("{}{}{}", missing.ignored_reason.empty() ? "" : "; ", kAlphaIgnored,
                    options.none ? "" : ", because the chain mixes it with them or over whole sides");
  }
}

void choose_alpha_rule(const Reader& source, const Chain& chain, const MissingOptions& options,
                       MissingPixels& missing) {
  if (!missing.alpha) return;
  const std::string mask_reason = why_mask(chain, missing);
  if (options.alpha_rule) {
    if (*options.alpha_rule == AlphaRule::weight && !mask_reason.empty())
      throw InvalidArgument(fmt::format(
          "MissingOptions::alpha_rule requests alpha as a weight, but {}; leave one of the two out",
          mask_reason));
    missing.rule = *options.alpha_rule;
    missing.rule_reason = "MissingOptions::alpha_rule says so";
    return;
  }
  const std::string reason = source.layout().has_mask              ? "the file stores it as a mask"
                             : is_georeferenced(source.metadata()) ? "the file has a georeference"
                                                                   : mask_reason;
  missing.rule = reason.empty() ? AlphaRule::weight : AlphaRule::mask;
  missing.rule_reason =
      reason.empty() ? "the image is a picture, without georeference or nodata value" : reason;
}

std::vector<std::string> alpha_weight_notes(const MissingPixels& missing, const Chain& nodata_chain) {
  if (!nodata_chain.computes()) return {};
  std::vector<std::string> notes{fmt::format("alpha (channel {}) is a weight, because {}: {}", *missing.alpha,
                                             missing.rule_reason, nodata_chain.text())};
  if (missing.multiplied)
    notes.emplace_back("colours are multiplied by alpha in the source, and also in the result");
  const bool has_other_stages = std::ranges::any_of(nodata_chain.stages(), [](const StagePtr& stage) {
    return !stage->properties().is_average && !stage->traits().is_permutation() && !stage->traits().alpha;
  });
  if (has_other_stages)
    notes.emplace_back(
        "stages that do not average leave alpha unchanged, and of neighbours all count equally whose alpha is "
        "above 0");
  return notes;
}

}  // namespace sepconv
