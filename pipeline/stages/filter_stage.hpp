// The stage of all convolution filters: one separable filter, or two over the same input, combined by a
// pointwise operation.
#pragma once

#include <string>
#include <vector>

#include "kernels/conv/conv.hpp"
#include "kernels/pointwise/pointwise.hpp"
#include "pipeline/stages/neighbourhood.hpp"
#include "pipeline/stages/nodata_policy.hpp"
#include "pipeline/stages/normalized_convolution.hpp"

namespace sepconv {

/// Options common to all convolution stages, besides the taps.
struct Convolving {
  Border border{};
  bool flip = false;
  std::optional<MissingPolicy> nodata{};
};

class FilterStage final : public Stage {
 public:
  /// One filter, or two over the same input. With one: filter(input) if `join` is a copy, or join(input,
  /// filter(input)), as in unsharp. With two: join(first(input), second(input)), as in gradient, dog,
  /// gaussian_laplace. Without `missing`, NaN follows IEEE arithmetic.
  FilterStage(std::string text, Border border, std::vector<SeparableTaps> branches, PointwiseOp join,
              std::optional<MissingPolicy> missing = {});

  /// A stage created by transposed() ends with " (columns first)"; that text cannot be parsed.
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
  PointwiseOp join_;  // copy: no join
  std::optional<MissingPolicy> missing_;
};

/// The keys border and value.
Keys border_keys(Border& border);

/// The keys of every convolution stage: border, value, flip, missing.
Keys convolving_keys(Border& border, bool& flip, std::optional<MissingPolicy>& missing,
                     MissingSupport support);
template <class Options>
Keys convolving_keys(Options& options, MissingSupport support = MissingSupport::all) {
  return convolving_keys(options.border, options.flip, options.nodata, support);
}

/// Reverses the taps if `flip` is set. Throws InvalidArgument if `missing` requires normalization and the
/// taps sum to almost 0.
void prepare_taps(const StageArguments& stage_args, const Convolving& options,
                  std::vector<SeparableTaps>& branches);
/// Appends nodata=ignore or nodata=propagate to the text of a stage without that key.
std::string with_policy(const std::string& text, MissingPolicy policy);

/// A FilterStage with taps reversed if `flip` is set. Throws InvalidArgument as prepare_taps() does.
StagePtr make_filter(const StageArguments& stage_args, const Convolving& options,
                     std::vector<SeparableTaps> branches, PointwiseOp join = {});
template <class Options>
StagePtr make_filter(const StageArguments& stage_args, const Options& options,
                     std::vector<SeparableTaps> branches, PointwiseOp join = {}) {
  return make_filter(stage_args, Convolving{options.border, options.flip, options.nodata},
                     std::move(branches), join);
}

/// A filter with taps `along_z` followed by make_filter() with `in_plane`. Either may be empty. Throws
/// InvalidArgument as prepare_taps() does.
StagePtr make_volume_filter(const StageArguments& stage_args, const Convolving& options,
                            SeparableTaps in_plane, std::vector<double> along_z);
template <class Options>
StagePtr make_volume_filter(const StageArguments& stage_args, const Options& options, SeparableTaps in_plane,
                            std::vector<double> along_z) {
  return make_volume_filter(stage_args, Convolving{options.border, options.flip, options.nodata},
                            std::move(in_plane), std::move(along_z));
}

}  // namespace sepconv
