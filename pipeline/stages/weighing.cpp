#include "pipeline/stages/weighing.hpp"

#include <fmt/format.h>

#include <limits>

#include "pipeline/stages/alpha_stage.hpp"

namespace sepconv {
namespace {

/// What colours are between two stages.
enum class Colours : std::uint8_t {
  given,       ///< values, also where alpha is 0
  straight,    ///< values, NaN where alpha is 0, as alpha is
  multiplied,  ///< multiplied by alpha
};

class Weighing {
 public:
  Weighing(const AlphaWeight& weight, Colours at) : weight_(weight), at_(at) {}

  void then(const StagePtr& stage) {
    // What selects a pixel of the image as a whole, as resize:filter=nearest does, takes colours of any kind.
    if (stage->traits().is_permutation || (stage->traits().averages && stage->traits().selects)) {
      chain_.then(stage);
    } else if (stage->traits().averages) {
      become(Colours::multiplied);
      chain_.then(stage);
    } else {
      become(Colours::straight);
      chain_.then(stage_of_colours(stage->weight_by_alpha(weight_), weight_.channel));
      weight_.opaque = then_rescaled_alpha(chain_, *stage, weight_.channel, weight_.opaque);
    }
  }

  /// Within a chain what is nothing is NaN, whatever type holds it.
  void become(Colours wanted, PixelType type = PixelType::f64,
              double nothing = std::numeric_limits<double>::quiet_NaN()) {
    if (at_ == wanted && std::isnan(nothing)) return;
    using Op = AlphaOp::Kind;
    if (wanted == Colours::multiplied)
      change("multiplied by", Op::multiply, type, 0);
    else if (at_ == Colours::multiplied)
      change("divided by", Op::divide, type, nothing);
    else
      change(std::isnan(nothing) ? "missing:" : "missing to:", Op::clear, type, nothing);
    at_ = wanted;
  }

  Colours at() const noexcept { return at_; }
  Chain chain() && { return std::move(chain_); }

 private:
  void change(std::string_view what, AlphaOp::Kind kind, PixelType type, double nothing) {
    chain_.then(alpha_stage(
        fmt::format("({} alpha {})", what, weight_.channel),
        {.kind = kind, .channel = weight_.channel, .p = nothing, .r = weight_.opaque, .type = type}));
  }

  AlphaWeight weight_;
  Colours at_;
  Chain chain_;
};

}  // namespace

Chain weight_by_alpha(const Chain& chain, const AlphaWeight& weight, PixelType result) {
  Weighing weighing(weight, weight.multiplied ? Colours::multiplied : Colours::given);
  for (const StagePtr& stage : chain.stages()) weighing.then(stage);
  if (weighing.at() == Colours::given) return std::move(weighing).chain();
  if (!weight.multiplied)
    weighing.become(Colours::straight, result, 0);
  else if (weighing.at() == Colours::straight)
    weighing.become(Colours::multiplied, result);
  return std::move(weighing).chain();
}

Chain weight_by_alpha_within(const Chain& chain, const AlphaWeight& weight) {
  Weighing weighing(weight, Colours::straight);
  for (const StagePtr& stage : chain.stages()) weighing.then(stage);
  weighing.become(Colours::straight);
  return std::move(weighing).chain();
}

double then_rescaled_alpha(Chain& chain, const Stage& stage, std::int64_t alpha, double opaque) {
  const std::optional<double> becomes = stage.traits().opaque;
  if (!becomes || *becomes == opaque) return opaque;
  chain.then(alpha_stage(fmt::format("(alpha {}: {:g} becomes {:g})", alpha, opaque, *becomes),
                         {.kind = AlphaOp::Kind::rescale, .channel = alpha, .p = *becomes, .r = opaque}));
  return *becomes;
}

const Stage* settles_means(const Chain& chain) {
  for (const StagePtr& stage : chain.stages()) {
    const StageTraits& traits = stage->traits();
    if ((traits.averages && traits.handles_nodata) || traits.joins_settled_means) return stage.get();
  }
  return nullptr;
}

}  // namespace sepconv
