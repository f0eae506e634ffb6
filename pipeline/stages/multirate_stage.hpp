// gaussian:method=multirate. Private to pipeline/stages.
#pragma once

#include <optional>
#include <string>

#include "kernels/conv/border.hpp"
#include "pipeline/chain/stage.hpp"
#include "pipeline/stages/multirate.hpp"
#include "pipeline/stages/nodata_policy.hpp"

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

  Rect input_for(const Rect& output, const ImageSpec& input) const override;
  Extent max_input_extent(Extent output, const ImageSpec& input) const override;
  StagePtr with_nodata() const override;
  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override;
  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker) const override;
  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override;
  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, const Epilogue& epilogue) const override;

 private:
  Multirate filter_;
};

}  // namespace sepconv
