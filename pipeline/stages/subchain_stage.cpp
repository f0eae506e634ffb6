#include "pipeline/stages/subchain_stage.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/count_text.hpp"
#include "core/error.hpp"
#include "pipeline/chain/chain_tile.hpp"
#include "pipeline/stages/filter_stage.hpp"
#include "pipeline/stages/weighing.hpp"

namespace sepconv {
namespace {

using Kind = PointwiseOp::Kind;

template <class Is>
bool all_of(const Chain& chain, const Is& is) {
  return std::ranges::all_of(chain.stages(), [&](const StagePtr& stage) { return is(stage->traits()); });
}

StageTraits traits_of(const Chain& chain, const PointwiseOp& op) {
  const bool is_sum = op.kind == Kind::sum || op.kind == Kind::difference || op.kind == Kind::mix;
  StageTraits traits{
      .is_per_pixel = chain.work() == Work::pixels,
      .is_complex_linear =
          is_sum && all_of(chain, [](const StageTraits& one) { return one.is_complex_linear; }),
      .needs_f64 = !all_of(chain, [](const StageTraits& one) { return !one.needs_f64; }),
      .runs_on_device = chain.host_only_stage() == nullptr,
      .handles_nodata = all_of(chain, [](const StageTraits& one) { return one.handles_nodata; }),
      .propagates_nodata = true,
      .joins_settled_means = settles_means(chain) != nullptr,
      .mixes_channels =
          !all_of(chain, [](const StageTraits& one) { return !one.mixes_channels || one.keeps_last; })};
  double in_halo = 0;
  for (const StagePtr& stage : chain.stages()) {
    traits.operations_per_element += stage->traits().operations_per_element;
    in_halo += stage->traits().operations_per_element * stage->traits().halo_work_fraction;
  }
  traits.halo_work_fraction = in_halo / traits.operations_per_element;
  return traits;
}

class OwnChainStage final : public Stage {
 public:
  /// `given`: the stage whose chain another has taken the place of.
  OwnChainStage(std::string text, Chain chain, const PointwiseOp& op, StagePtr given = nullptr)
      : Stage(traits_of(chain, op)),
        text_(std::move(text)),
        chain_(std::move(chain)),
        op_(op),
        given_(std::move(given)) {}

  std::string text() const override { return text_; }
  const Chain& chain() const noexcept { return chain_; }
  StagePtr with_chain(Chain chain) const {
    return std::make_shared<OwnChainStage>(text_, std::move(chain), op_, shared_from_this());
  }

  ImageSpec output_spec(const ImageSpec& input) const override {
    const ImageSpec own = chain_.result_spec(input);
    if (own.extent != input.extent || own.channels != input.channels)
      throw InvalidArgument(
          fmt::format("stage '{}' joins an image of {} with one of {}: its chain is to keep the channels",
                      text_, count_text(input.channels, "channel"), own.channels));
    return input;
  }

  ValueRange result_range(const ValueRange& input) const override {
    ValueRange own = input;
    for (const StagePtr& stage : chain_.stages()) own = stage->result_range(own);
    return range_of(op_, input, own);
  }

  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    return output.include(chain_.input_for(output, input));
  }

  Extent max_input_extent(Extent output, const ImageSpec& input) const override {
    const Extent own = needed_anywhere(chain_, chain_.specs(input), output).front();
    return {std::max(own.rows, output.rows), std::max(own.cols, output.cols)};
  }

  double operations_per_element(Scratch scratch, const ImageSpec& input) const override {
    const std::vector<ImageSpec> specs = chain_.specs(input);
    double operations = 1;
    for (std::size_t i = 0; i < chain_.size(); ++i)
      operations += chain_.stages()[i]->operations_per_element(scratch, specs[i]);
    return operations;
  }

  StagePtr transposed() const override {
    Chain turned;
    for (const StagePtr& stage : chain_.stages()) {
      const StagePtr twin = stage->transposed();
      if (twin == nullptr) return nullptr;
      turned.then(twin);
    }
    return std::make_shared<OwnChainStage>(text_ + " (transposed)", std::move(turned), op_);
  }

  StagePtr with_mask_channel() const override {
    Chain beside;
    for (const StagePtr& stage : chain_.stages()) beside.then(stage->with_mask_channel());
    return std::make_shared<OwnChainStage>(text_, std::move(beside), op_,
                                           given_ != nullptr ? given_->with_mask_channel() : nullptr);
  }

