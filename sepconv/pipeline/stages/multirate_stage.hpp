// gaussian:method=multirate. Private to sepconv/pipeline/stages.
#pragma once

#include <optional>
#include <string>

#include "sepconv/kernels/conv/border.hpp"
#include "sepconv/pipeline/chain/stage.hpp"
#include "sepconv/pipeline/stages/missing_policy.hpp"
#include "sepconv/pipeline/stages/multirate.hpp"

namespace sepconv {

struct Multirate {
  Border border;
  MultirateSide down, across;
  std::optional<MissingPolicy> missing;

  bool renormalises() const noexcept { return missing && *missing != MissingPolicy::propagate; }
};

class MultirateStage final : public Stage {
 public:
  MultirateStage(std::string text, Multirate filter);

  std::string text() const override { return text_; }
  std::string note() const override;
  Rect input_for(const Rect& output, const ImageSpec& input) const override;
  Extent input_at_most(Extent output, const ImageSpec& input) const override;
  StagePtr honouring_missing() const override;
  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override;
  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker) const override;
  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override;
  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, std::span<const PointwiseOp> then) const override;

 private:
  std::string text_;
  Multirate filter_;
};

}  // namespace sepconv
