#include "io/zarr/result_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "core/printable.hpp"

namespace sepconv {
namespace {

/// Maximum size of a chunk that several images share, unless the user requests the chunk.
constexpr double kMaxSharedBytes = 64 << 20;

/// Names the spatial axes y and x, as OME-Zarr requires.
void use_ome_axis_names(ZarrLayout& layout, std::vector<std::string>& warnings) {
  const std::string rows = std::exchange(layout.rows_name, ""), cols = std::exchange(layout.cols_name, "");
  layout.channels_name.clear();
  layout.keeps_channel = false;
  if ((!rows.empty() && rows != "y") || (!cols.empty() && cols != "x"))
    warnings.push_back(fmt::format("the axes {} and {} are called y and x, as OME-Zarr has them",
                                   printable(rows), printable(cols)));
}

/// If images along c have several channels a pixel, limits a chunk to channels of one image.
void align_chunks_to_images(const RasterSetSpec& spec, std::int64_t samples,
                            std::vector<AxisPositions>& chunk, std::vector<std::string>& warnings) {
  const RasterAxis* const c = find_axis(spec.axes, "c");
  const AxisPositions* const requested = find_positions(chunk, "c");
  if (samples == 1 || c == nullptr || c->size == 1 || requested == nullptr || samples % requested->count == 0)
    return;
  warnings.push_back(
      fmt::format("a chunk holds one channel in place of {}: the {} of an image fill whole chunks",
                  requested->count, samples));
  std::erase_if(chunk, [](const AxisPositions& positions) { return positions.axis == "c"; });
}

}  // namespace

FileLayout zarr_result_layout(const RasterSetSpec& spec, const CreateOptions& options, bool is_ome,
                              std::vector<std::string>& warnings) {
  FileLayout layout = options.layout;
  if (is_ome) use_ome_axis_names(layout.zarr, warnings);
  std::vector<AxisPositions>& chunk = layout.zarr.chunk_others;
  std::vector<AxisPositions>& shard = layout.zarr.shard_others;
  const std::int64_t samples =
      spec.raster.channels / options.stored.value_or(SampleType(spec.raster.type)).parts();
  if (is_ome) align_chunks_to_images(spec, samples, chunk, warnings);
  const auto spans_images = [&](const AxisPositions& positions) {
    const RasterAxis* const axis = find_axis(spec.axes, positions.axis);
    return axis != nullptr && axis->size > 1 &&
           positions.count > (is_ome && positions.axis == "c" ? samples : 1);
  };
  const auto limit_to_one_image = [&](std::vector<AxisPositions>& positions_list, std::string_view reason) {
    std::vector<AxisPositions> removed;
    std::ranges::copy_if(positions_list, std::back_inserter(removed), spans_images);
    if (removed.empty()) return;
    std::erase_if(positions_list, spans_images);
    warnings.push_back(fmt::format("a {} holds one image in place of {}: {}",
                                   &positions_list == &shard ? "shard" : "chunk", to_string(removed),
                                   reason));
  };
  double bytes = static_cast<double>(layout.tile.area() * spec.raster.pixel_bytes());
  bool is_requested = false;
  for (const AxisPositions& positions : chunk) {
    if (spans_images(positions)) bytes *= static_cast<double>(positions.count);
    is_requested |= positions.is_explicit;
  }
  if (!is_requested && bytes > kMaxSharedBytes)
    limit_to_one_image(chunk, "all of them would be more than 64 MiB");
  for (auto* const positions_list : {&chunk, &shard}) {
    if (options.checkpoint != nullptr)
      limit_to_one_image(*positions_list, "a result that is made in several runs is made image by image");
    // The channels of a pixel are positions of OME-Zarr's c, one per chunk by default.
    if (is_ome && find_positions(*positions_list, "c") == nullptr) positions_list->push_back({"c", 1});
  }
  return layout;
}

}  // namespace sepconv
