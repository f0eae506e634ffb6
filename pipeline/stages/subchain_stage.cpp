#include "pipeline/stages/subchain_stage.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/count_text.hpp"
#include "core/error.hpp"
#include "pipeline/stages/alpha_weighting.hpp"
#include "pipeline/stages/composite_stage.hpp"
#include "pipeline/stages/expression.hpp"
#include "pipeline/stages/filter_stage.hpp"

namespace sepconv {
namespace {

/// The stages of the chain in sequence, and the operation on the input and their result.
std::vector<StageNode> nodes_of(const Chain& chain, const PointwiseOp& op) {
  Expression expression;
  Expression::Value value = Expression::Value::input;
  for (const StagePtr& stage : chain.stages()) value = expression.apply(stage, value);
  expression.combine(op, Expression::Value::input, value);
  return expression.nodes();
}

Chain chain_of(const std::vector<StageNode>& nodes) {
  Chain chain;
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i) chain.then(nodes[i].stage);
  return chain;
}

class SubchainStage final : public CompositeStage {
 public:
  SubchainStage(std::string text, std::vector<StageNode> nodes)
      : CompositeStage(declaration_of(std::move(text), nodes), nodes, {}) {}

  ImageSpec output_spec(const ImageSpec& input) const override {
    const ImageSpec result = chain().result_spec(input);
    if (result.extent != input.extent || result.channels != input.channels)
      throw InvalidArgument(
          fmt::format("stage '{}' joins an image of {} with one of {}: its chain must keep the channels",
                      text(), count_text(input.channels, "channel"), result.channels));
    return input;
  }

  StagePtr with_nodata() const override {
    std::vector<StageNode> ignoring = replaced([](const StagePtr& stage) { return stage->with_nodata(); });
    std::string ignoring_text = text_with(chain_of(ignoring));
    return std::make_shared<SubchainStage>(std::move(ignoring_text), std::move(ignoring));
  }

  StagePtr weight_by_alpha(const AlphaWeight& weight) const override {
    const Chain weighted = weight_by_alpha_within(chain(), weight);
    std::string weighted_text = text();
    const std::string chain_text = chain().text();
    const std::size_t at = weighted_text.find(chain_text);
    if (at != std::string::npos)
      weighted_text.replace(at, chain_text.size(), weighted.text());
    else
      weighted_text += fmt::format(" ({})", weighted.text());
    PointwiseOp op = *nodes().back().stage->traits().pointwise;
    op.propagates_nodata = true;
    return std::make_shared<SubchainStage>(std::move(weighted_text), nodes_of(weighted, op));
  }

 private:
  static StageDeclaration declaration_of(std::string text, const std::vector<StageNode>& nodes) {
    StageDeclaration declaration = CompositeStage::declaration_of(std::move(text), nodes);
    declaration.properties.has_fixed_mean_policy = stage_with_fixed_means(chain_of(nodes)) != nullptr;
    return declaration;
  }

  StagePtr remade(std::string text, std::vector<StageNode> nodes,
                  std::optional<MissingPolicy>) const override {
    return std::make_shared<SubchainStage>(std::move(text), std::move(nodes));
  }

  Chain chain() const { return chain_of(nodes()); }

  /// The text with the chain that ignores missing pixels; if the text does not contain the chain,
  /// nodata=ignore is appended.
  std::string text_with(const Chain& ignoring) const {
    const std::string chain_text = chain().text(), ignoring_text = ignoring.text();
    const std::size_t at = text().find(chain_text);
    if (chain_text == ignoring_text) return text();
    if (at == std::string::npos) return with_policy(text(), MissingPolicy::ignore);
    return std::string(text()).replace(at, chain_text.size(), ignoring_text);
  }
};

}  // namespace

StagePtr subchain_stage(const StageArguments& stage_args, const Chain& chain, const PointwiseOp& op) {
  for (const StagePtr& stage : chain.stages()) {
    if (const std::string why = why_not_composable(*stage); !why.empty()) stage_args.refuse("chain", why);
  }
  return std::make_shared<SubchainStage>(stage_args.text(), nodes_of(chain, op));
}

StagePtr subchain_stage(std::string text, const Chain& chain, const PointwiseOp& op) {
  return std::make_shared<SubchainStage>(std::move(text), nodes_of(chain, op));
}

}  // namespace sepconv
