// correlate: any kernel of two dimensions, exactly or as a sum of separable ones.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/count_text.hpp"
#include "core/error.hpp"
#include "kernels/conv/kernel2d.hpp"
#include "pipeline/stages/expression.hpp"
#include "pipeline/stages/f32_range.hpp"
#include "pipeline/stages/feature_stage.hpp"
#include "pipeline/stages/filter_stage.hpp"
#include "pipeline/stages/low_rank.hpp"
#include "pipeline/stages/read_matrix.hpp"
#include "pipeline/stages/stage_text.hpp"
#include "pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

using Kind = PointwiseOp::Kind;

std::vector<double> weights_of(const Kernel2d& kernel) {
  std::vector<double> weights;
  for (const KernelTap& tap : kernel.taps) weights.push_back(tap.weight);
  return weights;
}

MissingPolicy policy_of(const Kernel2d& kernel) {
  return default_policy({SeparableTaps{weights_of(kernel), {}}});
}

/// Whether results are weighted means: no weight is negative, and their sum is 1.
bool is_average(const Kernel2d& kernel) {
  return policy_of(kernel) == MissingPolicy::ignore && is_mean(SeparableTaps{weights_of(kernel), {}});
}

class KernelStage final : public Stage {
 public:
  /// Without `missing`, NaN follows IEEE arithmetic.
  KernelStage(std::string text, const Border& border, Kernel2d kernel, std::optional<MissingPolicy> missing)
      : Stage({.text = std::move(text),
               .traits = {.work = {.operations_per_element = static_cast<double>(kernel.taps.size()),
                                   .halo_fraction = 0}},
               .properties = {.is_complex_linear = border.mode != BorderMode::constant || border.value == 0,
                              .needs_f64 = any_beyond_f32(weights_of(kernel)) ||
                                           any_beyond_f32(std::span(&border.value, 1)),
                              .handles_nodata = missing.has_value(),
                              .is_average = is_average(kernel)}}),
        border_(border),
        kernel_(std::move(kernel)),
        neighbourhood_{kernel_.radius_x, kernel_.radius_y, border.mode},
        missing_(missing) {}

  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    return neighbourhood_.input_for(output, input.extent);
  }

  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override {
    const std::int64_t bytes = correlate_scratch_bytes(kernel_, output.cols, input.channels, arithmetic);
    if (!ignores_missing()) return bytes;
    return bytes + normalized_convolution_bytes(scratch, neighbourhood_.needed_extent(output, input.extent),
                                                output, input.channels, arithmetic);
  }

  void apply(const ConstRegion& source, const Region& result, Arithmetic arithmetic,
             Worker& worker) const override {
    const auto [in, out] = neighbourhood_.as_separate_image(source, result);
    const auto correlate = [&](const Border& border, const ConstRegion& from, const Region& to) {
      correlate_host(kernel_, border, from, to, arithmetic, worker);
    };
    if (!ignores_missing()) return correlate(border_, in, out);
    const Arena::Scope scope(worker);
    correlate_normalized(HostBackend{arithmetic, worker}, correlate,
                         in.crop(neighbourhood_.needed_of(in, out.rect)), out);
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    const auto correlate = [&](const Border& border, const ConstRegion& from, const Region& to) {
      correlate_reference(kernel_, border, from, to, arithmetic);
    };
    if (!ignores_missing()) return correlate(border_, in, out);
    correlate_normalized(ReferenceBackend{arithmetic}, correlate, in, out);
  }

  ValueRange result_range(const ValueRange& input) const override {
    const ValueRange extended = extended_by(border_, input);
    ValueRange result{0, 0};
    for (const KernelTap& tap : kernel_.taps) result = result.plus(extended.scaled(tap.weight));
    return properties().is_average ? extended : result;
  }

  StagePtr transposed() const override {
    return std::make_shared<KernelStage>(toggle_suffix(text(), " (transposed)"), border_,
                                         kernel_.transposed(), missing_);
  }

  StagePtr with_nodata() const override {
    if (missing_) return shared_from_this();
    const MissingPolicy policy = policy_of(kernel_);
    return std::make_shared<KernelStage>(with_policy(text(), policy), border_, kernel_, policy);
  }

 private:
  bool ignores_missing() const noexcept { return missing_ && *missing_ != MissingPolicy::propagate; }

  /// normalize() of the kernel.
  template <class Backend, class Correlate>
  void correlate_normalized(const Backend& backend, const Correlate& correlate, const ConstRegion& in,
                            const Region& out) const {
    const auto filter = [&](const Border& border, const ConstRegion& from, const PointwiseOp& join,
                            const ConstPixelView& other, const Region& to) {
      if (join.kind == Kind::copy) return correlate(border, from, to);
      const bool is_exact = to.pixels.type == pixel_type_of(backend.arithmetic);
      const Region filtered = is_exact ? to : allocate(backend, to);
      correlate(border, from, filtered);
      backend.pointwise(join, other, filtered.pixels, to.pixels);
    };
    normalize(backend, border_, missing_ == MissingPolicy::fill, total_weight(backend.arithmetic), filter, in,
              out);
  }

  /// den of a window without missing pixels.
  double total_weight(Arithmetic arithmetic) const {
    const double one = 1;
    double total = 0;
    correlate_reference(kernel_, {.mode = BorderMode::replicate}, ConstRegion::whole(view_of(&one, {1, 1})),
                        Region::whole(view_of(&total, {1, 1})), arithmetic);
    return total;
  }

  Border border_;
  Kernel2d kernel_;
  Neighbourhood neighbourhood_;
  std::optional<MissingPolicy> missing_;
};

/// Maximum number of weights: 255 x 255.
constexpr std::size_t kMaxWeights = 255 * 255;

