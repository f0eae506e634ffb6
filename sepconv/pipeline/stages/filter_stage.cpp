#include "sepconv/pipeline/stages/filter_stage.hpp"

#include <algorithm>

#include "sepconv/pipeline/stages/f32_range.hpp"

namespace sepconv {
namespace {

StageTraits traits_of(const Border& border, const std::vector<SeparableTaps>& branches,
                      const PointwiseOp& join) {
  const double values[] = {border.value, join.p, join.q};
  using Kind = PointwiseOp::Kind;
  const bool adds = border.mode == BorderMode::constant && border.value != 0;
  const bool joins = join.kind == Kind::magnitude || (join.kind == Kind::unsharp && join.q > 0);
  StageTraits traits{
      .by_parts = !adds && !joins, .needs_f64 = any_beyond_f32(values), .runs_on_device = true};
  std::size_t operations = join.kind != PointwiseOp::Kind::copy ? 1 : 0;
  for (const SeparableTaps& taps : branches) {
    traits.needs_f64 = traits.needs_f64 || any_beyond_f32(taps.row) || any_beyond_f32(taps.col);
    operations += taps.row.size() + taps.col.size();
  }
  traits.operations_per_element = static_cast<double>(std::max<std::size_t>(operations, 1));
  return traits;
}

}  // namespace

FilterStage::FilterStage(std::string text, Border border, std::vector<SeparableTaps> branches,
                         PointwiseOp join)
    : Stage(traits_of(border, branches, join)),
      text_(std::move(text)),
      border_(border),
      branches_(std::move(branches)),
      join_(join) {}

Rect FilterStage::input_for(const Rect& output, const ImageSpec& input) const {
  // Every border maps what lies outside the image to pixels at most a radius inside it, or else to the whole
  // side, so the clipped rectangle holds all that is needed.
  Rect needed = output;
  for (const SeparableTaps& taps : branches_) {
    needed = needed.include(output.grown(taps.col_radius(), taps.row_radius()));
  }
  return border_.mode == BorderMode::wrap ? needed : needed.intersect(Rect::whole(input.extent));
}

/// With border=wrap `in` holds what lies beyond the image's edges too: what is needed of it is convolved as
/// an image of its own, whose edges nothing reaches.
FilterStage::Regions FilterStage::as_convolved(const ConstRegion& in, const Region& out) const {
  if (border_.mode != BorderMode::wrap) return {in, out};
  const Rect needed = input_for(out.rect, {in.image, in.pixels.channels, in.pixels.type});
  const Rect part{out.rect.row - needed.row, out.rect.col - needed.col, out.rect.rows, out.rect.cols};
  return {ConstRegion::whole(in.crop(needed).pixels), {out.pixels, part, needed.extent(), out.past_caches}};
}

Extent FilterStage::largest_image(const ImageSpec& input) const {
  return border_.mode == BorderMode::wrap ? Extent{kMaxSide, kMaxSide} : input.extent;
}

StagePtr FilterStage::transposed() const {
  static constexpr std::string_view kMark = " (columns first)";
  auto stage = std::make_shared<FilterStage>(*this);
  for (SeparableTaps& taps : stage->branches_) taps = taps.transposed();
  if (text_.ends_with(kMark)) {
    stage->text_.resize(text_.size() - kMark.size());
  } else {
    stage->text_ += kMark;
  }
  return stage;
}

std::int64_t FilterStage::scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                                        Arithmetic arithmetic) const {
  const bool on_host = scratch == Scratch::host;
  const Extent image = largest_image(input);
  std::int64_t convolution = 0;
  for (const SeparableTaps& taps : branches_) {
    convolution = std::max(convolution,
                           on_host ? convolve_scratch_bytes(taps, output, input.channels, arithmetic, image)
                                   : convolve_device_bytes(taps, output, input.channels, arithmetic, image));
  }
  // Results that wait to be joined: on a device the last convolution joins its own before it stores them.
  const auto results = static_cast<std::int64_t>(branches_.size()) - (on_host ? 0 : 1);
  return convolution +
         (joined() ? results * Arena::view_bytes(output, input.channels, pixel_type_of(arithmetic)) : 0);
}

void FilterStage::apply(const ConstRegion& given, const Region& result, Arithmetic arithmetic,
                        Worker& worker) const {
  const auto [in, out] = as_convolved(given, result);
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

void FilterStage::apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const {
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

/// The last convolution joins its values with the other operand before it stores them.
void FilterStage::enqueue(const ConstRegion& given, const Region& result, Arithmetic arithmetic, Arena& arena,
                          DeviceStream stream, std::span<const PointwiseOp> then) const {
  const auto [in, out] = as_convolved(given, result);
  const Arena::Scope scope(arena);
  ConvolutionEpilogue epilogue{
      .join = joined() ? &join_ : nullptr, .other = in.crop(out.rect).pixels, .then = then};
  if (branches_.size() == 2) {
    const PixelView first =
        arena.allocate_view(out.rect.extent(), out.pixels.channels, pixel_type_of(arithmetic));
    convolve_cuda(branches_.front(), border_, in, {first, out.rect, out.image}, arithmetic, arena, stream);
    epilogue.other = first;
  }
  convolve_cuda(branches_.back(), border_, in, out, arithmetic, arena, stream, epilogue);
}

Keys convolving_keys(Border& border, bool& flip) {
  ChoiceWords<BorderMode> modes;
  for (const BorderMode mode : {BorderMode::reflect101, BorderMode::reflect, BorderMode::replicate,
                                BorderMode::constant, BorderMode::wrap})
    modes.emplace_back(name_of(mode), mode);
  return {
      {.name = "border",
       .value = choice(border.mode, modes),
       .words = "how abcd goes on: reflect101 dcb|abcd|cba, reflect cba|abcd|dcb, replicate aaa|abcd|ddd, "
                "wrap bcd|abcd|abc"},
      {.name = "value", .value = &border.value, .words = "what lies outside", .only_with = "border=constant"},
      {.name = "flip", .value = &flip, .words = "convolution, the taps turned round, not correlation"}};
}

StagePtr make_filter(const Spelling& spelling, const Border& border, bool flip,
                     std::vector<SeparableTaps> branches, PointwiseOp join) {
  for (SeparableTaps& taps : branches) {
    if (!flip) break;
    std::ranges::reverse(taps.row);
    std::ranges::reverse(taps.col);
  }
  return std::make_shared<FilterStage>(spelling.text(), border, std::move(branches), join);
}

}  // namespace sepconv
