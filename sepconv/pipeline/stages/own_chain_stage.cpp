#include "sepconv/pipeline/stages/own_chain_stage.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sepconv/core/count_text.hpp"
#include "sepconv/core/error.hpp"
#include "sepconv/pipeline/chain/chain_tile.hpp"
#include "sepconv/pipeline/stages/filter_stage.hpp"
#include "sepconv/pipeline/stages/weighing.hpp"

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
      .of_one_pixel = chain.work() == Work::pixels,
      .by_parts = is_sum && all_of(chain, [](const StageTraits& one) { return one.by_parts; }),
      .needs_f64 = !all_of(chain, [](const StageTraits& one) { return !one.needs_f64; }),
      .runs_on_device = chain.host_only_stage() == nullptr,
      .settles_missing = all_of(chain, [](const StageTraits& one) { return one.settles_missing; }),
      .keeps_missing = true,
      .joins_settled_means = settles_means(chain) != nullptr,
      .mixes_channels =
          !all_of(chain, [](const StageTraits& one) { return !one.mixes_channels || one.keeps_last; })};
  double in_halo = 0;
  for (const StagePtr& stage : chain.stages()) {
    traits.operations_per_element += stage->traits().operations_per_element;
    in_halo += stage->traits().operations_per_element * stage->traits().halo_share;
  }
  traits.halo_share = in_halo / traits.operations_per_element;
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

  Extent input_at_most(Extent output, const ImageSpec& input) const override {
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

  StagePtr beside_mask() const override {
    Chain beside;
    for (const StagePtr& stage : chain_.stages()) beside.then(stage->beside_mask());
    return std::make_shared<OwnChainStage>(text_, std::move(beside), op_,
                                           given_ != nullptr ? given_->beside_mask() : nullptr);
  }

  StagePtr honouring_missing() const override {
    Chain honouring;
    for (const StagePtr& stage : chain_.stages()) honouring.then(stage->honouring_missing());
    const StagePtr given = given_ != nullptr ? given_->honouring_missing() : nullptr;
    return std::make_shared<OwnChainStage>(given ? given->text() : text_with(honouring), std::move(honouring),
                                           keeping_missing(), given);
  }
  StagePtr weighing_alpha(const AlphaWeight& weight) const override {
    Chain chain = weighing_alpha_within(chain_, weight);
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

  /// Of whole images.
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
    op.keeps_missing = true;
    return op;
  }

  /// With the chain that leaves missing pixels out; a text that does not spell its chain says so itself.
  std::string text_with(const Chain& honouring) const {
    const std::string own = chain_.text(), other = honouring.text();
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

StagePtr own_chain_stage(const Spelling& spelling, const Chain& chain, const PointwiseOp& op) {
  for (const StagePtr& stage : chain.stages()) {
    const StageTraits& traits = stage->traits();
    if (traits.moves_only || traits.scales || traits.product != Product::none)
      spelling.refuse("chain", fmt::format("what {} makes does not lie over its input", stage->text()));
    if (traits.has_second)
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