Table kernel_of(const CorrelateOptions& options, const StageArguments& stage_args) {
  if (options.kernel.empty()) return read_table(options.file);
  try {
    return parse_table(options.kernel);
  } catch (const InvalidArgument& error) {
    stage_args.refuse("kernel", error.what());
  }
}

/// The kernel with odd sides, as the taps around the pixel in the middle.
Kernel2d kernel2d_of(const Table& table) {
  Kernel2d kernel{
      {}, static_cast<std::int64_t>(table.front().size() / 2), static_cast<std::int64_t>(table.size() / 2)};
  for (std::size_t y = 0; y < table.size(); ++y) {
    for (std::size_t x = 0; x < table[y].size(); ++x)
      if (table[y][x] != 0)
        kernel.taps.push_back({static_cast<std::int64_t>(y) - kernel.radius_y,
                               static_cast<std::int64_t>(x) - kernel.radius_x, table[y][x]});
  }
  return kernel;
}

void check_kernel(const Table& table, std::string_view key, const StageArguments& stage_args) {
  if (table.empty() || table.front().empty()) stage_args.refuse(key, "it has no weights");
  for (const std::vector<double>& row : table) {
    if (row.size() != table.front().size())
      stage_args.refuse(key, fmt::format("it has rows of {} and of {} weights; all need the same",
                                         table.front().size(), row.size()));
  }
  if (table.size() % 2 == 0 || table.front().size() % 2 == 0)
    stage_args.refuse(key, fmt::format("it has {} x {} weights; odd numbers are needed, the anchor is the "
                                       "middle one: add a row or column of 0 at the end",
                                       table.size(), table.front().size()));
  if (table.size() * table.front().size() > kMaxWeights)
    stage_args.refuse(key, fmt::format("it has {} weights; the most is {}",
                                       table.size() * table.front().size(), kMaxWeights));
}

/// The separable filters of `terms`, and their sum.
StagePtr separable_sum(const CorrelateOptions& options, const StageArguments& stage_args,
                       const LowRank& terms, const Kernel2d& kernel) {
  std::size_t taps = 0;
  std::vector<StagePtr> filters;
  for (const SeparableTaps& term : terms.terms) {
    taps += term.row.size() + term.col.size();
    filters.push_back(std::make_shared<FilterStage>(stage_args.text(), options.border, term, options.nodata));
  }
  FeatureTraits traits{
      .propagates = true,
      .is_average = is_average(kernel),
      .note = fmt::format(
          "correlate: a sum of {}, {} products per pixel in place of {}; the kernel differs by {:.2g} "
          "of its weights",
          count_text(static_cast<std::int64_t>(terms.terms.size()), "separable kernel"), taps,
          kernel.taps.size(), terms.error)};
  if (!options.nodata) traits.default_nodata = MissingPolicy::propagate;
  const Expression sum = joined(filters, {.kind = Kind::sum, .propagates_nodata = true});
  return std::make_shared<FeatureStage>(stage_args.text(), sum.nodes(), std::move(traits));
}

Keys keys(CorrelateOptions& options) {
  return joined(
      {{{.name = "kernel",
         .value = &options.kernel,
         .words = "the weights, row by row, as [[0,1,0],[1,-4,1],[0,1,0]]; at most 65025",
         .needed = true,
         .not_with = "file"},
        {.name = "file",
         .value = &options.file,
         .words = "text or NPY file of the weights",
         .needed = true,
         .not_with = "kernel"},
        {.name = "terms",
         .value = &options.terms,
         .words =
             "approximate the kernel by a sum of at most this many separable ones, which propagates missing pixels; "
             "default: exact",
         .range = between(1, 255)},
        {.name = "tolerance",
         .value = &options.tolerance,
         .words = "sum of the absolute errors of the weights over that of the weights that is allowed",
         .range = at_least(0),
         .only_with = "terms"}},
       convolving_keys(options)});
}

StagePtr make(const CorrelateOptions& options, const StageArguments& stage_args) {
  Table table = kernel_of(options, stage_args);
  check_kernel(table, options.kernel.empty() ? "file" : "kernel", stage_args);
  if (options.flip) {
    std::ranges::reverse(table);
    for (std::vector<double>& row : table) std::ranges::reverse(row);
  }
  Kernel2d kernel = kernel2d_of(table);
  if (kernel.taps.empty()) stage_args.refuse("kernel", "all its weights are 0");
  if (options.terms) {
    if (options.nodata.value_or(MissingPolicy::propagate) != MissingPolicy::propagate)
      stage_args.refuse("nodata", "a sum of separable kernels propagates missing pixels");
    const LowRank terms = low_rank(table, options.tolerance, static_cast<std::size_t>(*options.terms));
    if (terms.error > options.tolerance)
      stage_args.refuse("terms",
                        fmt::format("the kernel then differs by {:.3g} of its weights; take more terms, a "
                                    "larger tolerance, or the exact kernel",
                                    terms.error));
    return separable_sum(options, stage_args, terms, kernel);
  }
  check_renormalisable(stage_args, options.nodata, weights_of(kernel));
  return std::make_shared<KernelStage>(stage_args.text(), options.border, std::move(kernel), options.nodata);
}

constexpr StageKind<CorrelateOptions> kCorrelate{"correlate",
                                                 "any kernel of two dimensions, as scipy.ndimage.correlate",
                                                 "correlate:kernel=[[0,1,0],[1,-4,1],[0,1,0]]", keys, make};

}  // namespace

StagePtr correlate(const CorrelateOptions& options) { return kCorrelate(options); }
StageEntry CorrelateOptions::entry() { return kCorrelate.entry(); }

}  // namespace sepconv
