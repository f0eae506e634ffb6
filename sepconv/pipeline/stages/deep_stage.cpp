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

class DeepStage final : public Stage {
 public:
  DeepStage(std::string text, StagePtr in_plane, StagePtr along_z)
      : Stage(traits_of(*along_z, in_plane.get())),
        text_(std::move(text)),
        in_plane_(std::move(in_plane)),
        along_z_(std::move(along_z)) {}

  std::string text() const override { return text_; }
  StagePtr along_z() const override { return along_z_; }
  StagePtr in_plane() const override { return in_plane_; }

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
        "stage '{}' filters along z, and what it is given has no axis z; give a file of planes along z (of "
        "NPY, OpenOptions::axes names it), or leave out what it does along z",
        text_));
  }

  std::string text_;
  StagePtr in_plane_, along_z_;
};

}  // namespace

StagePtr make_deep(const Spelling& spelling, StagePtr in_plane, StagePtr along_z) {
  return std::make_shared<DeepStage>(spelling.text(), std::move(in_plane), std::move(along_z));
}

}  // namespace sepconv
