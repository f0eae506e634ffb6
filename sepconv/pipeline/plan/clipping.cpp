#include "sepconv/pipeline/plan/clipping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace sepconv {
namespace {

bool is_store(const Stage& stage) {
  const auto& op = stage.traits().pointwise;
  return op && (op->kind == PointwiseOp::Kind::round_to || op->kind == PointwiseOp::Kind::store_missing);
}

/// What all types that the chain ends with hold.
ValueRange held_by(const Chain& chain, StoredType stored) {
  ValueRange held = range_of(stored);
  for (std::size_t i = chain.size(); i-- > 0;) {
    const StageTraits& traits = chain.stages()[i]->traits();
    if (traits.moves_only) continue;
    if (!is_store(*chain.stages()[i])) break;
    if (traits.pointwise->kind != PointwiseOp::Kind::round_to) continue;
    const ValueRange cast = range_of(StoredType(traits.pointwise->type));
    held = {std::max(held.low, cast.low), std::min(held.high, cast.high)};
  }
  return held;
}

}  // namespace

Chain before_store(const Chain& chain) {
  std::vector<StagePtr> stages = chain.stages();
  for (std::size_t i = stages.size(); i-- > 0;) {
    if (stages[i]->traits().moves_only) continue;
    if (!is_store(*stages[i])) break;
    stages.erase(stages.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return Chain(std::move(stages));
}

bool Clipping::is_narrow() const noexcept {
  return made.is_bounded() && made.high - made.low < (held.high - held.low) / 16;
}

std::string Clipping::note() const {
  if (stage.empty() || !(below() || above())) return {};
  const std::string values = made.is_bounded()
                                 ? fmt::format("values from {:.6g} to {:.6g}", made.low, made.high)
                                 : "values of any size";
  std::string becomes;
  if (below()) becomes = fmt::format("what is below {:.0f} is stored as {:.0f}", held.low, held.low);
  if (above())
    becomes +=
        fmt::format("{}what is above {:.0f} as {:.0f}", becomes.empty() ? "" : ", ", held.high, held.high);
  return fmt::format("'{}' can make {}, and {} holds {:.0f} to {:.0f}: {}; {}", stage, values, type, held.low,
                     held.high, becomes, way_out());
}

std::string Clipping::way_out() const {
  constexpr ValueRange kShort{std::numeric_limits<std::int16_t>::min(),
                              std::numeric_limits<std::int16_t>::max()};
  const char* const other = !is_narrow() && kShort.contains(made) ? "i16"
                            : arithmetic == Arithmetic::f64       ? "f64"
                                                                  : "f32";
  return fmt::format("cast:type={} at the end keeps them, in a format that has it (TIFF, NPY, Zarr)", other);
}

std::optional<Clipping> clipping_of(const Reader& source, const Writer& sink, const Chain& given,
                                    const std::vector<ImageSpec>& specs, Arithmetic arithmetic) {
  const StoredType stored = sink.layout().stored.value_or(StoredType(specs.back().type));
  Clipping found{.made = range_of(source.layout().stored.value_or(StoredType(specs.front().type))),
                 .held = held_by(given, stored),
                 .arithmetic = arithmetic};
  if (!given.computes() || !found.held.is_bounded()) return std::nullopt;
  // Of the type of a cast, if that holds less.
  found.type = range_of(StoredType(specs.back().type)).is_bounded() ? std::string(name_of(specs.back().type))
                                                                    : name_of(stored);
  const Chain chain = before_store(given);
  for (const StagePtr& stage : chain.stages()) {
    const bool was_held = !found.below() && !found.above();
    found.made = stage->result_range(found.made);
    const bool is_held = !found.below() && !found.above();
    if (is_held) found.stage.clear();
    if (was_held && !is_held) found.stage = stage->text();
  }
  return found;
}

}  // namespace sepconv
