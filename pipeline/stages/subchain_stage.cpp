#include "pipeline/stages/subchain_stage.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/count_text.hpp"
#include "core/error.hpp"
#include "pipeline/chain/chain_tile.hpp"
#include "pipeline/stages/alpha_weighting.hpp"
#include "pipeline/stages/filter_stage.hpp"

namespace sepconv {
namespace {

using Kind = PointwiseOp::Kind;

template <class Predicate>
bool all_of(const Chain& chain, const Predicate& predicate) {
  return std::ranges::all_of(chain.stages(),
                             [&](const StagePtr& stage) { return predicate(stage->traits()); });
}

StageTraits traits_of(const Chain& chain, const PointwiseOp& op) {
  const bool is_sum = op.kind == Kind::sum || op.kind == Kind::difference || op.kind == Kind::mix;
  StageTraits traits{
      .is_per_pixel = chain.work() == Work::pixels,
      .is_complex_linear =
          is_sum &&
          all_of(chain, [](const StageTraits& stage_traits) { return stage_traits.is_complex_linear; }),
      .needs_f64 = !all_of(chain, [](const StageTraits& stage_traits) { return !stage_traits.needs_f64; }),
      .runs_on_device = chain.host_only_stage() == nullptr,
      .handles_nodata =
          all_of(chain, [](const StageTraits& stage_traits) { return stage_traits.handles_nodata; }),
      .propagates_nodata = true,
      .has_fixed_mean_policy = stage_with_fixed_means(chain) != nullptr,
      .mixes_channels = !all_of(chain, [](const StageTraits& stage_traits) {
        return !stage_traits.mixes_channels || stage_traits.keeps_last_channel;
      })};
  double halo_operations = 0;
  for (const StagePtr& stage : chain.stages()) {
    traits.operations_per_element += stage->traits().operations_per_element;
    halo_operations += stage->traits().operations_per_element * stage->traits().halo_work_fraction;
  }
  traits.halo_work_fraction = halo_operations / traits.operations_per_element;
  return traits;
}

class SubchainStage final : public Stage {
 public:
  /// `original`: the stage whose subchain was replaced.
  SubchainStage(std::string text, Chain chain, const PointwiseOp& op, StagePtr original = nullptr)
      : Stage(traits_of(chain, op)),
        text_(std::move(text)),
        chain_(std::move(chain)),
        op_(op),
        original_(std::move(original)) {}

  std::string text() const override { return text_; }
  const Chain& chain() const noexcept { return chain_; }
  StagePtr with_chain(Chain chain) const {
    return std::make_shared<SubchainStage>(text_, std::move(chain), op_, shared_from_this());
  }

  ImageSpec output_spec(const ImageSpec& input) const override {
    const ImageSpec result = chain_.result_spec(input);
    if (result.extent != input.extent || result.channels != input.channels)
      throw InvalidArgument(
          fmt::format("stage '{}' joins an image of {} with one of {}: its chain must keep the channels",
                      text_, count_text(input.channels, "channel"), result.channels));
    return input;
  }

  ValueRange result_range(const ValueRange& input) const override {
    ValueRange result = input;
    for (const StagePtr& stage : chain_.stages()) result = stage->result_range(result);
    return range_of(op_, input, result);
  }

  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    return output.include(chain_.input_for(output, input));
  }

  Extent max_input_extent(Extent output, const ImageSpec& input) const override {
    const Extent chain_input = max_needed_extents(chain_, chain_.specs(input), output).front();
    return {std::max(chain_input.rows, output.rows), std::max(chain_input.cols, output.cols)};
  }

  double operations_per_element(Scratch scratch, const ImageSpec& input) const override {
    const std::vector<ImageSpec> specs = chain_.specs(input);
    double operations = 1;
    for (std::size_t i = 0; i < chain_.size(); ++i)
      operations += chain_.stages()[i]->operations_per_element(scratch, specs[i]);
    return operations;
  }

  StagePtr transposed() const override {
    Chain transposed_chain;
    for (const StagePtr& stage : chain_.stages()) {
      const StagePtr twin = stage->transposed();
      if (twin == nullptr) return nullptr;
      transposed_chain.then(twin);
    }
    return std::make_shared<SubchainStage>(text_ + " (transposed)", std::move(transposed_chain), op_);
  }

  StagePtr with_mask_channel() const override {
    Chain masked_chain;
    for (const StagePtr& stage : chain_.stages()) masked_chain.then(stage->with_mask_channel());
    return std::make_shared<SubchainStage>(text_, std::move(masked_chain), op_,
                                           original_ != nullptr ? original_->with_mask_channel() : nullptr);
  }