  StagePtr with_nodata() const override {
    Chain apply_nodata_policy;
    for (const StagePtr& stage : chain_.stages()) apply_nodata_policy.then(stage->with_nodata());
    const StagePtr given = given_ != nullptr ? given_->with_nodata() : nullptr;
    return std::make_shared<OwnChainStage>(given ? given->text() : text_with(apply_nodata_policy),
                                           std::move(apply_nodata_policy), keeping_missing(), given);
  }
  StagePtr weight_by_alpha(const AlphaWeight& weight) const override {
    Chain chain = weight_by_alpha_within(chain_, weight);
    std::string text = text_;
    const std::size_t at = text.find(chain_.text());
    if (at != text.npos)
      text.replace(at, chain_.text().size(), chain.text());
    else
      text += fmt::format(" ({})", chain.text());
    return std::make_shared<OwnChainStage>(std::move(text), std::move(chain), keeping_missing());
  }

  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override {
    const std::vector<ImageSpec> specs = chain_.specs(input);
    const std::vector<Extent> needed = needed_anywhere(chain_, specs, output);
    const std::int64_t own = scratch == Scratch::host ? tile_scratch_bytes(chain_, specs, needed, arithmetic)
                                                      : chain_device_bytes(chain_, specs, needed, arithmetic);
    return own + Arena::view_bytes(output, input.channels, pixel_type_of(arithmetic));
  }

  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker) const override {
    const Arena::Scope scope(worker);
    const Region own = own_result(out, arithmetic, worker);
    compute_tile(chain_, specs_of(in), arithmetic, in, own, worker);
    pointwise_host(op_, in.crop(out.rect).pixels, own.pixels, out.pixels, arithmetic);
  }

  /// For whole images.
  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    const ImageSpec spec{in.image, out.pixels.channels, pixel_type_of(arithmetic)};
    std::vector<Buffer> images;
    ConstRegion own = in;
    for (const StagePtr& stage : chain_.stages()) {
      images.emplace_back(spec.bytes());
      const Region result = Region::whole(dense_view(images.back().data(), spec));
      stage->apply_reference(own, result, arithmetic);
      own = result;
    }
    pointwise_reference(op_, in.crop(out.rect).pixels, own.crop(out.rect).pixels, out.pixels, arithmetic);
  }

  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, std::span<const PointwiseOp> then) const override {
    const Arena::Scope scope(arena);
    const Region own = own_result(out, arithmetic, arena);
    enqueue_chain(chain_, specs_of(in), arithmetic, in, own, arena, stream);
    pointwise_cuda(op_, in.crop(out.rect).pixels, own.pixels, out.pixels, arithmetic, stream, then);
  }

 private:
  PointwiseOp keeping_missing() const {
    PointwiseOp op = op_;
    op.propagates_nodata = true;
    return op;
  }

  /// With the chain that leaves missing pixels out; a text that does not spell its chain says so itself.
  std::string text_with(const Chain& apply_nodata_policy) const {
    const std::string own = chain_.text(), other = apply_nodata_policy.text();
    const std::size_t at = text_.find(own);
    if (own == other) return text_;
    if (at == text_.npos) return with_policy(text_, MissingPolicy::ignore);
    return std::string(text_).replace(at, own.size(), other);
  }

  static Region own_result(const Region& out, Arithmetic arithmetic, Arena& arena) {
    return {arena.allocate_view(out.rect.extent(), out.pixels.channels, pixel_type_of(arithmetic)), out.rect,
            out.image};
  }
  std::vector<ImageSpec> specs_of(const ConstRegion& in) const {
    return chain_.specs({in.image, in.pixels.channels, in.pixels.type});
  }

  std::string text_;
  Chain chain_;
  PointwiseOp op_;
  StagePtr given_;
};

}  // namespace

StagePtr own_chain_stage(const StageArguments& spelling, const Chain& chain, const PointwiseOp& op) {
  for (const StagePtr& stage : chain.stages()) {
    const StageTraits& traits = stage->traits();
    if (traits.is_permutation || traits.scales || traits.product != Product::none)
      spelling.refuse("chain", fmt::format("what {} makes does not lie over its input", stage->text()));
    if (traits.has_secondary)
      spelling.refuse("chain",
                      "its stages have no second image of their own; give that to a stage beside it");
  }
  return std::make_shared<OwnChainStage>(spelling.text(), chain, op);
}

StagePtr own_chain_stage(std::string text, Chain chain, const PointwiseOp& op) {
  return std::make_shared<OwnChainStage>(std::move(text), std::move(chain), op);
}

const Chain* own_chain_of(const Stage& stage) {
  const auto* const own = dynamic_cast<const OwnChainStage*>(&stage);
  return own != nullptr ? &own->chain() : nullptr;
}

StagePtr with_own_chain(const Stage& stage, Chain chain) {
  return dynamic_cast<const OwnChainStage&>(stage).with_chain(std::move(chain));
}

}  // namespace sepconv
