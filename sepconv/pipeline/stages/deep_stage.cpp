#include "sepconv/pipeline/stages/deep_stage.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sepconv/core/error.hpp"

namespace sepconv {
namespace {

/// What both passes are together, for whoever decides on metadata.
StageTraits traits_of(const Stage& along_z, const Stage* in_plane) {
  StageTraits traits = along_z.traits();
  if (in_plane == nullptr) return traits;
  const StageTraits& other = in_plane->traits();
  traits.by_parts = traits.by_parts && other.by_parts;
  traits.needs_f64 = traits.needs_f64 || other.needs_f64;
  traits.averages = traits.averages && other.averages;
  return traits;
}

StageTraits traits_of(const Chain& parts) {
  StageTraits traits{.by_parts = true};
  for (const StagePtr& part : parts.stages()) {
    traits.by_parts = traits.by_parts && part->traits().by_parts;
    traits.needs_f64 = traits.needs_f64 || part->traits().needs_f64;
  }
  return traits;
}

/// What all kinds have in common: no image without z will do.
class Deep : public Stage {
 public:
  Deep(const StageTraits& traits, std::string text) : Stage(traits), text_(std::move(text)) {}

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
    throw InvalidArgument(fmt::format(
        "stage '{}' filters along z, and what it is given has no axis z; give planes along z (of an array "
        "OpenOptions::axes names it, like zyx), or leave out what it does along z",
        text_));
  }

  std::string text_;
};

class DeepStage final : public Deep {
 public:
  DeepStage(std::string text, StagePtr in_plane, StagePtr along_z)
      : Deep(traits_of(*along_z, in_plane.get()), std::move(text)),
        in_plane_(std::move(in_plane)),
        along_z_(std::move(along_z)) {}

  StagePtr along_z() const override { return along_z_; }
  StagePtr in_plane() const override { return in_plane_; }

 private:
  StagePtr in_plane_, along_z_;
};

class DeepStages final : public Deep {
 public:
  DeepStages(std::string text, Chain parts)
      : Deep(traits_of(parts), std::move(text)), parts_(std::move(parts)) {}

  const Chain& parts() const noexcept { return parts_; }

 private:
  Chain parts_;
};

class DeepWindow final : public Deep {
 public:
  DeepWindow(std::string text, StagePtr in_plane, std::function<StagePtr(Extent)> on_volume)
      : Deep(on_volume({1, 1})->traits(), std::move(text)),
        in_plane_(std::move(in_plane)),
        on_volume_(std::move(on_volume)) {}

  StagePtr in_plane() const override { return in_plane_; }
  StagePtr on_volume(Extent plane) const { return on_volume_(plane); }

 private:
  StagePtr in_plane_;
  std::function<StagePtr(Extent)> on_volume_;
};

struct MissingAlongZ {
  std::string_view fact, way_out;
};

MissingAlongZ missing_along_z(AlongZ kind) {
  switch (kind) {
    case AlongZ::means:
      return {"means along z do not leave missing pixels out", "missing=propagate"};
    case AlongZ::extremes:
      return {"along z missing pixels do not stay missing",
              "missing=fill, which gives them the value of what is there, or missing=propagate"};
    case AlongZ::differences:
      break;
  }
  return {"along z missing pixels do not stay missing", "missing=propagate"};
}

}  // namespace

StagePtr make_deep(const Spelling& spelling, StagePtr in_plane, StagePtr along_z) {
  return std::make_shared<DeepStage>(spelling.text(), std::move(in_plane), std::move(along_z));
}

StagePtr make_deep(const Spelling& spelling, Chain parts) {
  return std::make_shared<DeepStages>(spelling.text(), std::move(parts));
}

StagePtr make_deep(const Spelling& spelling, StagePtr in_plane, std::function<StagePtr(Extent)> on_volume) {
  return std::make_shared<DeepWindow>(spelling.text(), std::move(in_plane), std::move(on_volume));
}

bool is_deep_stage(const Stage& stage) { return dynamic_cast<const Deep*>(&stage) != nullptr; }

StagePtr deep_on_volume(const Stage& stage, Extent plane) {
  const auto* const deep = dynamic_cast<const DeepWindow*>(&stage);
  return deep != nullptr ? deep->on_volume(plane) : nullptr;
}

const Chain* deep_parts(const Stage& stage) {
  const auto* const deep = dynamic_cast<const DeepStages*>(&stage);
  return deep != nullptr ? &deep->parts() : nullptr;
}

void check_missing_along_z(const Spelling& spelling, std::optional<MissingPolicy> missing, AlongZ kind) {
  const bool fills = missing == MissingPolicy::fill && kind == AlongZ::extremes;
  if (!missing || missing == MissingPolicy::propagate || fills) return;
  const auto [fact, way_out] = missing_along_z(kind);
  spelling.refuse("missing", fmt::format("{}; take {}, or filter planes", fact, way_out));
}

void refuse_missing_along_z(std::string_view text, AlongZ kind) {
  const auto [fact, way_out] = missing_along_z(kind);
  throw InvalidArgument(
      fmt::format("stage '{}': {}; take {}, or MissingOptions::none to compute with them as values", text,
                  fact, way_out));
}

}  // namespace sepconv
