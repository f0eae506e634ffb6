#include "pipeline/stages/filter_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/conv/normalized_conv.hpp"
#include "kernels/pointwise/missing.hpp"
#include "pipeline/stages/f32_range.hpp"
#include "pipeline/stages/normalized_convolution.hpp"
#include "pipeline/stages/subchain_stage.hpp"

namespace sepconv {
namespace {

using Kind = PointwiseOp::Kind;

double abs_sum(const std::vector<double>& taps) {
  return taps.empty() ? 1
                      : std::transform_reduce(taps.begin(), taps.end(), 0.0, std::plus<>(),
                                              [](double tap) { return std::abs(tap); });
}

double max_gain_of(const Border& border, const std::vector<SeparableTaps>& branches,
                   const PointwiseOp& join) {
  double max_gain = 0;
  for (const SeparableTaps& taps : branches) max_gain += abs_sum(taps.row) * abs_sum(taps.col);
  if (join.kind == Kind::unsharp) max_gain = 1 + std::abs(join.p) * (1 + max_gain);
  return std::max(1.0, std::abs(border.value)) * max_gain;
}

bool are_means(const std::vector<SeparableTaps>& branches) {
  constexpr double kTolerance = 1e-6;
  const auto is_mean = [](const std::vector<double>& taps) {
    const double sum = std::accumulate(taps.begin(), taps.end(), 0.0);
    return taps.empty() || std::abs(sum - 1) < kTolerance;
  };
  return std::ranges::all_of(
      branches, [&](const SeparableTaps& taps) { return is_mean(taps.row) && is_mean(taps.col); });
}

Neighbourhood neighbourhood_of(const std::vector<SeparableTaps>& branches, BorderMode border) {
  Neighbourhood neighbourhood{.border = border};
  for (const SeparableTaps& taps : branches) {
    neighbourhood.radius_x = std::max(neighbourhood.radius_x, taps.row_radius());
    neighbourhood.radius_y = std::max(neighbourhood.radius_y, taps.col_radius());
  }
  return neighbourhood;
}

StageTraits traits_of(const Border& border, const std::vector<SeparableTaps>& branches,
                      const PointwiseOp& join, std::optional<MissingPolicy> missing) {
  const double values[] = {border.value, join.p, join.q};
  const bool adds_constant = border.mode == BorderMode::constant && border.value != 0;
  const bool is_nonlinear = join.kind == Kind::magnitude || (join.kind == Kind::unsharp && join.q > 0);
  StageTraits traits{.is_complex_linear = !adds_constant && !is_nonlinear,
                     .needs_f64 = any_beyond_f32(values),
                     .runs_on_device = true};
  std::size_t operations = join.kind != PointwiseOp::Kind::copy ? 1 : 0;
  for (const SeparableTaps& taps : branches) {
    traits.needs_f64 = traits.needs_f64 || any_beyond_f32(taps.row) || any_beyond_f32(taps.col);
    operations += taps.row.size() + taps.col.size();
  }
  traits.operations_per_element = static_cast<double>(std::max<std::size_t>(operations, 1));
  traits.max_gain = max_gain_of(border, branches, join);
  traits.handles_nodata = missing.has_value();
  traits.fuses_nodata = missing && *missing != MissingPolicy::propagate && join.kind == Kind::copy &&
                        supports_normalized_conv(branches.front());
  traits.is_average = join.kind == Kind::copy && are_means(branches);
  traits.has_fixed_mean_policy = join.kind == Kind::unsharp && missing;
  traits.propagates_nodata =
      missing && !(missing == MissingPolicy::fill && border.mode == BorderMode::constant);
  return traits;
}

}  // namespace

std::string with_policy(const std::string& text, MissingPolicy policy) {
  return fmt::format("{}{}nodata={}", text, text.find(':') == text.npos ? ':' : ',',
                     policy == MissingPolicy::ignore ? "ignore" : "propagate");
}

FilterStage::FilterStage(std::string text, Border border, std::vector<SeparableTaps> branches,
                         PointwiseOp join, std::optional<MissingPolicy> missing)
    : Stage(traits_of(border, branches, join, missing)),
      text_(std::move(text)),
      border_(border),
      branches_(std::move(branches)),
      neighbourhood_(neighbourhood_of(branches_, border.mode)),
      join_(join),
      missing_(missing) {
  join_.propagates_nodata = missing.has_value();
}

StagePtr FilterStage::with_nodata() const {
  if (missing_) return shared_from_this();
  const MissingPolicy policy = default_policy(branches_);
  return std::make_shared<FilterStage>(with_policy(text_, policy), border_, branches_, join_, policy);
}

/// Interval arithmetic: each pass scales and adds the ends of the range by the sign of each tap.
ValueRange FilterStage::result_range(const ValueRange& input) const {
  ValueRange extended_input = input;
  if (border_.mode == BorderMode::constant)
    extended_input = extended_input.include({border_.value, border_.value});
  const auto pass = [](const ValueRange& values, const std::vector<double>& taps) {
    ValueRange result{0, 0};
    for (const double tap : taps) result = result.plus(values.scaled(tap));
    return taps.empty() ? values : result;
  };
  const auto branch = [&](const SeparableTaps& taps) {
    return pass(pass(extended_input, taps.row), taps.col);
  };
  const ValueRange first = branch(branches_.front());
  if (!joined()) return traits().is_average ? extended_input : first;
  return branches_.size() == 1 ? range_of(join_, input, first)
                               : range_of(join_, first, branch(branches_.back()));
}

/// For unsharp: the stage with its blur as a subchain.
StagePtr FilterStage::weight_by_alpha(const AlphaWeight& weight) const {
  if (join_.kind != Kind::unsharp || !are_means(branches_)) return with_nodata();
  const StagePtr blur = std::make_shared<FilterStage>("(blur)", border_, branches_, PointwiseOp{}, missing_);
  return subchain_stage(text_, Chain{blur}, join_)->weight_by_alpha(weight);
}

StagePtr FilterStage::transposed() const {
  static constexpr std::string_view kMark = " (columns first)";
  std::vector<SeparableTaps> branches;
  for (const SeparableTaps& taps : branches_) branches.push_back(taps.transposed());
  std::string text = text_;
  if (text_.ends_with(kMark)) {
    text.resize(text_.size() - kMark.size());
  } else {
    text += kMark;
  }
  return std::make_shared<FilterStage>(std::move(text), border_, std::move(branches), join_, missing_);
}

std::int64_t FilterStage::scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                                        Arithmetic arithmetic) const {
  const bool on_host = scratch == Scratch::host;
  const Extent image = neighbourhood_.largest_image(input.extent);
  std::int64_t convolution = 0;
  for (const SeparableTaps& taps : branches_) {
    convolution = std::max(convolution,
                           on_host ? convolve_scratch_bytes(taps, output, input.channels, arithmetic, image)
                                   : convolve_device_bytes(taps, output, input.channels, arithmetic, image));
  }
  const PixelType type = pixel_type_of(arithmetic);
  const auto branches = static_cast<std::int64_t>(branches_.size());
  if (ignores_missing()) {
    const std::int64_t bytes =
        convolution + normalized_convolution_bytes(branches_.size(), scratch,
                                                   neighbourhood_.needed_extent(output, input.extent), output,
                                                   input.channels, arithmetic);
    if (!on_host || !all_support_normalized_conv(branches_)) return bytes;
    // The second bound alone would give narrower tiles; speed was measured with tiles by the first bound.
    return std::max(bytes,
                    normalized_conv_bytes(branches_, joined(), output, input.channels, arithmetic, image));
  }
  // Branch results to be combined. On a device the last convolution applies the join itself before it stores.
  const std::int64_t results = branches - (on_host ? 0 : 1);
  return convolution + (joined() ? results * Arena::view_bytes(output, input.channels, type) : 0);
}

