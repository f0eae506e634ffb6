#include "pipeline/stages/plane_stage.hpp"

#include <algorithm>
#include <utility>

#include "pipeline/chain/graph_tile.hpp"
#include "pipeline/chain/wrap.hpp"
#include "pipeline/stages/volume_footprint.hpp"

namespace sepconv {
namespace {

/// The rows around a part of a plane are columns of the volume.
StageDeclaration declaration_of(const Stage& stage, Extent plane) {
  StageDeclaration declaration = stage.declaration();
  if (declaration.traits.is_transpose()) declaration.traits.movement = Movement::permutation;
  declaration.properties.product = Product::none;
  declaration.traits.nan.fuses = false;
  declaration.traits.fuses_join = false;
  declaration.properties.scale_factor = {};
  declaration.traits.work.halo_in_columns = true;
  declaration.properties.tile_cols = plane.cols;
  return declaration;
}

class PlaneStage final : public Stage {
 public:
  PlaneStage(StagePtr stage, Extent from, Extent to)
      : Stage(declaration_of(*stage, to)), stage_(std::move(stage)), from_{from}, to_{to} {}

  ValueRange result_range(const ValueRange& input) const override { return stage_->result_range(input); }

  ImageSpec output_spec(const ImageSpec& input) const override {
    ImageSpec result = stage_->output_spec(plane_spec(input));
    result.extent = {input.extent.rows, input.extent.cols / from_.plane.area() * to_.plane.area()};
    return result;
  }

  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    return needed().input_of(output, input);
  }

  Extent max_input_extent(Extent output, const ImageSpec& input) const override {
    return {output.rows, needed().max_cols(output.cols, input, output_spec(input).extent.cols)};
  }

  double operations_per_element(Scratch scratch, const ImageSpec& input) const override {
    return stage_->operations_per_element(scratch, plane_spec(input));
  }

  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override {
    const Extent part = max_part_extent(to_, output);
    const ImageSpec plane = plane_spec(input);
    return stage_->scratch_bytes(scratch, part, plane, arithmetic) + gathered_bytes(part, plane, arithmetic);
  }

  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker) const override {
    for_each_plane(
        in, out, worker,
        [&](const ConstRegion& plane, const Rect& needed_part) {
          return gathered(plane, needed_part, worker,
                          [](const ConstPixelView& from, const PixelView& to) { copy_pixels(from, to); });
        },
        [&](const ConstRegion& from, const Region& to) { stage_->apply(from, to, arithmetic, worker); });
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    Arena unused;
    for_each_plane(
        in, out, unused,
        [](const ConstRegion& plane, const Rect&) { return plane; },  // the reference maps borders itself
        [&](const ConstRegion& from, const Region& to) { stage_->apply_reference(from, to, arithmetic); });
  }

  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, const Epilogue& epilogue) const override {
    for_each_plane(
        in, out, arena,
        [&](const ConstRegion& plane, const Rect& needed_part) {
          return gathered(
              plane, needed_part, arena,
              [stream](const ConstPixelView& from, const PixelView& to) { copy_pixels(from, to, stream); });
        },
        [&](const ConstRegion& from, const Region& to) {
          stage_->enqueue(from, to, arithmetic, arena, stream, epilogue);
        });
  }

  StagePtr on_device(std::byte* memory, DeviceStream stream) const override {
    return with_stage(stage_->on_device(memory, stream));
  }
  StagePtr with_nodata() const override { return with_stage(stage_->with_nodata()); }
  StagePtr with_alpha_mask(std::int64_t alpha) const override {
    return with_stage(stage_->with_alpha_mask(alpha));
  }

 private:
  StagePtr with_stage(StagePtr stage) const {
    return std::make_shared<PlaneStage>(std::move(stage), from_.plane, to_.plane);
  }
  ImageSpec plane_spec(const ImageSpec& input) const { return {from_.plane, input.channels, input.type}; }
  PlanesNeeded needed() const { return {*stage_, from_, to_}; }

  /// Bytes to gather pixels beyond the edges of periodic planes.
  std::int64_t gathered_bytes(Extent output, ImageSpec plane, Arithmetic arithmetic) const {
    if (size_of(pixel_type_of(arithmetic)) > size_of(plane.type)) plane.type = pixel_type_of(arithmetic);
    const Rect corner{0, 0, output.rows, output.cols}, middle = middle_rect(to_.plane, output);
    return gather_scratch_bytes(Graph(stage_, plane), {corner, middle});
  }

  /// Calls compute(in, out) for every rectangle of a plane in `out`. `gather` returns the needed pixels of a
  /// periodic plane, including those beyond its edges.
  template <class Gather, class Compute>
  void for_each_plane(const ConstRegion& in, const Region& out, Arena& arena, const Gather& gather,
                      const Compute& compute) const {
    const ImageSpec plane{from_.plane, in.pixels.channels, in.pixels.type};
    for (std::int64_t row = out.rect.row; row < out.rect.row_end(); ++row) {
      const ConstPixelView from = in.pixels.crop({row - in.rect.row, 0, 1, in.rect.cols});
      const PixelView to = out.pixels.crop({row - out.rect.row, 0, 1, out.rect.cols});
      for (const PlanePiece& piece : pieces_of(to_, out.rect.col, out.rect.cols)) {
        const ConstRegion source = as_plane(from, in.rect.col, from_, piece.plane,
                                            from_.rows_in(piece.plane, in.rect.col, in.rect.cols));
        Region result = as_plane(to, out.rect.col, to_, piece.plane, piece.rect);
        result.past_caches = out.past_caches;
        const Rect needed_part = stage_->input_for(piece.rect, plane);
        const Arena::Scope scope(arena);
        compute(Rect::whole(from_.plane).contains(needed_part) ? source : gather(source, needed_part),
                result);
      }
    }
  }

  template <class Copy>
  static ConstRegion gathered(const ConstRegion& plane, const Rect& needed_part, Arena& arena,
                              const Copy& copy) {
    const Region result{arena.allocate_view(needed_part.extent(), plane.pixels.channels, plane.pixels.type),
                        needed_part, plane.image};
    for (const PeriodicPiece& piece : periodic_pieces(needed_part, plane.image))
      copy(plane.crop(piece.inside).pixels, result.crop(piece.at).pixels);
    return result;
  }

  StagePtr stage_;
  PlaneRow from_, to_;  // of the input, of the result
};

}  // namespace

StagePtr make_plane_stage(StagePtr stage, Extent from, Extent to) {
  return std::make_shared<PlaneStage>(std::move(stage), from, to);
}

}  // namespace sepconv
