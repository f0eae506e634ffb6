#include "pipeline/chain/chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/error.hpp"
#include "io/reader.hpp"

namespace sepconv {

std::unique_ptr<Reader> Stage::open_secondary(const ImageSpec&) const {
  throw std::logic_error(fmt::format("stage '{}' has no second image", text()));
}

void Primitive::enqueue(const ConstRegion&, const Region&, Arithmetic, Arena&, DeviceStream,
                        const Epilogue&) const {
  throw DeviceError(fmt::format("stage '{}' does not run on a GPU; compute on the CPU", text()));
}

void Primitive::apply_fused(const PointwiseOp*, const PointwiseOp*, const ConstRegion&, const Region&,
                            Arithmetic, Worker&) const {
  throw std::logic_error(fmt::format("stage '{}' does not implement apply_fused()", text()));
}

std::vector<ImageSpec> Chain::specs(const ImageSpec& source) const {
  std::vector<ImageSpec> specs{source};
  for (const StagePtr& stage : stages_) specs.push_back(stage->output_spec(specs.back()));
  return specs;
}

namespace {

/// f32 sums of this many terms may be off by a sixth of a u16 unit (docs/maths.md); longer sums use f64.
constexpr std::int64_t kMaxSum = 512;

bool is_long_sum(Extent from, Extent to) {
  return from.rows > kMaxSum * to.rows || from.cols > kMaxSum * to.cols;
}

}  // namespace

Arithmetic Chain::arithmetic(const ImageSpec& source, std::optional<Arithmetic> requested) const {
  if (requested) return *requested;
  const std::vector<ImageSpec> stage_specs = specs(source);
  bool wide = source.type == PixelType::f64 || stage_specs.back().type == PixelType::f64;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const PrimitiveTraits& traits = stages_[i]->traits();
    const StageProperties& properties = stages_[i]->properties();
    wide = wide || properties.needs_f64 ||
           (traits.changes_size && is_long_sum(stage_specs[i].extent, stage_specs[i + 1].extent));
  }
  return wide ? Arithmetic::f64 : Arithmetic::f32;
}

std::string Chain::why_not_on_device() const {
  for (const StagePtr& stage : stages_) {
    const std::string lacking = lacking_kernels(stage->properties().device_kernels);
    if (stage->properties().runs_on_device && lacking.empty()) continue;
    return fmt::format("stage '{}' does not run on a GPU{}{}", stage->text(),
                       lacking.empty() ? "" : ", because ", lacking);
  }
  return {};
}

namespace {

/// Class numbers may be moved and selected. After a per-pixel stage values are ordinary numbers. Other stages
/// throw.
void check_classes(const std::vector<StagePtr>& stages, const std::optional<ColourTable>& colours) {
  if (!colours || !colours->classes) return;
  for (const StagePtr& stage : stages) {
    const PrimitiveTraits& traits = stage->traits();
    const StageProperties& properties = stage->properties();
    if (traits.is_permutation() || properties.is_selection) continue;
    if (traits.pointwise || properties.is_per_pixel) return;
    throw InvalidArgument(
        fmt::format("stage '{}' computes with neighbours, and the source's values are classes by its colour "
                    "table, which cannot be averaged; use a stage that selects one (median, rank, erode, "
                    "dilate, reduce:factor=2,filter=nearest, resize:scale=0.5,filter=nearest), or begin with "
                    "cast:type=f32 if they are intensities",
                    stage->text()));
  }
}

}  // namespace

void Chain::check_supports(const Reader& source) const {
  check_classes(stages_, source.metadata().colours);
  const std::optional<SampleType>& stored = source.layout().stored;
  if (!stored || !stored->is_complex()) return;
  for (const StagePtr& stage : stages_) {
    if (!stage->properties().is_complex_linear)
      throw InvalidArgument(
          fmt::format("stage '{}' is not linear in real and imaginary parts, and the source is {}; take its "
                      "real part, imaginary part or magnitude first",
                      stage->text(), name_of(*stored)));
  }
}

std::int64_t Chain::resident_bytes() const {
  std::int64_t bytes = 0;
  for (const StagePtr& stage : stages_) bytes += Arena::bytes_for(stage->properties().resident_bytes);
  return bytes;
}

Chain Chain::on_device(std::byte* memory, DeviceStream stream) const {
  Chain chain;
  for (const StagePtr& stage : stages_) {
    const std::int64_t bytes = Arena::bytes_for(stage->properties().resident_bytes);
    chain.then(bytes > 0 ? stage->on_device(memory, stream) : stage);
    memory += bytes;
  }
  return chain;
}

Chain Chain::with_mask_channel(const Metadata& source) const {
  if (!source.mask_channel) return *this;
  Chain chain;
  for (const StagePtr& stage : stages_) chain.then(stage->with_mask_channel());
  return chain;
}

Chain Chain::for_raster(std::int64_t raster, const RasterAxes& axes) const {
  Chain chain;
  for (const StagePtr& stage : stages_) chain.then(stage->for_raster(raster, axes));
  return chain;
}

Chain Chain::transposes_last() const {
  Chain result;
  StagePtr carried;  // the transpose being moved to the end
  for (const StagePtr& stage : stages_) {
    if (stage->traits().is_transpose()) {
      carried = carried == nullptr ? stage : nullptr;
      continue;
    }
    const StagePtr twin = carried != nullptr ? stage->transposed() : stage;
    if (twin == nullptr) result.then(std::exchange(carried, nullptr));
    result.then(twin != nullptr ? twin : stage);
  }
  if (carried != nullptr) result.then(carried);
  return result;
}

Work Chain::work() const noexcept {
  Work max_work = Work::none;
  for (const StagePtr& stage : stages_) {
    const PrimitiveTraits& traits = stage->traits();
    const StageProperties& properties = stage->properties();
    max_work = std::max(max_work, traits.is_permutation()                       ? Work::none
                                  : properties.is_per_pixel || traits.pointwise ? Work::pixels
                                                                                : Work::neighbours);
  }
  return max_work;
}

bool Chain::keeps_range() const noexcept {
  return std::ranges::all_of(stages_, [](const StagePtr& stage) {
    const PrimitiveTraits& traits = stage->traits();
    const StageProperties& properties = stage->properties();
    const bool is_cast = traits.pointwise && traits.pointwise->kind == PointwiseOp::Kind::round_to;
    return traits.is_permutation() || properties.is_average || properties.is_selection || is_cast;
  });
}

bool Chain::keeps_values() const noexcept {
  return std::ranges::all_of(stages_, [](const StagePtr& stage) {
    return stage->traits().is_permutation() || stage->properties().is_selection;
  });
}

bool Chain::turns() const {
  return std::ranges::count_if(stages_,
                               [](const StagePtr& stage) { return stage->traits().is_transpose(); }) %
             2 ==
         1;
}

std::string Chain::text() const {
  if (stages_.empty()) return "copy";
  std::string text;
  for (const StagePtr& stage : stages_) text += fmt::format("{}{}", text.empty() ? "" : " | ", stage->text());
  return text;
}

}  // namespace sepconv
