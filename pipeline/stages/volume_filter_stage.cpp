#include "pipeline/stages/volume_filter_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.hpp"
#include "pipeline/stages/composite_stage.hpp"
#include "pipeline/stages/expression.hpp"
#include "pipeline/stages/missing_aware_stage.hpp"
#include "pipeline/stages/on_volume.hpp"
#include "pipeline/stages/pointwise_stage.hpp"

namespace sepconv {
namespace {

using Kind = PointwiseOp::Kind;

StageDeclaration declaration_on_volume(const Stage& stage, const std::vector<StageNode>& nodes) {
  StageDeclaration declaration = stage.declaration();
  PrimitiveTraits& traits = declaration.traits;
  StageProperties& properties = declaration.properties;
  properties.filters_along_z = false;
  traits.nan.fuses = false;
  traits.work.halo_in_columns = true;
  for (const StageNode& node : nodes) {
    traits.nan.propagates &= node.stage->traits().nan.propagates;
    properties.runs_on_device &= node.stage->properties().runs_on_device;
    properties.device_kernels |= node.stage->properties().device_kernels;
    properties.tile_cols = std::max(properties.tile_cols, node.stage->properties().tile_cols);
  }
  return declaration;
}

/// A filter on a volume.
class FilterOnVolume final : public CompositeStage {
 public:
  FilterOnVolume(StagePtr stage, std::vector<StageNode> nodes, const ImageSpec& plane,
                 const VolumeShape& shape)
      : CompositeStage(declaration_on_volume(*stage, nodes), nodes, {}),
        stage_(std::move(stage)),
        plane_(plane),
        shape_(shape) {}

  StagePtr with_nodata() const override { return stage_->with_nodata()->on_volume(plane_, shape_); }

 private:
  StagePtr stage_;
  ImageSpec plane_;
  VolumeShape shape_;
};

class VolumeFilterStage final : public Stage {
 public:
  VolumeFilterStage(StageDeclaration declaration, VolumeFilter filter)
      : Stage(std::move(declaration)), filter_(std::move(filter)) {}

  StagePtr in_plane() const override { return filter_.in_plane; }
  StagePtr on_volume(const ImageSpec& plane, const VolumeShape& shape) const override {
    return std::make_shared<FilterOnVolume>(shared_from_this(), filter_.nodes(plane, shape), plane, shape);
  }
  StagePtr with_nodata() const override {
    return filter_.with_nodata ? filter_.with_nodata() : shared_from_this();
  }
  Rect input_for(const Rect&, const ImageSpec&) const override { fail(); }
  void apply(const ConstRegion&, const Region&, Arithmetic, Worker&) const override { fail(); }
  void apply_reference(const ConstRegion&, const Region&, Arithmetic) const override { fail(); }
  void enqueue(const ConstRegion&, const Region&, Arithmetic, Arena&, DeviceStream,
               const Epilogue&) const override {
    fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw InvalidArgument(
        fmt::format("stage '{}' filters along z, and its input has no axis z; give planes along z "
                    "(OpenOptions::axes zyx names the only axis of a file so, whatever it was), or leave out "
                    "what it does along z",
                    text()));
  }

