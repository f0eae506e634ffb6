// The stage behind every convolving name: one separable filter, or two over the same input and a pointwise
// operation that joins them.
#pragma once

#include <string>
#include <vector>

#include "kernels/conv/conv.hpp"
#include "kernels/pointwise/pointwise.hpp"
#include "pipeline/stages/neighbourhood.hpp"
#include "pipeline/stages/nodata_policy.hpp"
#include "pipeline/stages/normalized_convolution.hpp"

namespace sepconv {

/// What every convolving stage's options say besides its taps.
struct Convolving {
  Border border{};
  bool flip = false;
  std::optional<MissingPolicy> missing{};
};

class FilterStage final : public Stage {
 public:
  /// One filter, or two over the same input, and what joins them: nothing or join(input, filter(input)) of
  /// one, as unsharp, join(filter(input), other filter(input)) of two, as gradient, dog, gaussian_laplace. Without
  /// `missing` NaN is computed with as IEEE says.
  FilterStage(std::string text, Border border, std::vector<SeparableTaps> branches, PointwiseOp join,
              std::optional<MissingPolicy> missing = {});

  /// With " (columns first)" at the end where that is so, which no text can ask for: it is what transposed()
  /// makes.
  std::string text() const override { return text_; }
  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    return neighbourhood_.input_for(output, input.extent);
  }
  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override;
  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker) const override;
  void apply_fused(const PointwiseOp* mark, const PointwiseOp* store, const ConstRegion& in,
                   const Region& out, Arithmetic arithmetic, Worker& worker) const override;
  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override;
  ValueRange result_range(const ValueRange& input) const override;
  StagePtr transposed() const override;
  StagePtr with_nodata() const override;
  StagePtr weight_by_alpha(const AlphaWeight& weight) const override;
  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, std::span<const PointwiseOp> epilogue_ops) const override;

 private:
  bool joined() const noexcept { return join_.kind != PointwiseOp::Kind::copy; }
  bool ignores_missing() const noexcept { return missing_ && *missing_ != MissingPolicy::propagate; }
  NormalizedConvolution normalized() const noexcept {
    return {branches_, border_, join_, missing_ == MissingPolicy::fill};
  }

  std::string text_;
  Border border_;
  std::vector<SeparableTaps> branches_;  // one or two
  Neighbourhood neighbourhood_;
  PointwiseOp join_;  // copy: none
  std::optional<MissingPolicy> missing_;
};

/// The keys border and value.
Keys border_keys(Border& border);

/// The keys that every convolving stage takes: border, value, flip, missing.
Keys convolving_keys(Border& border, bool& flip, std::optional<MissingPolicy>& missing,
                     MissingSupport support);
template <class Options>
Keys convolving_keys(Options& options, MissingSupport support = MissingSupport::all) {
  return convolving_keys(options.border, options.flip, options.missing, support);
}

/// Turns taps round where that is asked for. Throws InvalidArgument for missing pixels that they cannot do
/// without.
void prepare_taps(const StageArguments& spelling, const Convolving& options,
                  std::vector<SeparableTaps>& branches);
/// The text of a stage, which does not speak of missing pixels, with this policy: ignore or propagate.
std::string with_policy(const std::string& text, MissingPolicy policy);

/// A FilterStage of this spelling, its taps turned round if `flip`. Throws InvalidArgument for missing pixels
/// that its taps cannot do without.
StagePtr make_filter(const StageArguments& spelling, const Convolving& options,
                     std::vector<SeparableTaps> branches, PointwiseOp join = {});
template <class Options>
StagePtr make_filter(const StageArguments& spelling, const Options& options,
                     std::vector<SeparableTaps> branches, PointwiseOp join = {}) {
  return make_filter(spelling, Convolving{options.border, options.flip, options.missing}, std::move(branches),
                     join);
}

/// make_filter() of one branch within planes, after `along_z`, where those are not taps. Within planes too
/// there may be none. Throws InvalidArgument for missing pixels that means along z are to do without.
StagePtr make_volume_filter(const StageArguments& spelling, const Convolving& options, SeparableTaps in_plane,
                            std::vector<double> along_z);
template <class Options>
StagePtr make_volume_filter(const StageArguments& spelling, const Options& options, SeparableTaps in_plane,
                            std::vector<double> along_z) {
  return make_volume_filter(spelling, Convolving{options.border, options.flip, options.missing},
                            std::move(in_plane), std::move(along_z));
}

}  // namespace sepconv
