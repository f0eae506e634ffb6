// The stage of `reduce` and `resize`: changes the image size.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/resample/resample.hpp"
#include "pipeline/chain/stage.hpp"
#include "pipeline/stages/nodata_policy.hpp"

namespace sepconv {

/// The length of a resampled side, given in one of four forms.
struct ResampledSide {
  std::int64_t cell = 0;  ///< this many pixels become one; the last cell may be shorter
  std::int64_t to = 0;    ///< pixels of the result
  double by = 0;          ///< scale factor; the length is rounded half to even, at least 1
  std::int64_t fit = 0;   ///< maximum pixels of the result, which keeps the proportions of the image

  /// Throws InvalidArgument, naming `stage`, if the result would be too long.
  ResampleAxis axis(std::int64_t from, ResampleFilter filter, const std::string& stage) const;
};

class ResampleStage final : public Stage {
 public:
  ResampleStage(std::string text, ResampledSide rows, ResampledSide cols, ResampleFilter filter,
                std::optional<MissingPolicy> missing, std::optional<std::int64_t> alpha = {},
                bool columns_first = false);

  ImageSpec output_spec(const ImageSpec& input) const override;
  Rect input_for(const Rect& output, const ImageSpec& input) const override;
  StagePtr transposed() const override;
  StagePtr with_nodata() const override;
  StagePtr with_alpha_mask(std::int64_t alpha) const override;
  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override;
  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker) const override;
  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override;
  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, const Epilogue& epilogue) const override;

 private:
  Resampling for_image(Extent input) const;

  ResampledSide rows_, cols_;
  ResampleFilter filter_;
  std::optional<MissingPolicy> missing_;
  std::optional<std::int64_t> alpha_;  // with MissingPolicy::ignore
  bool columns_first_;
};

}  // namespace sepconv