void FilterStage::apply(const ConstRegion& source, const Region& result, Arithmetic arithmetic,
                        Worker& worker) const {
  if (traits().fuses_nodata) return apply_fused(nullptr, nullptr, source, result, arithmetic, worker);
  const auto [in, out] = neighbourhood_.as_separate_image(source, result);
  if (ignores_missing()) {
    const ConstRegion needed = in.crop(neighbourhood_.needed_of(in, out.rect));
    if (find_missing_state(needed.pixels, std::numeric_limits<double>::quiet_NaN()) !=
        MissingState::none_missing)
      return normalized_convolution(normalized(), needed, out, arithmetic, worker);
  }
  if (!joined()) return convolve_host(branches_.front(), border_, in, out, arithmetic, worker);
  const Arena::Scope scope(worker);
  std::vector<ConstPixelView> operands;
  if (branches_.size() == 1) operands.push_back(in.crop(out.rect).pixels);
  for (const SeparableTaps& taps : branches_) {
    const Region values{
        worker.allocate_view(out.rect.extent(), out.pixels.channels, pixel_type_of(arithmetic)), out.rect,
        out.image};
    convolve_host(taps, border_, in, values, arithmetic, worker);
    operands.push_back(values.pixels);
  }
  pointwise_host(join_, operands[0], operands[1], out.pixels, arithmetic);
}

void FilterStage::apply_fused(const PointwiseOp* mark, const PointwiseOp* store, const ConstRegion& source,
                              const Region& result, Arithmetic arithmetic, Worker& worker) const {
  const auto [in, out] = neighbourhood_.as_separate_image(source, result);
  NormalizedMissing missing{.fills = missing_ == MissingPolicy::fill};
  if (mark != nullptr) missing.value = mark->p;
  if (store != nullptr) missing.store = *store;
  normalized_conv_host(branches_.front(), border_, missing, in, out, arithmetic, worker);
}

