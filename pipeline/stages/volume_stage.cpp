#include "pipeline/stages/volume_stage.hpp"

#include <algorithm>
#include <utility>

#include "pipeline/chain/chain_tile.hpp"
#include "pipeline/chain/wrap.hpp"
#include "pipeline/stages/joined_volume.hpp"
#include "pipeline/stages/normalized_volume.hpp"
#include "pipeline/stages/volume_filter_stage.hpp"
#include "pipeline/stages/volume_footprint.hpp"

namespace sepconv {
namespace {

StageTraits traits_on_volume(const Stage& original, const VolumePasses& passes) {
  const auto& [in_plane, along_z] = passes;
  StageTraits traits = in_plane != nullptr ? in_plane->traits() : along_z->traits();
  traits.is_transpose = false;
  traits.product = Product::none;
  traits.fuses_nodata = false;
  traits.scale_factor = {};
  if (along_z == nullptr) return traits;
  StageTraits other = along_z->traits();
  other.fuses_nodata = false;
  if (in_plane == nullptr) return other;
  traits.is_complex_linear = original.traits().is_complex_linear;
  traits.needs_f64 = original.traits().needs_f64;
  traits.is_average = original.traits().is_average;
  traits.is_selection = original.traits().is_selection;
  traits.runs_on_device = traits.runs_on_device && other.runs_on_device;
  traits.max_gain *= other.max_gain;
  traits.propagates_nodata = traits.propagates_nodata && other.propagates_nodata;
  return traits;
}

class VolumeStage final : public Stage {
 public:
  /// One of the passes may be null.
  VolumeStage(StagePtr original, VolumePasses passes, Extent from, Extent to)
      : Stage(traits_on_volume(*original, passes)),
        original_(std::move(original)),
        in_plane_(std::move(passes.in_plane)),
        along_z_(std::move(passes.along_z)),
        from_{from},
        to_{to} {}

  std::string text() const override { return original_->text(); }

  std::int64_t tile_cols() const override { return in_plane_ != nullptr ? to_.plane.cols : 1; }

  ImageSpec output_spec(const ImageSpec& input) const override {
    if (in_plane_ == nullptr) return input;
    ImageSpec result = in_plane_->output_spec(plane_spec(input));
    result.extent = {input.extent.rows, input.extent.cols / from_.plane.area() * to_.plane.area()};
    return result;
  }

  ValueRange result_range(const ValueRange& input) const override {
    const ValueRange middle = along_z_ != nullptr ? along_z_->result_range(input) : input;
    return in_plane_ != nullptr ? in_plane_->result_range(middle) : middle;
  }

  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    const Rect within = within_planes(output, input);
    return along_z_ != nullptr ? along_z_->input_for(within, input) : within;
  }

  Extent max_input_extent(Extent output, const ImageSpec& input) const override {
    Extent max_extent = middle_extent(output, input);
    if (along_z_ == nullptr) return max_extent;
    max_extent.rows += along_z_->input_for(middle_rect(input.extent, {1, 1}), input).rows - 1;
    return max_extent;
  }

