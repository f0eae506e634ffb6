#include "pipeline/stages/filter_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <ranges>

#include "kernels/conv/normalized_conv.hpp"
#include "kernels/pointwise/missing.hpp"
#include "pipeline/stages/expression.hpp"
#include "pipeline/stages/f32_range.hpp"
#include "pipeline/stages/normalized_convolution.hpp"
#include "pipeline/stages/stage_text.hpp"
#include "pipeline/stages/volume_filter_stage.hpp"

namespace sepconv {
namespace {

double abs_sum(const std::vector<double>& taps) {
  return taps.empty() ? 1
                      : std::transform_reduce(taps.begin(), taps.end(), 0.0, std::plus<>(),
                                              [](double tap) { return std::abs(tap); });
}

StageDeclaration declaration_of(std::string text, const Border& border, const SeparableTaps& taps,
                                std::optional<MissingPolicy> missing) {
  const bool adds_constant = border.mode == BorderMode::constant && border.value != 0;
  const bool ignores = missing && *missing != MissingPolicy::propagate;
  StageDeclaration declaration{
      .text = std::move(text),
      .properties = {.is_complex_linear = !adds_constant,
                     .needs_f64 = any_beyond_f32(std::span(&border.value, 1)) || any_beyond_f32(taps.row) ||
                                  any_beyond_f32(taps.col),
                     .runs_on_device = true}};
  declaration.traits.work.operations_per_element =
      static_cast<double>(std::max<std::size_t>(taps.row.size() + taps.col.size(), 1));
  declaration.traits.nan.max_gain =
      std::max(1.0, std::abs(border.value)) * abs_sum(taps.row) * abs_sum(taps.col);
  declaration.properties.handles_nodata = missing.has_value();
  declaration.traits.nan.fuses = ignores && supports_normalized_conv(taps);
  declaration.traits.fuses_join = !ignores;
  declaration.properties.is_average = is_mean(taps);
  declaration.traits.nan.propagates =
      missing && !(missing == MissingPolicy::fill && border.mode == BorderMode::constant);
  return declaration;
}

}  // namespace

ValueRange extended_by(const Border& border, const ValueRange& input) {
  return border.mode == BorderMode::constant ? input.include({border.value, border.value}) : input;
}

bool is_mean(const SeparableTaps& taps) {
  constexpr double kTolerance = 1e-6;
  const auto sums_to_one = [](const std::vector<double>& side) {
    return side.empty() || std::abs(std::accumulate(side.begin(), side.end(), 0.0) - 1) < kTolerance;
  };
  return sums_to_one(taps.row) && sums_to_one(taps.col);
}

std::string with_policy(const std::string& text, MissingPolicy policy) {
  return fmt::format("{}{}nodata={}", text, text.find(':') == text.npos ? ':' : ',',
                     policy == MissingPolicy::ignore ? "ignore" : "propagate");
}

FilterStage::FilterStage(std::string text, Border border, SeparableTaps taps,
                         std::optional<MissingPolicy> missing)
    : Stage(declaration_of(std::move(text), border, taps, missing)),
      border_(border),
      taps_(std::move(taps)),
      neighbourhood_{taps_.row_radius(), taps_.col_radius(), border.mode},
      missing_(missing) {}

StagePtr FilterStage::with_nodata() const {
  if (missing_) return shared_from_this();
  const MissingPolicy policy = default_policy({taps_});
  return std::make_shared<FilterStage>(with_policy(text(), policy), border_, taps_, policy);
}

/// Interval arithmetic: each pass scales and adds the ends of the range by the sign of each tap.
ValueRange FilterStage::result_range(const ValueRange& input) const {
  const ValueRange extended_input = extended_by(border_, input);
  if (properties().is_average) return extended_input;
  const auto pass = [](const ValueRange& values, const std::vector<double>& taps) {
    ValueRange result{0, 0};
    for (const double tap : taps) result = result.plus(values.scaled(tap));
    return taps.empty() ? values : result;
  };
  return pass(pass(extended_input, taps_.row), taps_.col);
}

StagePtr FilterStage::transposed() const {
  return std::make_shared<FilterStage>(toggle_suffix(text(), " (columns first)"), border_, taps_.transposed(),
                                       missing_);
}

std::int64_t FilterStage::scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                                        Arithmetic arithmetic) const {
  const bool on_host = scratch == Scratch::host;
  const Extent image = neighbourhood_.largest_image(input.extent);
  const std::int64_t convolution =
      on_host ? convolve_scratch_bytes(taps_, output, input.channels, arithmetic, image)
              : convolve_device_bytes(taps_, output, input.channels, arithmetic, image);
  if (!ignores_missing()) return convolution;
  const std::int64_t bytes =
      convolution + normalized_convolution_bytes(scratch, neighbourhood_.needed_extent(output, input.extent),
                                                 output, input.channels, arithmetic);
  if (!on_host || !supports_normalized_conv(taps_)) return bytes;
  // The tiles of the larger bound are wider, and faster.
  return std::max(bytes, normalized_conv_scratch_bytes(taps_, output, input.channels, arithmetic, image));
}