  StagePtr with_nodata() const override {
    Chain ignoring_chain;
    for (const StagePtr& stage : chain_.stages()) ignoring_chain.then(stage->with_nodata());
    const StagePtr original = original_ != nullptr ? original_->with_nodata() : nullptr;
    return std::make_shared<SubchainStage>(original ? original->text() : text_with(ignoring_chain),
                                           std::move(ignoring_chain), op_with_nodata(), original);
  }
  StagePtr weight_by_alpha(const AlphaWeight& weight) const override {
    Chain chain = weight_by_alpha_within(chain_, weight);
    std::string text = text_;
    const std::size_t at = text.find(chain_.text());
    if (at != text.npos)
      text.replace(at, chain_.text().size(), chain.text());
    else
      text += fmt::format(" ({})", chain.text());
    return std::make_shared<SubchainStage>(std::move(text), std::move(chain), op_with_nodata());
  }

  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override {
    const std::vector<ImageSpec> specs = chain_.specs(input);
    const std::vector<Extent> needed = max_needed_extents(chain_, specs, output);
    const std::int64_t chain_bytes = scratch == Scratch::host
                                         ? tile_scratch_bytes(chain_, specs, needed, arithmetic)
                                         : chain_device_bytes(chain_, specs, needed, arithmetic);
    return chain_bytes + Arena::view_bytes(output, input.channels, pixel_type_of(arithmetic));
  }

  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker) const override {
    const Arena::Scope scope(worker);
    const Region chain_result = allocate_result(out, arithmetic, worker);
    compute_tile(chain_, specs_of(in), arithmetic, in, chain_result, worker);
    pointwise_host(op_, in.crop(out.rect).pixels, chain_result.pixels, out.pixels, arithmetic);
  }

  /// Computes whole images.
  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    const ImageSpec spec{in.image, out.pixels.channels, pixel_type_of(arithmetic)};
    std::vector<Buffer> images;
    ConstRegion current = in;
    for (const StagePtr& stage : chain_.stages()) {
      images.emplace_back(spec.bytes());
      const Region result = Region::whole(dense_view(images.back().data(), spec));
      stage->apply_reference(current, result, arithmetic);
      current = result;
    }
    pointwise_reference(op_, in.crop(out.rect).pixels, current.crop(out.rect).pixels, out.pixels, arithmetic);
  }

  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, std::span<const PointwiseOp> epilogue_ops) const override {
    const Arena::Scope scope(arena);
    const Region chain_result = allocate_result(out, arithmetic, arena);
    enqueue_chain(chain_, specs_of(in), arithmetic, in, chain_result, arena, stream);
    pointwise_cuda(op_, in.crop(out.rect).pixels, chain_result.pixels, out.pixels, arithmetic, stream,
                   epilogue_ops);
  }

 private:
  PointwiseOp op_with_nodata() const {
    PointwiseOp op = op_;
    op.propagates_nodata = true;
    return op;
  }

  /// The text with the chain that ignores missing pixels; if the text does not contain the chain,
  /// nodata=ignore is appended.
  std::string text_with(const Chain& ignoring_chain) const {
    const std::string chain_text = chain_.text(), ignoring_text = ignoring_chain.text();
    const std::size_t at = text_.find(chain_text);
    if (chain_text == ignoring_text) return text_;
    if (at == text_.npos) return with_policy(text_, MissingPolicy::ignore);
    return std::string(text_).replace(at, chain_text.size(), ignoring_text);
  }

  static Region allocate_result(const Region& out, Arithmetic arithmetic, Arena& arena) {
    return {arena.allocate_view(out.rect.extent(), out.pixels.channels, pixel_type_of(arithmetic)), out.rect,
            out.image};
  }
  std::vector<ImageSpec> specs_of(const ConstRegion& in) const {
    return chain_.specs({in.image, in.pixels.channels, in.pixels.type});
  }

  std::string text_;
  Chain chain_;
  PointwiseOp op_;
  StagePtr original_;
};

}  // namespace

StagePtr subchain_stage(const StageArguments& stage_args, const Chain& chain, const PointwiseOp& op) {
  for (const StagePtr& stage : chain.stages()) {
    const StageTraits& traits = stage->traits();
    if (traits.is_permutation || traits.changes_size || traits.product != Product::none)
      stage_args.refuse("chain",
                        fmt::format("the result of {} is not aligned with its input", stage->text()));
    if (traits.has_secondary)
      stage_args.refuse("chain", "its stages cannot have a second image; use a separate stage for that");
  }
  return std::make_shared<SubchainStage>(stage_args.text(), chain, op);
}

StagePtr subchain_stage(std::string text, Chain chain, const PointwiseOp& op) {
  return std::make_shared<SubchainStage>(std::move(text), std::move(chain), op);
}

const Chain* subchain_of(const Stage& stage) {
  const auto* const subchain = dynamic_cast<const SubchainStage*>(&stage);
  return subchain != nullptr ? &subchain->chain() : nullptr;
}

StagePtr with_subchain(const Stage& stage, Chain chain) {
  return dynamic_cast<const SubchainStage&>(stage).with_chain(std::move(chain));
}

}  // namespace sepconv
