// The stage behind every convolving name: one separable filter, or two over the same input and a pointwise
// operation that joins them.
#pragma once

#include <string>
#include <vector>

#include "sepconv/kernels/conv/conv.hpp"
#include "sepconv/kernels/pointwise/pointwise.hpp"
#include "sepconv/pipeline/stages/keys.hpp"

namespace sepconv {

class FilterStage final : public Stage {
 public:
  /// One filter, or two over the same input, and what joins them: nothing or join(input, filter(input)) of
  /// one, as unsharp, join(filter(input), other filter(input)) of two, as gradient, dog, log.
  FilterStage(std::string text, Border border, std::vector<SeparableTaps> branches, PointwiseOp join);

  /// With " (columns first)" at the end where that is so, which no text can ask for: it is what transposed()
  /// makes.
  std::string text() const override { return text_; }
  Rect input_for(const Rect& output, const ImageSpec& input) const override;
  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override;
  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker) const override;
  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override;
  StagePtr transposed() const override;
  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, std::span<const PointwiseOp> then) const override;

 private:
  bool joined() const noexcept { return join_.kind != PointwiseOp::Kind::copy; }
  struct Regions {
    ConstRegion in;
    Region out;
  };
  Regions as_convolved(const ConstRegion& in, const Region& out) const;
  Extent largest_image(const ImageSpec& input) const;

  std::string text_;
  Border border_;
  std::vector<SeparableTaps> branches_;  // one or two
  PointwiseOp join_;                     // copy: none
};

/// The keys that every convolving stage takes: border, value, flip.
Keys convolving_keys(Border& border, bool& flip);

/// A FilterStage of this spelling, its taps turned round if `flip`.
StagePtr make_filter(const Spelling& spelling, const Border& border, bool flip,
                     std::vector<SeparableTaps> branches, PointwiseOp join = {});

}  // namespace sepconv