  double operations_per_element(Scratch scratch, const ImageSpec& input) const override {
    return (in_plane_ != nullptr ? in_plane_->operations_per_element(scratch, plane_spec(input)) : 0) +
           (along_z_ != nullptr ? along_z_->operations_per_element(scratch, input) : 0);
  }

  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override {
    const Extent middle = along_z_ != nullptr && in_plane_ != nullptr ? middle_extent(output, input) : output;
    std::int64_t bytes = 0;
    if (along_z_ != nullptr) bytes = along_z_->scratch_bytes(scratch, middle, input, arithmetic);
    if (in_plane_ == nullptr) return bytes;
    const Extent max_extent = max_part_extent(to_, output);
    const ImageSpec plane = plane_spec(input);
    bytes = std::max(bytes, in_plane_->scratch_bytes(scratch, max_extent, plane, arithmetic) +
                                gathered_in_plane(max_extent, plane, arithmetic));
    return bytes +
           (along_z_ != nullptr ? Arena::view_bytes(middle, input.channels, pixel_type_of(arithmetic)) : 0);
  }

  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker) const override {
    compute(
        in, out, arithmetic, worker,
        [&](const ConstRegion& from, const Region& to) { along_z_->apply(from, to, arithmetic, worker); },
        [&](const ConstRegion& from, const Region& to) { in_plane_->apply(from, to, arithmetic, worker); },
        [&](const ConstRegion& plane, const Rect& needed) {
          return gathered(plane, needed, worker,
                          [](const ConstPixelView& from, const PixelView& to) { copy_pixels(from, to); });
        });
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    const ImageSpec input{in.image, in.pixels.channels, in.pixels.type};
    Arena arena(Buffer(scratch_bytes(Scratch::host, out.rect.extent(), input, arithmetic)));
    compute(
        in, out, arithmetic, arena,
        [&](const ConstRegion& from, const Region& to) { along_z_->apply_reference(from, to, arithmetic); },
        [&](const ConstRegion& from, const Region& to) { in_plane_->apply_reference(from, to, arithmetic); },
        [](const ConstRegion& plane, const Rect&) { return plane; });  // the reference maps borders itself
  }

  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, std::span<const PointwiseOp> epilogue_ops) const override {
    const std::span<const PointwiseOp> after_z =
        in_plane_ == nullptr ? epilogue_ops : std::span<const PointwiseOp>();
    compute(
        in, out, arithmetic, arena,
        [&](const ConstRegion& from, const Region& to) {
          along_z_->enqueue(from, to, arithmetic, arena, stream, after_z);
        },
        [&](const ConstRegion& from, const Region& to) {
          in_plane_->enqueue(from, to, arithmetic, arena, stream, epilogue_ops);
        },
        [&](const ConstRegion& plane, const Rect& needed) {
          return gathered(plane, needed, arena, [stream](const ConstPixelView& from, const PixelView& to) {
            copy_pixels(from, to, stream);
          });
        });
  }

  /// Filters along z have no data on the device.
  StagePtr on_device(std::byte* memory, DeviceStream stream) const override {
    const StagePtr in_plane = in_plane_ != nullptr ? in_plane_->on_device(memory, stream) : nullptr;
    return std::make_shared<VolumeStage>(original_, VolumePasses{in_plane, along_z_}, from_.plane, to_.plane);
  }

  StagePtr with_nodata() const override {
    return make_volume_stage(*original_->with_nodata(), from_.plane, to_.plane);
  }
  StagePtr with_alpha_mask(std::int64_t alpha) const override {
    return make_volume_stage(*original_->with_alpha_mask(alpha), from_.plane, to_.plane);
  }

 private:
  ImageSpec plane_spec(const ImageSpec& input) const { return {from_.plane, input.channels, input.type}; }

  Rect within_planes(const Rect& output, const ImageSpec& input) const {
    return in_plane_ == nullptr ? output : PlanesNeeded{*in_plane_, from_, to_}.input_of(output, input);
  }

  /// Maximum extent of the result of the z pass for an output of this extent at any position.
  Extent middle_extent(Extent output, const ImageSpec& input) const {
    if (in_plane_ == nullptr) return output;
    return {output.rows, PlanesNeeded{*in_plane_, from_, to_}.max_cols(output.cols, input,
                                                                       output_spec(input).extent.cols)};
  }

  /// Bytes to gather pixels beyond the edges of periodic planes.
  std::int64_t gathered_in_plane(Extent output, ImageSpec plane, Arithmetic arithmetic) const {
    if (size_of(pixel_type_of(arithmetic)) > size_of(plane.type)) plane.type = pixel_type_of(arithmetic);
    const Rect corner{0, 0, output.rows, output.cols}, middle = middle_rect(to_.plane, output);
    return gather_scratch_bytes(in_plane_, Chain(in_plane_).specs(plane), {corner, middle});
  }

  /// `gather` returns the needed pixels of a periodic plane, including those beyond its edges.
  template <class AlongZ, class InPlane, class Gather>
  void compute(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
               const AlongZ& along_z, const InPlane& in_plane, const Gather& gather) const {
    if (in_plane_ == nullptr) return along_z(in, out);
    const Arena::Scope scope(arena);
    ConstRegion middle = in;
    if (along_z_ != nullptr) {
      const ImageSpec input{in.image, in.pixels.channels, in.pixels.type};
      const Rect needed = within_planes(out.rect, input);
      const Region result{arena.allocate_view(needed.extent(), in.pixels.channels, pixel_type_of(arithmetic)),
                          needed, in.image};
      along_z(in, result);
      middle = result;
    }
    for (std::int64_t row = out.rect.row; row < out.rect.row_end(); ++row)
      compute_row(middle, out, row, arena, in_plane, gather);
  }

  template <class InPlane, class Gather>
  void compute_row(const ConstRegion& in, const Region& out, std::int64_t row, Arena& arena,
                   const InPlane& in_plane, const Gather& gather) const {
    const ConstPixelView from = in.pixels.crop({row - in.rect.row, 0, 1, in.rect.cols});
    const PixelView to = out.pixels.crop({row - out.rect.row, 0, 1, out.rect.cols});
    for (const PlanePiece& piece : pieces_of(to_, out.rect.col, out.rect.cols)) {
      const ConstRegion source = as_plane(from, in.rect.col, from_, piece.plane,
                                          from_.rows_in(piece.plane, in.rect.col, in.rect.cols));
      Region result = as_plane(to, out.rect.col, to_, piece.plane, piece.rect);
      result.past_caches = out.past_caches;
      const Rect needed = in_plane_->input_for(piece.rect, {from_.plane, in.pixels.channels, in.pixels.type});
      const Arena::Scope scope(arena);
      in_plane(Rect::whole(from_.plane).contains(needed) ? source : gather(source, needed), result);
    }
  }

  template <class Copy>
  static ConstRegion gathered(const ConstRegion& plane, const Rect& needed, Arena& arena, const Copy& copy) {
    const Region result{arena.allocate_view(needed.extent(), plane.pixels.channels, plane.pixels.type),
                        needed, plane.image};
    for (const PeriodicPiece& piece : periodic_pieces(needed, plane.image))
      copy(plane.crop(piece.inside).pixels, result.crop(piece.at).pixels);
    return result;
  }

  StagePtr original_, in_plane_, along_z_;
  PlaneRow from_, to_;  // of the input, of the result
};

