#include "pipeline/stages/volume_filter_stage.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "pipeline/stages/filter_stage.hpp"

namespace sepconv {
namespace {

/// Traits of both passes combined, for decisions about metadata.
StageTraits traits_of(const Stage& along_z, const Stage* in_plane) {
  StageTraits traits = along_z.traits();
  if (in_plane == nullptr) return traits;
  const StageTraits& other = in_plane->traits();
  traits.is_complex_linear = traits.is_complex_linear && other.is_complex_linear;
  traits.needs_f64 = traits.needs_f64 || other.needs_f64;
  traits.is_average = traits.is_average && other.is_average;
  traits.is_selection = traits.is_selection && other.is_selection;
  return traits;
}

StageTraits traits_of(const Chain& parts) {
  StageTraits traits{.is_complex_linear = true};
  for (const StagePtr& part : parts.stages()) {
    traits.is_complex_linear = traits.is_complex_linear && part->traits().is_complex_linear;
    traits.needs_f64 = traits.needs_f64 || part->traits().needs_f64;
  }
  return traits;
}

StageTraits traits_of(const VolumeJoin& join) {
  StageTraits traits = join.in_plane->traits();
  for (const StagePtr& branch : join.branches)
    traits.needs_f64 = traits.needs_f64 || branch->traits().needs_f64;
  return traits;
}

/// Base class of stages that need an axis z; they throw for images without one.
class VolumeOnlyStage : public Stage {
 public:
  VolumeOnlyStage(const StageTraits& traits, std::string text) : Stage(traits), text_(std::move(text)) {}

  std::string text() const override { return text_; }
  Rect input_for(const Rect&, const ImageSpec&) const override { fail(); }
  void apply(const ConstRegion&, const Region&, Arithmetic, Worker&) const override { fail(); }
  void apply_reference(const ConstRegion&, const Region&, Arithmetic) const override { fail(); }
  void enqueue(const ConstRegion&, const Region&, Arithmetic, Arena&, DeviceStream,
               std::span<const PointwiseOp>) const override {
    fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw InvalidArgument(
        fmt::format("stage '{}' filters along z, and its input has no axis z; give planes along z "
                    "(OpenOptions::axes zyx names the only axis of a file so, whatever it was), or leave out "
                    "what it does along z",
                    text_));
  }

  std::string text_;
};

class VolumeFilterStage final : public VolumeOnlyStage {
 public:
  VolumeFilterStage(std::string text, VolumeFilter filter)
      : VolumeOnlyStage(traits_of(*filter.passes.along_z, filter.passes.in_plane.get()), std::move(text)),
        filter_(std::move(filter)) {}

  StagePtr along_z() const override { return filter_.passes.along_z; }
  StagePtr in_plane() const override { return filter_.passes.in_plane; }
  StagePtr with_nodata() const override {
    return filter_.make_with_nodata ? filter_.make_with_nodata() : shared_from_this();
  }
  const NormalizedPasses* normalized() const noexcept {
    return filter_.normalized ? &*filter_.normalized : nullptr;
  }

 private:
  VolumeFilter filter_;
};

class VolumeFilterPasses final : public VolumeOnlyStage {
 public:
  VolumeFilterPasses(std::string text, Chain parts)
      : VolumeOnlyStage(traits_of(parts), std::move(text)), parts_(std::move(parts)) {}

  const Chain& parts() const noexcept { return parts_; }
  StagePtr with_nodata() const override {
    Chain ignoring_parts;
    for (const StagePtr& part : parts_.stages()) ignoring_parts.then(part->with_nodata());
    if (ignoring_parts.text() == parts_.text()) return shared_from_this();
    return std::make_shared<VolumeFilterPasses>(with_policy(text(), MissingPolicy::ignore),
                                                std::move(ignoring_parts));
  }

 private:
  Chain parts_;
};

class VolumeWindow final : public VolumeOnlyStage {
 public:
  VolumeWindow(std::string text, StagePtr in_plane, std::function<StagePtr(Extent)> on_volume)
      : VolumeOnlyStage(on_volume({1, 1})->traits(), std::move(text)),
        in_plane_(std::move(in_plane)),
        on_volume_(std::move(on_volume)) {}

