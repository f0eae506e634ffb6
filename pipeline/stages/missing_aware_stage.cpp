#include "pipeline/stages/missing_aware_stage.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/pointwise/missing.hpp"
#include "pipeline/stages/execution_backends.hpp"

namespace sepconv {
namespace {

class MissingAwareStage final : public Stage {
 public:
  MissingAwareStage(std::string text, StagePtr plain, std::array<StagePtr, 2> normalized)
      : Stage({std::move(text), plain->traits(), plain->properties()}),
        plain_(std::move(plain)),
        normalized_(std::move(normalized)) {}

  ImageSpec output_spec(const ImageSpec& input) const override { return plain_->output_spec(input); }
  ValueRange result_range(const ValueRange& input) const override { return plain_->result_range(input); }
  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    return normalized_.front()->input_for(output, input);
  }
  Extent max_input_extent(Extent output, const ImageSpec& input) const override {
    return normalized_.front()->max_input_extent(output, input);
  }
  double operations_per_element(Scratch scratch, const ImageSpec& input) const override {
    return normalized_.front()->operations_per_element(scratch, input);
  }
  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override {
    return std::max(plain_->scratch_bytes(scratch, output, input, arithmetic),
                    normalized_in(arithmetic).scratch_bytes(scratch, output, input, arithmetic));
  }

  void apply(const ConstRegion& source, const Region& out, Arithmetic arithmetic,
             Worker& worker) const override {
    const ConstRegion in = needed_of(*this, source, out);
    const bool is_complete =
        find_missing_state(in.pixels, std::numeric_limits<double>::quiet_NaN()) == MissingState::none_missing;
    (is_complete ? *plain_ : normalized_in(arithmetic)).apply(in, out, arithmetic, worker);
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    normalized_in(arithmetic).apply_reference(in, out, arithmetic);
  }

  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, const Epilogue& epilogue) const override {
    const bool may_miss = is_floating(in.pixels.type);
    (may_miss ? normalized_in(arithmetic) : *plain_).enqueue(in, out, arithmetic, arena, stream, epilogue);
  }

 private:
  const Stage& normalized_in(Arithmetic arithmetic) const {
    return *normalized_[static_cast<std::size_t>(arithmetic)];
  }

  StagePtr plain_;
  std::array<StagePtr, 2> normalized_;
};

}  // namespace

StagePtr make_missing_aware_stage(std::string text, StagePtr plain, std::array<StagePtr, 2> normalized) {
  return std::make_shared<MissingAwareStage>(std::move(text), std::move(plain), std::move(normalized));
}

}  // namespace sepconv
