// Properties that follow from chain, source and sink alone.
#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "pipeline/chain/graph_tile.hpp"
#include "pipeline/plan/cost.hpp"

namespace sepconv {

std::int64_t PlanProblem::read_unit_rows(const SourceLayout& layout) {
  return layout.streams && layout.access == Access::random ? std::max<std::int64_t>(1, layout.unit().rows)
                                                           : 1;
}

Extent PlanProblem::band_unit() const {
  const Extent image = region.extent();
  // Bands of a transposed result are short pieces of an untiled file; tiles are kept whole.
  const Extent block = turned ? sink.layout().block : sink.layout().unit();
  return {std::clamp<std::int64_t>(block.rows, 1, image.rows),
          std::clamp<std::int64_t>(block.cols, 1, image.cols)};
}

Extent PlanProblem::source_extent(Extent part) const {
  if (turned) std::swap(part.rows, part.cols);
  for (std::size_t i = chain.size(); i-- > 0;) {
    if (!chain.stages()[i]->traits().changes_size) continue;
    part.rows = ceil_div(part.rows * specs[i].extent.rows, specs[i + 1].extent.rows);
    part.cols = ceil_div(part.cols * specs[i].extent.cols, specs[i + 1].extent.cols);
  }
  return part;
}

Extent PlanProblem::result_extent(Extent part) const {
  const Extent result = region.extent();
  Extent in_source = source_extent(result);
  if (turned) std::swap(in_source.rows, in_source.cols);
  return {std::max<std::int64_t>(1, part.rows * result.rows / std::max(in_source.rows, result.rows)),
          std::max<std::int64_t>(1, part.cols * result.cols / std::max(in_source.cols, result.cols))};
}

std::int64_t PlanProblem::tile_cols() const {
  std::int64_t unit = 1;
  for (const StagePtr& stage : chain.stages()) unit = std::max(unit, stage->properties().tile_cols);
  return unit;
}

std::int64_t PlanProblem::halo_rows(Extent band) const {
  const Rect part = middle(band);
  return std::max<std::int64_t>(0, graph.source_rect(part).rows - source_extent(part.extent()).rows);
}

void PlanProblem::find_transposes() {
  item = region.extent();
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const Stage& stage = *chain.stages()[i];
    const Extent transposed_item = stage.transposed_item(specs[i]);
    const PrimitiveTraits& traits = stage.traits();
    const StageProperties& properties = stage.properties();
    if (properties.product != Product::none) sum_length += traits.work.operations_per_element;
    whole_columns =
        whole_columns || (properties.product == Product::over_columns && !turned && specs[i].extent.rows > 1);
    if (transposed_item.empty()) continue;
    turned = !turned;
    // Many matrices transposed together: the stage is then the whole chain and defines the rectangles.
    if (traits.is_transpose() || chain.size() > 1) continue;
    if (region.extent() != specs.back().extent)
      throw InvalidArgument(
          "a region of many matrices transposed at once cannot be planned; leave PlanOptions::region out");
    item = transposed_item;
  }
}

Rect PlanProblem::middle(Extent band) const {
  const Extent image = specs.back().extent;
  // Without a halo the first band is like any other, and it does not straddle two items.
  return item == region.extent()
             ? middle_rect(image, band)
             : Rect{0, 0, std::min(band.rows, image.rows), std::min(band.cols, image.cols)};
}

}  // namespace sepconv