void FilterStage::apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const {
  if (ignores_missing()) return normalized_convolution_reference(normalized(), in, out, arithmetic);
  if (!joined()) return convolve_reference(branches_.front(), border_, in, out, arithmetic);
  const PixelType type = pixel_type_of(arithmetic);
  const Extent extent = out.rect.extent();
  std::vector<Buffer> results;
  std::vector<ConstPixelView> operands;
  if (branches_.size() == 1) operands.push_back(in.crop(out.rect).pixels);
  for (const SeparableTaps& taps : branches_) {
    const std::int64_t pitch_bytes = extent.cols * out.pixels.channels * size_of(type);
    results.emplace_back(extent.rows * pitch_bytes);
    const Region result{
        {results.back().data(), extent, out.pixels.channels, type, pitch_bytes}, out.rect, out.image};
    convolve_reference(taps, border_, in, result, arithmetic);
    operands.push_back(result.pixels);
  }
  pointwise_reference(join_, operands[0], operands[1], out.pixels, arithmetic);
}

/// The last convolution joins its values with the other operand before storing them.
void FilterStage::enqueue(const ConstRegion& source, const Region& result, Arithmetic arithmetic,
                          Arena& arena, DeviceStream stream,
                          std::span<const PointwiseOp> epilogue_ops) const {
  const auto [in, out] = neighbourhood_.as_separate_image(source, result);
  if (ignores_missing())
    return enqueue_normalized_convolution(normalized(), in.crop(neighbourhood_.needed_of(in, out.rect)), out,
                                          arithmetic, arena, stream, epilogue_ops);
  const Arena::Scope scope(arena);
  ConvolutionEpilogue epilogue{
      .join = joined() ? &join_ : nullptr, .other = in.crop(out.rect).pixels, .then = epilogue_ops};
  if (branches_.size() == 2) {
    const PixelView first =
        arena.allocate_view(out.rect.extent(), out.pixels.channels, pixel_type_of(arithmetic));
    convolve_cuda(branches_.front(), border_, in, {first, out.rect, out.image}, arithmetic, arena, stream);
    epilogue.other = first;
  }
  convolve_cuda(branches_.back(), border_, in, out, arithmetic, arena, stream, epilogue);
}

Keys border_keys(Border& border) {
  ChoiceWords<BorderMode> modes;
  for (const BorderMode mode : {BorderMode::reflect101, BorderMode::reflect, BorderMode::replicate,
                                BorderMode::constant, BorderMode::wrap})
    modes.emplace_back(name_of(mode), mode);
  return {{.name = "border",
           .value = choice(border.mode, modes),
           .words =
               "pixels beyond the edges of abcd. reflect101: dcb|abcd|cba, reflect: cba|abcd|dcb, replicate: "
               "aaa|abcd|ddd, wrap: bcd|abcd|abc, constant: the key value"},
          {.name = "value",
           .value = &border.value,
           .words = "pixel value beyond the edge",
           .only_with = "border=constant"}};
}

Keys convolving_keys(Border& border, bool& flip, std::optional<MissingPolicy>& missing,
                     MissingSupport support) {
  Key policy = nodata_key(missing, support);
  static const std::string kAllText = fmt::format("{}; propagate for a kernel with negative weights",
                                                  nodata_key(missing, MissingSupport::all).words);
  if (support == MissingSupport::all) policy.words = kAllText;
  return joined(
      {border_keys(border),
       {{.name = "flip", .value = &flip, .words = "flip the kernel: convolution in place of correlation"},
        policy}});
}

void prepare_taps(const StageArguments& stage_args, const Convolving& options,
                  std::vector<SeparableTaps>& branches) {
  for (SeparableTaps& taps : branches) {
    if (!options.flip) break;
    std::ranges::reverse(taps.row);
    std::ranges::reverse(taps.col);
  }
  if (options.nodata.value_or(MissingPolicy::propagate) != MissingPolicy::propagate &&
      !can_renormalise(branches))
    stage_args.refuse("nodata",
                      "its taps sum to almost 0, so weights of valid pixels cannot be renormalised; use "
                      "nodata=propagate");
}

StagePtr make_filter(const StageArguments& stage_args, const Convolving& options,
                     std::vector<SeparableTaps> branches, PointwiseOp join) {
  prepare_taps(stage_args, options, branches);
  if (options.nodata == MissingPolicy::fill && join.kind == Kind::unsharp)
    stage_args.refuse("nodata", "a missing pixel has no details to sharpen; take nodata=ignore");
  return std::make_shared<FilterStage>(stage_args.text(), options.border, std::move(branches), join,
                                       options.nodata);
}

}  // namespace sepconv
