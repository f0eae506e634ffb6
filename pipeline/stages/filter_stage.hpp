// The stage of all convolution filters: one separable filter.
#pragma once

#include <string>
#include <vector>

#include "kernels/conv/conv.hpp"
#include "kernels/pointwise/pointwise.hpp"
#include "pipeline/stages/neighbourhood.hpp"
#include "pipeline/stages/nodata_policy.hpp"
#include "pipeline/stages/normalized_convolution.hpp"

namespace sepconv {

class Expression;

/// Options common to all convolution stages, besides the taps.
struct Convolving {
  Border border{};
  bool flip = false;
  std::optional<MissingPolicy> nodata{};
};

/// The values that a filter reads: the input's, and a constant border.
ValueRange extended_by(const Border& border, const ValueRange& input);

/// Whether a constant image stays unchanged: the taps of each pass sum to 1.
bool is_mean(const SeparableTaps& taps);

class FilterStage final : public Stage {
 public:
  /// Without `missing`, NaN follows IEEE arithmetic.
  FilterStage(std::string text, Border border, SeparableTaps taps, std::optional<MissingPolicy> missing = {});

  /// A stage created by transposed() ends with " (columns first)"; that text cannot be parsed.
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
  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, const Epilogue& epilogue) const override;

 private:
  bool ignores_missing() const noexcept { return missing_ && *missing_ != MissingPolicy::propagate; }
  NormalizedConvolution normalized() const noexcept {
    return {taps_, border_, missing_ == MissingPolicy::fill};
  }

  Border border_;
  SeparableTaps taps_;
  Neighbourhood neighbourhood_;
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

/// Appends nodata=ignore or nodata=propagate to the text of a stage without that key.
std::string with_policy(const std::string& text, MissingPolicy policy);

/// A filter along z of a stack and then within planes; either taps may be empty. The taps are reversed if
/// `flip` is set. Throws InvalidArgument if `missing` requires normalization and the taps sum to almost 0.
StagePtr make_filter(const StageArguments& stage_args, const Convolving& options, SeparableTaps taps,
                     std::vector<double> along_z = {});
template <class Options>
StagePtr make_filter(const StageArguments& stage_args, const Options& options, SeparableTaps taps,
                     std::vector<double> along_z = {}) {
  return make_filter(stage_args, Convolving{options.border, options.flip, options.nodata}, std::move(taps),
                     std::move(along_z));
}

/// Throws InvalidArgument if `nodata` requires normalization and the taps sum to almost 0.
void check_renormalisable(const StageArguments& stage_args, std::optional<MissingPolicy> nodata,
                          const std::vector<double>& taps);

/// Filters of the same input that `op` combines: the first two, then that result with the next.
Expression joined(const std::vector<StagePtr>& filters, const PointwiseOp& op);
/// The stage of these. `policy` applies to missing pixels if the key is omitted.
StagePtr joined_filters(const StageArguments& stage_args, const std::vector<StagePtr>& filters,
                        PointwiseOp op, std::optional<MissingPolicy> given, MissingPolicy policy);

}  // namespace sepconv
