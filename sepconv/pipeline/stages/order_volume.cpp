#include "sepconv/pipeline/stages/order_volume.hpp"

#include <utility>
#include <vector>

#include "sepconv/pipeline/chain/chain_tile.hpp"
#include "sepconv/pipeline/stages/planes_needed.hpp"

namespace sepconv {
namespace {

class OrderVolumeStage final : public Stage {
 public:
  OrderVolumeStage(std::shared_ptr<const OrderStage> stage, Extent plane)
      : Stage(traits_of(*stage)), stage_(std::move(stage)), planes_{plane} {}

  std::string text() const override { return stage_->text(); }
  std::int64_t tile_cols() const override { return planes_.plane.cols; }

  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    const Rect cols = needed().of(output, input);
    const Rect rows = along_z(output, input);
    return {rows.row, cols.col, rows.rows, cols.cols};
  }

  Extent input_at_most(Extent output, const ImageSpec& input) const override {
    const std::int64_t halo = along_z(middle_rect(input.extent, {1, 1}), input).rows - 1;
    return {output.rows + halo, needed().most_cols(output.cols, input, input.extent.cols)};
  }

  StagePtr honouring_missing() const override {
    return std::make_shared<OrderVolumeStage>(
        std::static_pointer_cast<const OrderStage>(stage_->honouring_missing()), planes_.plane);
  }

  double operations_per_element(Scratch scratch, const ImageSpec& input) const override {
    return stage_->operations_per_element(scratch, input);
  }

  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override {
    return stage_->scratch_bytes(scratch, most_of_plane(planes_, output), input, arithmetic);
  }

  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker) const override {
    compute(in, out, [&](std::span<const ConstRegion> planes, const Region& to) {
      order_host(stage_->filter(), stage_->border(), planes, to, arithmetic, worker);
    });
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    compute(in, out, [&](std::span<const ConstRegion> planes, const Region& to) {
      order_reference(stage_->filter(), stage_->border(), planes, to, arithmetic);
    });
  }

  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, std::span<const PointwiseOp> then) const override {
    compute(in, out, [&](std::span<const ConstRegion> planes, const Region& to) {
      order_cuda(stage_->filter(), stage_->border(), planes, to, arithmetic, arena, stream, then);
    });
  }

 private:
  static StageTraits traits_of(const OrderStage& stage) {
    StageTraits traits = stage.traits();
    traits.runs_on_device = stage.filter().window.planes() <= kMostDeviceOrderPlanes;
    return traits;
  }

  PlanesNeeded needed() const { return {*stage_, planes_, planes_}; }

  Rect along_z(const Rect& output, const ImageSpec& input) const {
    const OrderWindow& window = stage_->filter().window;
    return within_image(stage_->border().mode, output.grown(std::max(window.front, window.back), 0),
                        input.extent);
  }

  /// `order` makes a rectangle of one plane of those under the window.
  template <class Order>
  void compute(const ConstRegion& in, const Region& out, const Order& order) const {
    const OrderWindow& window = stage_->filter().window;
    std::vector<ConstRegion> planes(static_cast<std::size_t>(window.planes()));
    for (std::int64_t z = out.rect.row; z < out.rect.row_end(); ++z) {
      const PixelView to = out.pixels.crop({z - out.rect.row, 0, 1, out.rect.cols});
      for (const PlanePiece& piece : pieces_of(planes_, out.rect.col, out.rect.cols)) {
        for (std::int64_t i = 0; i < window.planes(); ++i)
          planes[static_cast<std::size_t>(i)] = plane_at(in, z - window.front + i, piece.plane);
        Region result = as_plane(to, out.rect.col, planes_, piece.plane, piece.rect);
        result.past_caches = out.past_caches;
        order(planes, result);
      }
    }
  }

  /// Where it lies, beyond the volume too where that repeats; without pixels where the border is constant.
  ConstRegion plane_at(const ConstRegion& in, std::int64_t z, std::int64_t plane) const {
    const auto is_there = [&](std::int64_t row) { return row >= in.rect.row && row < in.rect.row_end(); };
    const std::int64_t row = is_there(z) ? z : border_index(z, in.image.rows, stage_->border().mode);
    if (!is_there(row)) return {};
    const ConstPixelView pixels = in.pixels.crop({row - in.rect.row, 0, 1, in.rect.cols});
    return as_plane(pixels, in.rect.col, planes_, plane, planes_.rows_in(plane, in.rect.col, in.rect.cols));
  }

  std::shared_ptr<const OrderStage> stage_;
  PlaneRow planes_;
};

}  // namespace

StagePtr make_order_on_volume(std::shared_ptr<const OrderStage> stage, Extent plane) {
  return std::make_shared<OrderVolumeStage>(std::move(stage), plane);
}

}  // namespace sepconv