  StagePtr in_plane() const override { return in_plane_; }
  StagePtr on_volume(Extent plane) const { return on_volume_(plane); }

 private:
  StagePtr in_plane_;
  std::function<StagePtr(Extent)> on_volume_;
};

class VolumeJoinStage final : public VolumeOnlyStage {
 public:
  VolumeJoinStage(std::string text, VolumeJoin join)
      : VolumeOnlyStage(traits_of(join), std::move(text)), join_(std::move(join)) {}

  StagePtr in_plane() const override { return join_.in_plane; }
  StagePtr with_nodata() const override {
    return join_.make_with_nodata ? join_.make_with_nodata() : shared_from_this();
  }
  const VolumeJoin& join() const noexcept { return join_; }

 private:
  VolumeJoin join_;
};

/// The result of the stage for an image of one constant value.
double filter_constant(const Stage& stage, double value, Arithmetic arithmetic) {
  double result = 0;
  stage.apply_reference(ConstRegion::whole(view_of(&value, {1, 1})), Region::whole(view_of(&result, {1, 1})),
                        arithmetic);
  return result;
}

}  // namespace

NormalizedPasses normalized_means(const std::function<VolumePasses(const Border&)>& make,
                                  const Border& border, bool fills) {
  NormalizedPasses normalized{.values = make(border), .fills = fills};
  Border weight_border = border;
  for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64}) {
    const auto i = static_cast<std::size_t>(arithmetic);
    // A constant border counts as valid: weight 1 along z, and within planes the weight that the z pass
    // computes from 1.
    VolumePasses& weights = normalized.weights[i];
    if (border.mode == BorderMode::constant) weight_border.value = 1;
    weights.along_z = make(weight_border).along_z;
    normalized.totals[i] = filter_constant(*weights.along_z, 1, arithmetic);
    if (border.mode == BorderMode::constant) weight_border.value = normalized.totals[i];
    weights.in_plane = make(weight_border).in_plane;
    if (weights.in_plane != nullptr)
      normalized.totals[i] = filter_constant(*weights.in_plane, normalized.totals[i], arithmetic);
  }
  return normalized;
}

StagePtr make_volume_filter_stage(std::string text, VolumeFilter filter) {
  return std::make_shared<VolumeFilterStage>(std::move(text), std::move(filter));
}

StagePtr make_volume_filter_stage(std::string text, Chain parts) {
  return std::make_shared<VolumeFilterPasses>(std::move(text), std::move(parts));
}

StagePtr make_volume_filter_stage(std::string text, VolumeJoin join) {
  return std::make_shared<VolumeJoinStage>(std::move(text), std::move(join));
}

StagePtr make_volume_filter_stage(std::string text, StagePtr in_plane,
                                  std::function<StagePtr(Extent)> on_volume) {
  return std::make_shared<VolumeWindow>(std::move(text), std::move(in_plane), std::move(on_volume));
}

bool is_volume_stage(const Stage& stage) { return dynamic_cast<const VolumeOnlyStage*>(&stage) != nullptr; }

StagePtr volume_filter_on_volume(const Stage& stage, Extent plane) {
  const auto* const volume_stage = dynamic_cast<const VolumeWindow*>(&stage);
  return volume_stage != nullptr ? volume_stage->on_volume(plane) : nullptr;
}

const Chain* volume_parts(const Stage& stage) {
  const auto* const volume_stage = dynamic_cast<const VolumeFilterPasses*>(&stage);
  return volume_stage != nullptr ? &volume_stage->parts() : nullptr;
}

const NormalizedPasses* normalized_passes(const Stage& stage) {
  const auto* const volume_stage = dynamic_cast<const VolumeFilterStage*>(&stage);
  return volume_stage != nullptr ? volume_stage->normalized() : nullptr;
}

const VolumeJoin* volume_join(const Stage& stage) {
  const auto* const join_stage = dynamic_cast<const VolumeJoinStage*>(&stage);
  return join_stage != nullptr ? &join_stage->join() : nullptr;
}

}  // namespace sepconv