void FilterStage::apply(const ConstRegion& source, const Region& result, Arithmetic arithmetic,
                        Worker& worker) const {
  if (traits().nan.fuses) return apply_fused(nullptr, nullptr, source, result, arithmetic, worker);
  const auto [in, out] = neighbourhood_.as_separate_image(source, result);
  if (ignores_missing()) {
    const ConstRegion needed = in.crop(neighbourhood_.needed_of(in, out.rect));
    if (find_missing_state(needed.pixels, std::numeric_limits<double>::quiet_NaN()) !=
        MissingState::none_missing) {
      const Arena::Scope scope(worker);
      return convolve_normalized(HostBackend{arithmetic, worker}, normalized(), needed, out);
    }
  }
  convolve_host(taps_, border_, in, out, arithmetic, worker);
}

void FilterStage::apply_fused(const PointwiseOp* mark, const PointwiseOp* store, const ConstRegion& source,
                              const Region& result, Arithmetic arithmetic, Worker& worker) const {
  const auto [in, out] = neighbourhood_.as_separate_image(source, result);
  NormalizedMissing missing{.fills = missing_ == MissingPolicy::fill};
  if (mark != nullptr) missing.value = mark->p;
  if (store != nullptr) missing.store = *store;
  normalized_conv_host(taps_, border_, missing, in, out, arithmetic, worker);
}

void FilterStage::apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const {
  if (ignores_missing()) return convolve_normalized(ReferenceBackend{arithmetic}, normalized(), in, out);
  convolve_reference(taps_, border_, in, out, arithmetic);
}

void FilterStage::enqueue(const ConstRegion& source, const Region& result, Arithmetic arithmetic,
                          Arena& arena, DeviceStream stream, const Epilogue& epilogue) const {
  const auto [in, out] = neighbourhood_.as_separate_image(source, result);
  if (ignores_missing()) {
    const Arena::Scope scope(arena);
    return convolve_normalized(StreamBackend{arithmetic, arena, stream, epilogue.ops, out.pixels.data},
                               normalized(), in.crop(neighbourhood_.needed_of(in, out.rect)), out);
  }
  convolve_device(taps_, border_, in, out, arithmetic, arena, stream,
                  {.join = epilogue.join, .other = epilogue.other, .then = epilogue.ops});
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

void check_renormalisable(const StageArguments& stage_args, std::optional<MissingPolicy> nodata,
                          const std::vector<double>& taps) {
  if (nodata.value_or(MissingPolicy::propagate) != MissingPolicy::propagate && !can_renormalise(taps))
    stage_args.refuse("nodata",
                      "its taps sum to almost 0, so weights of valid pixels cannot be renormalised; use "
                      "nodata=propagate");
}

namespace {

StagePtr volume_filter(const std::string& text, const Border& border, const SeparableTaps& in_plane,
                       const SeparableTaps& along_z, std::optional<MissingPolicy> missing) {
  const auto passes = [=](const Border& pass_border, std::optional<MissingPolicy> policy) -> VolumePasses {
    const bool is_flat = in_plane.row.empty() && in_plane.col.empty();
    return {is_flat ? nullptr : std::make_shared<FilterStage>(text, pass_border, in_plane, policy),
            std::make_shared<FilterStage>(text, pass_border, along_z, policy)};
  };
  std::optional<NormalizedPasses> normalized;
  if (missing.value_or(MissingPolicy::propagate) != MissingPolicy::propagate)
    normalized = {.values = passes(border, {}),
                  .weights = [=](const Border& pass_border) { return passes(pass_border, {}); },
                  .border = border,
                  .fills = missing == MissingPolicy::fill};
  std::function<StagePtr()> with_nodata;
  if (!missing)
    with_nodata = [=] {
      const MissingPolicy policy = default_policy({in_plane, along_z});
      return volume_filter(with_policy(text, policy), border, in_plane, along_z, policy);
    };
  return make_volume_passes(text, passes(border, missing), std::move(normalized), std::move(with_nodata));
}

}  // namespace

StagePtr make_filter(const StageArguments& stage_args, const Convolving& options, SeparableTaps taps,
                     std::vector<double> along_z) {
  for (std::vector<double>* side : {&taps.row, &taps.col, &along_z}) {
    if (options.flip) std::ranges::reverse(*side);
    check_renormalisable(stage_args, options.nodata, *side);
  }
  if (along_z.empty())
    return std::make_shared<FilterStage>(stage_args.text(), options.border, std::move(taps), options.nodata);
  return volume_filter(stage_args.text(), options.border, taps, {{}, std::move(along_z)}, options.nodata);
}

Expression joined(const std::vector<StagePtr>& filters, const PointwiseOp& op) {
  Expression expression;
  Expression::Value value = expression.apply(filters.front());
  for (const StagePtr& filter : filters | std::views::drop(1))
    value = expression.combine(op, value, expression.apply(filter));
  return expression;
}

StagePtr joined_filters(const StageArguments& stage_args, const std::vector<StagePtr>& filters,
                        PointwiseOp op, std::optional<MissingPolicy> given, MissingPolicy policy) {
  op.propagates_nodata = given.has_value();
  return joined(filters, op).stage(stage_args.text(), given ? std::nullopt : std::optional(policy));
}

}  // namespace sepconv
