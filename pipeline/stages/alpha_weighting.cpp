#include "pipeline/stages/alpha_weighting.hpp"

#include <fmt/format.h>

#include <limits>

#include "pipeline/stages/alpha_stage.hpp"

namespace sepconv {
namespace {

/// State of the colour channels between two stages.
enum class ColourState : std::uint8_t {
  original,    ///< straight values, also where alpha is 0
  straight,    ///< straight values; colours and alpha are NaN where alpha is 0
  multiplied,  ///< premultiplied by alpha
};

class AlphaWeighting {
 public:
  AlphaWeighting(const AlphaWeight& weight, ColourState state) : weight_(weight), state_(state) {}

  void append(const StagePtr& stage) {
    // A stage that selects a pixel from the whole image, such as resize:filter=nearest, accepts colours in
    // any state.
    if (stage->traits().is_permutation() ||
        (stage->properties().is_average && stage->properties().is_selection)) {
      chain_.then(stage);
    } else if (stage->properties().is_average) {
      convert(ColourState::multiplied);
      chain_.then(stage);
    } else {
      convert(ColourState::straight);
      chain_.then(colours_only_stage(stage->weight_by_alpha(weight_), weight_.channel));
      weight_.opaque = append_alpha_rescale(chain_, *stage, weight_.channel, weight_.opaque);
    }
  }

  /// Within a chain transparent pixels are NaN, in any type.
  void convert(ColourState target, PixelType type = PixelType::f64,
               double transparent = std::numeric_limits<double>::quiet_NaN()) {
    if (state_ == target && std::isnan(transparent)) return;
    using Op = AlphaOp::Kind;
    if (target == ColourState::multiplied)
      append_op("multiplied by", Op::multiply, type, 0);
    else if (state_ == ColourState::multiplied)
      append_op("divided by", Op::divide, type, transparent);
    else
      append_op(std::isnan(transparent) ? "missing:" : "missing to:", Op::clear, type, transparent);
    state_ = target;
  }

  ColourState state() const noexcept { return state_; }
  Chain chain() && { return std::move(chain_); }

 private:
  void append_op(std::string_view what, AlphaOp::Kind kind, PixelType type, double transparent) {
    chain_.then(alpha_stage(
        fmt::format("({} alpha {})", what, weight_.channel),
        {.kind = kind, .channel = weight_.channel, .p = transparent, .r = weight_.opaque, .type = type}));
  }

  AlphaWeight weight_;
  ColourState state_;
  Chain chain_;
};

}  // namespace

Chain weight_by_alpha(const Chain& chain, const AlphaWeight& weight, PixelType result) {
  AlphaWeighting weighting(weight, weight.multiplied ? ColourState::multiplied : ColourState::original);
  for (const StagePtr& stage : chain.stages()) weighting.append(stage);
  if (weighting.state() == ColourState::original) return std::move(weighting).chain();
  if (!weight.multiplied)
    weighting.convert(ColourState::straight, result, 0);
  else if (weighting.state() == ColourState::straight)
    weighting.convert(ColourState::multiplied, result);
  return std::move(weighting).chain();
}

Chain weight_by_alpha_within(const Chain& chain, const AlphaWeight& weight) {
  AlphaWeighting weighting(weight, ColourState::straight);
  for (const StagePtr& stage : chain.stages()) weighting.append(stage);
  weighting.convert(ColourState::straight);
  return std::move(weighting).chain();
}

double append_alpha_rescale(Chain& chain, const Stage& stage, std::int64_t alpha, double opaque) {
  const std::optional<double> becomes = stage.properties().opaque;
  if (!becomes || *becomes == opaque) return opaque;
  chain.then(alpha_stage(fmt::format("(alpha {}: {:g} becomes {:g})", alpha, opaque, *becomes),
                         {.kind = AlphaOp::Kind::rescale, .channel = alpha, .p = *becomes, .r = opaque}));
  return *becomes;
}

const Stage* stage_with_fixed_means(const Chain& chain) {
  for (const StagePtr& stage : chain.stages()) {
    const StageProperties& properties = stage->properties();
    if ((properties.is_average && properties.handles_nodata) || properties.has_fixed_mean_policy)
      return stage.get();
  }
  return nullptr;
}

}  // namespace sepconv
