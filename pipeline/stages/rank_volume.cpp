#include "pipeline/stages/rank_volume.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "pipeline/chain/graph_tile.hpp"
#include "pipeline/stages/volume_footprint.hpp"

namespace sepconv {
namespace {

class RankVolumeStage final : public Stage {
 public:
  RankVolumeStage(std::shared_ptr<const RankStage> stage, Extent plane)
      : Stage(declaration_of(*stage, plane)), stage_(std::move(stage)), planes_{plane} {}

  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    const Rect cols = needed().input_of(output, input);
    const Rect rows = along_z(output, input);
    return {rows.row, cols.col, rows.rows, cols.cols};
  }

  Extent max_input_extent(Extent output, const ImageSpec& input) const override {
    const std::int64_t halo = along_z(middle_rect(input.extent, {1, 1}), input).rows - 1;
    return {output.rows + halo, needed().max_cols(output.cols, input, input.extent.cols)};
  }

  double operations_per_element(Scratch scratch, const ImageSpec& input) const override {
    return stage_->operations_per_element(scratch, input);
  }

  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override {
    return stage_->scratch_bytes(scratch, max_part_extent(planes_, output), input, arithmetic);
  }

  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker) const override {
    compute(in, out, 1, [&](std::span<const ConstRegion> planes, std::span<const Region> to) {
      rank_host(stage_->filter(), stage_->border(), planes, to.front(), arithmetic, worker);
    });
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    compute(in, out, 1, [&](std::span<const ConstRegion> planes, std::span<const Region> to) {
      rank_reference(stage_->filter(), stage_->border(), planes, to.front(), arithmetic);
    });
  }

  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, const Epilogue& epilogue) const override {
    compute(in, out, kMaxDeviceRankResults,
            [&](std::span<const ConstRegion> planes, std::span<const Region> to) {
              rank_device(stage_->filter(), stage_->border(), planes, to, arithmetic, arena, stream,
                          epilogue.ops);
            });
  }

 private:
  static StageDeclaration declaration_of(const RankStage& stage, Extent plane) {
    StageDeclaration declaration = stage.declaration();
    declaration.properties.runs_on_device = stage.filter().window.planes() <= kMaxDeviceRankPlanes;
    declaration.properties.tile_cols = plane.cols;
    return declaration;
  }

  PlanesNeeded needed() const { return {*stage_, planes_, planes_}; }

  Rect along_z(const Rect& output, const ImageSpec& input) const {
    const RankWindow& window = stage_->filter().window;
    return within_image(stage_->border().mode, output.grown(std::max(window.front, window.back), 0),
                        input.extent);
  }

  /// `filter` computes a rectangle of up to `max_planes` consecutive planes from the planes in their windows.
  template <class Filter>
  void compute(const ConstRegion& in, const Region& out, std::int64_t max_planes,
               const Filter& filter) const {
    const RankWindow& window = stage_->filter().window;
    std::vector<ConstRegion> planes;
    std::vector<Region> results;
    for (std::int64_t first = out.rect.row; first < out.rect.row_end(); first += max_planes) {
      const std::int64_t end = std::min(first + max_planes, out.rect.row_end());
      for (const PlanePiece& piece : pieces_of(planes_, out.rect.col, out.rect.cols)) {
        planes.clear();
        results.clear();
        for (std::int64_t z = first - window.front; z < end + window.back; ++z)
          planes.push_back(plane_at(in, z, piece.plane));
        for (std::int64_t z = first; z < end; ++z) {
          const PixelView to = out.pixels.crop({z - out.rect.row, 0, 1, out.rect.cols});
          results.push_back(as_plane(to, out.rect.col, planes_, piece.plane, piece.rect));
          results.back().past_caches = out.past_caches;
        }
        filter(planes, results);
      }
    }
  }

  /// The plane at `z`, mapped by the border beyond the volume; without pixels if the border is constant.
  ConstRegion plane_at(const ConstRegion& in, std::int64_t z, std::int64_t plane) const {
    const auto is_available = [&](std::int64_t row) { return row >= in.rect.row && row < in.rect.row_end(); };
    const std::int64_t row = is_available(z) ? z : border_index(z, in.image.rows, stage_->border().mode);
    if (!is_available(row)) return {};
    const ConstPixelView pixels = in.pixels.crop({row - in.rect.row, 0, 1, in.rect.cols});
    return as_plane(pixels, in.rect.col, planes_, plane, planes_.rows_in(plane, in.rect.col, in.rect.cols));
  }

  std::shared_ptr<const RankStage> stage_;
  PlaneRow planes_;
};

}  // namespace

StagePtr make_rank_on_volume(std::shared_ptr<const RankStage> stage, Extent plane) {
  return std::make_shared<RankVolumeStage>(std::move(stage), plane);
}

}  // namespace sepconv
