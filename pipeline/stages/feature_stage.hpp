// Expressions with properties that do not follow from their nodes. Private to pipeline/stages.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/stages/composite_stage.hpp"
#include "pipeline/stages/filter_stage.hpp"

namespace sepconv {

struct FeatureTraits {
  std::optional<MissingPolicy> default_nodata{};  ///< as in CompositeStage
  /// NaN propagates through the nodes by IEEE arithmetic: they have no other variants for missing pixels.
  bool propagates = false;
  bool is_average = false;  ///< StageProperties::is_average
  /// Results are weighted means of the input extended by this border.
  std::optional<Border> mean_within{};
  std::string note{};  ///< StageProperties::note
};

class FeatureStage final : public CompositeStage {
 public:
  FeatureStage(std::string text, std::vector<StageNode> nodes, FeatureTraits traits)
      : CompositeStage(declared(std::move(text), nodes, traits), nodes, traits.default_nodata),
        traits_(std::move(traits)) {}

  StagePtr with_nodata() const override {
    if (!traits_.propagates) return CompositeStage::with_nodata();
    FeatureTraits traits = traits_;
    traits.default_nodata.reset();
    return std::make_shared<FeatureStage>(
        traits_.default_nodata ? with_policy(text(), *traits_.default_nodata) : text(), nodes(),
        std::move(traits));
  }

  ValueRange result_range(const ValueRange& input) const override {
    return traits_.mean_within ? extended_by(*traits_.mean_within, input)
                               : CompositeStage::result_range(input);
  }

 private:
  static StageDeclaration declared(std::string text, const std::vector<StageNode>& nodes,
                                   const FeatureTraits& traits) {
    StageDeclaration declaration = declaration_of(std::move(text), nodes);
    declaration.properties.handles_nodata |= traits.propagates && !traits.default_nodata;
    declaration.properties.is_average = traits.is_average;
    declaration.properties.note = traits.note;
    return declaration;
  }

  StagePtr remade(std::string text, std::vector<StageNode> nodes,
                  std::optional<MissingPolicy> default_nodata) const override {
    FeatureTraits traits = traits_;
    traits.default_nodata = default_nodata;
    return std::make_shared<FeatureStage>(std::move(text), std::move(nodes), std::move(traits));
  }

  FeatureTraits traits_;
};

}  // namespace sepconv