  VolumeFilter filter_;
};

/// Declarations of both passes combined, for decisions about metadata.
StageDeclaration declaration_of(std::string text, const VolumePasses& passes) {
  StageDeclaration declaration = passes.along_z->declaration();
  declaration.text = std::move(text);
  if (passes.in_plane == nullptr) return declaration;
  const StageProperties& other = passes.in_plane->properties();
  StageProperties& properties = declaration.properties;
  declaration.traits.nan.propagates &= passes.in_plane->traits().nan.propagates;
  properties.is_complex_linear &= other.is_complex_linear;
  properties.needs_f64 |= other.needs_f64;
  properties.is_average &= other.is_average;
  properties.is_selection &= other.is_selection;
  properties.runs_on_device &= other.runs_on_device;
  properties.device_kernels |= other.device_kernels;
  return declaration;
}

/// Adds the passes for a volume of this shape.
Expression::Value add(Expression& expression, const VolumePasses& passes, Expression::Value input,
                      const ImageSpec& plane, const VolumeShape& shape) {
  const Expression::Value filtered = expression.apply(passes.along_z, input);
  if (passes.in_plane == nullptr) return filtered;
  return expression.apply(on_volume(passes.in_plane, plane, plane.extent, shape), filtered);
}

/// The result of the stage for an image of one constant value.
double filter_constant(const Stage& stage, double value, Arithmetic arithmetic) {
  double result = 0;
  stage.apply_reference(ConstRegion::whole(view_of(&value, {1, 1})), Region::whole(view_of(&result, {1, 1})),
                        arithmetic);
  return result;
}

/// Passes of weights, and the weight of a window without missing pixels. A constant border counts as valid:
/// weight 1 along z, and within planes the weight that the pass along z computes from 1.
std::pair<VolumePasses, double> weights_of(const NormalizedPasses& normalized, Arithmetic arithmetic) {
  Border border = normalized.border;
  VolumePasses weights;
  if (border.mode == BorderMode::constant) border.value = 1;
  weights.along_z = normalized.weights(border).along_z;
  double total = filter_constant(*weights.along_z, 1, arithmetic);
  if (border.mode == BorderMode::constant) border.value = total;
  weights.in_plane = normalized.weights(border).in_plane;
  if (weights.in_plane != nullptr) total = filter_constant(*weights.in_plane, total, arithmetic);
  return {std::move(weights), total};
}

/// The filter of the valid pixels of a volume.
StagePtr normalized_stage(const std::string& text, const NormalizedPasses& normalized, Arithmetic arithmetic,
                          const ImageSpec& plane, const VolumeShape& shape) {
  constexpr auto kInput = Expression::Value::input;
  Expression expression;
  const auto filtered = [&](Kind read, const VolumePasses& passes) {
    return add(expression, passes, expression.apply(pointwise_stage("(pixels)", {.kind = read})), plane,
               shape);
  };
  Expression::Value result;
  if (normalized.weights) {
    const auto [weights, total] = weights_of(normalized, arithmetic);
    const Expression::Value sums = filtered(Kind::zero_missing, normalized.values);
    result =
        expression.combine({.kind = Kind::renormalise, .p = total}, sums, filtered(Kind::weight, weights));
  } else {
    result = add(expression, normalized.values, kInput, plane, shape);
  }
  if (!normalized.fills) expression.combine({.kind = Kind::keep_missing}, kInput, result);
  return expression.stage(text);
}

}  // namespace

StagePtr make_volume_filter_stage(StageDeclaration declaration, VolumeFilter filter) {
  declaration.properties.filters_along_z = true;
  return std::make_shared<VolumeFilterStage>(std::move(declaration), std::move(filter));
}

StagePtr make_volume_passes(const std::string& text, VolumePasses passes,
                            std::optional<NormalizedPasses> normalized,
                            std::function<StagePtr()> with_nodata) {
  StageDeclaration declaration = declaration_of(text, passes);
  const StagePtr in_plane = passes.in_plane;
  const auto nodes = [text, passes = std::move(passes), normalized = std::move(normalized)](
                         const ImageSpec& plane, const VolumeShape& shape) {
    Expression plain;
    add(plain, passes, Expression::Value::input, plane, shape);
    if (!normalized) return plain.nodes();
    const auto stage_in = [&](Arithmetic arithmetic) {
      return normalized_stage(text, *normalized, arithmetic, plane, shape);
    };
    Expression either;
    either.apply(make_missing_aware_stage(text, plain.stage(text),
                                          {stage_in(Arithmetic::f32), stage_in(Arithmetic::f64)}));
    return either.nodes();
  };
  return make_volume_filter_stage(std::move(declaration), {in_plane, nodes, std::move(with_nodata)});
}

}  // namespace sepconv
