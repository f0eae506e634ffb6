#include "pipeline/plan/clipping.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sepconv {
namespace {

/// Whether the stage only converts valid values to a type.
bool is_store(const Stage& stage) {
  using enum AlphaOp::Kind;
  const PrimitiveTraits& traits = stage.traits();
  const bool stores_missing = traits.pointwise && traits.pointwise->kind == PointwiseOp::Kind::store_missing;
  const bool stores_alpha = traits.alpha && (traits.alpha->kind == store || traits.alpha->kind == clear);
  return stage.properties().rounds_to || stores_missing || stores_alpha;
}

/// Whether the stage changes no values except by rounding to a type.
bool keeps_values(const Stage& stage) { return stage.traits().is_permutation() || is_store(stage); }

/// The points where values are rounded: the first of consecutive casts, and the chain's end.
std::vector<Clipping> clipping_points(const Chain& chain) {
  const std::vector<StagePtr>& stages = chain.stages();
  std::vector<Clipping> found;
  std::size_t stage_count = 0;  // number of stages up to the last that changes values
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (keeps_values(*stages[i])) continue;
    const bool is_cast =
        std::any_of(stages.begin() + static_cast<std::ptrdiff_t>(stage_count),
                    stages.begin() + static_cast<std::ptrdiff_t>(i),
                    [](const StagePtr& stage) { return stage->properties().rounds_to.has_value(); });
    if (is_cast) found.push_back({.stages = stage_count, .is_last = false});
    stage_count = i + 1;
  }
  found.push_back({.stages = stage_count});
  return found;
}

void restrict_to(Clipping& found, SampleType type, std::string cast) {
  const ValueRange range = range_of(type);
  const Clipping::Bound bound{name_of(type), std::move(cast)};
  if (range.low > found.held.low) found.held.low = range.low, found.low = bound;
  if (range.high < found.held.high) found.held.high = range.high, found.high = bound;
}

/// Sets the range that all types rounded to at this point can represent.
void set_ranges(Clipping& found, const Chain& chain, SampleType stored) {
  for (std::size_t i = found.stages; i < chain.size() && keeps_values(*chain.stages()[i]); ++i) {
    const std::optional<PixelType> type = chain.stages()[i]->properties().rounds_to;
    if (type) restrict_to(found, SampleType(*type), fmt::format("cast:type={}", name_of(*type)));
  }
  if (found.is_last) restrict_to(found, stored, {});
  found.stored = found.held;
  const auto avoid_nodata = [&](double nodata, double next) {
    if (found.stored.low == nodata) found.stored.low = next;
    if (found.stored.high == nodata) found.stored.high = next;
  };
  for (std::size_t i = found.stages; i < chain.size() && keeps_values(*chain.stages()[i]); ++i) {
    const PrimitiveTraits& traits = chain.stages()[i]->traits();
    if (traits.pointwise && traits.pointwise->kind == PointwiseOp::Kind::store_missing)
      avoid_nodata(traits.pointwise->p, traits.pointwise->q);
    if (traits.alpha && traits.alpha->kind == AlphaOp::Kind::store && traits.alpha->p == traits.alpha->r)
      avoid_nodata(traits.alpha->p, traits.alpha->q);
  }
}

}  // namespace

Chain Clipping::before(const Chain& chain) const {
  const std::vector<StagePtr>& all = chain.stages();
  return Chain(std::vector<StagePtr>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(stages)));
}

bool Clipping::is_narrow() const noexcept {
  return made.is_bounded() && made.high - made.low < (held.high - held.low) / 16;
}

std::string Clipping::note() const {
  if (!(below() || above())) return {};
  const Bound& bound = below() ? low : high;
  if (stage.empty() && (bound.cast.empty() || !made.is_bounded())) return {};
  const std::string values = made.is_bounded()
                                 ? fmt::format("values from {:.6g} to {:.6g}", made.low, made.high)
                                 : "values of any size";
  std::string effect;
  if (below()) effect = fmt::format("what is below {:.0f} is stored as {:.0f}", held.low, stored.low);
  if (above())
    effect += fmt::format("{}what is above {:.0f} {}as {:.0f}", effect.empty() ? "" : ", ", held.high,
                          effect.empty() ? "is stored " : "", stored.high);
  const std::string origin =
      stage.empty() ? fmt::format("'{}' can be given", bound.cast) : fmt::format("'{}' can make", stage);
  return fmt::format("{} {}, and {} holds {:.0f} to {:.0f}: {}; {}", origin, values, bound.type, held.low,
                     held.high, effect, way_out(bound));
}

std::string Clipping::way_out(const Bound& bound, bool keeps_fractions) const {
  if (!stretch.empty() && bound.cast.empty())
    return fmt::format("other values of low and high in '{}', or of OutputOptions::range_of_8bit, keep them",
                       stretch.substr(0, stretch.find(" (")));
  std::string_view other = name_of(pixel_type_of(arithmetic));
  for (const PixelType wider : {PixelType::i16, PixelType::u16})
    if (!keeps_fractions && !is_narrow() && range_of(SampleType(wider)).contains(made))
      other = name_of(wider);
  if (!is_last) return fmt::format("cast:type={} in place of {} keeps them", other, bound.cast);
  return fmt::format("cast:type={} {} keeps them, in a format that has it ({}TIFF, NPY, Zarr)", other,
                     bound.cast.empty() ? "at the end" : fmt::format("in place of {}", bound.cast),
                     other == "u16" ? "PNG, " : "");
}

std::vector<Clipping> find_clippings(const Reader& source, const Writer& sink, const Chain& chain,
                                     const std::vector<ImageSpec>& specs, Arithmetic arithmetic) {
  if (!chain.computes()) return {};
  const SampleType stored = sink.layout().stored.value_or(SampleType(specs.back().type));
  std::vector<Clipping> all = clipping_points(chain);
  ValueRange made = range_of(source.layout().stored.value_or(SampleType(specs.front().type)));
  std::optional<std::int64_t> alpha;
  for (const StagePtr& stage : chain.stages())
    if (stage->traits().alpha) alpha = stage->traits().alpha->channel;
  std::size_t done = 0;
  for (Clipping& found : all) {
    found.alpha = alpha;
    found.samples_alpha =
        alpha && found.is_last && !source.metadata().mask_channel && specs.front().type != specs.back().type;
    set_ranges(found, chain, stored);
    found.arithmetic = arithmetic;
    found.made = made;
    for (; done < found.stages; ++done) {
      const Stage& stage = *chain.stages()[done];
      const bool was_inside = !found.below() && !found.above();
      found.made = stage.result_range(found.made);
      const bool is_inside = !found.below() && !found.above();
      if (is_inside) found.stage.clear();
      if (was_inside && !is_inside) found.stage = stage.text();
      if (!stage.traits().is_permutation() && !stage.traits().alpha)
        found.stretch = stage.properties().opaque ? stage.text() : std::string();
    }
    if (found.stage.empty()) found.stage = found.stretch;
    made = found.made;
    for (; !found.is_last && done < chain.size() && keeps_values(*chain.stages()[done]); ++done)
      made = chain.stages()[done]->result_range(made);
  }
  std::erase_if(all, [](const Clipping& found) { return !found.held.is_bounded(); });
  return all;
}

}  // namespace sepconv