StagePtr join_of(const Stage& stage, const VolumeJoin& join, Extent plane) {
  JoinedOnVolume on_volume{.stage = stage.shared_from_this(), .plane = plane};
  for (const StagePtr& branch : join.branches)
    on_volume.branches.push_back(make_volume_stage(*branch, plane, plane));
  return make_joined_volume(std::move(on_volume));
}

}  // namespace

StagePtr make_volume_stage(const Stage& stage, Extent from, Extent to) {
  if (const VolumeJoin* const join = volume_join(stage)) return join_of(stage, *join, from);
  const auto with = [&](const VolumePasses& passes) {
    return std::make_shared<VolumeStage>(stage.shared_from_this(), passes, from, to);
  };
  const StagePtr plain = with({stage.in_plane(), stage.along_z()});
  const NormalizedPasses* const normalized = normalized_passes(stage);
  if (normalized == nullptr) return plain;
  NormalizedOnVolume on_volume{
      .values = with(normalized->values), .totals = normalized->totals, .fills = normalized->fills};
  for (std::size_t i = 0; i < normalized->weights.size() && normalized->weights[i].along_z != nullptr; ++i)
    on_volume.weights[i] = with(normalized->weights[i]);
  return make_normalized_volume(stage.text(), plain->traits(), std::move(on_volume));
}

}  // namespace sepconv
