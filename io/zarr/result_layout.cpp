#include "io/zarr/result_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "core/printable.hpp"

namespace sepconv {
namespace {

/// For a chunk that several images share; one that is asked for may have more.
constexpr double kMaxSharedBytes = 64 << 20;

/// OME-Zarr's axes of space are y and x.
void take_usual_names(ZarrLayout& layout, std::vector<std::string>& warnings) {
  const std::string rows = std::exchange(layout.rows_name, ""), cols = std::exchange(layout.cols_name, "");
  layout.channels_name.clear();
  layout.keeps_channel = false;
  if ((!rows.empty() && rows != "y") || (!cols.empty() && cols != "x"))
    warnings.push_back(fmt::format("the axes {} and {} are called y and x, as OME-Zarr has them",
                                   printable(rows), printable(cols)));
}

/// Where images along c have channels themselves, a chunk holds some of one image.
void take_whole_images(const RasterSetSpec& spec, std::int64_t samples, std::vector<AxisPositions>& chunk,
                       std::vector<std::string>& warnings) {
  const RasterAxis* const c = find_axis(spec.axes, "c");
  const AxisPositions* const asked = find_positions(chunk, "c");
  if (samples == 1 || c == nullptr || c->size == 1 || asked == nullptr || samples % asked->count == 0) return;
  warnings.push_back(
      fmt::format("a chunk holds one channel in place of {}: the {} of an image fill whole chunks",
                  asked->count, samples));
  std::erase_if(chunk, [](const AxisPositions& positions) { return positions.axis == "c"; });
}

}  // namespace

FileLayout zarr_result_layout(const RasterSetSpec& spec, const CreateOptions& options, bool is_ome,
                              std::vector<std::string>& warnings) {
  FileLayout layout = options.layout;
  if (is_ome) take_usual_names(layout.zarr, warnings);
  std::vector<AxisPositions>& chunk = layout.zarr.chunk_others;
  std::vector<AxisPositions>& shard = layout.zarr.shard_others;
  const std::int64_t samples =
      spec.raster.channels / options.stored.value_or(SampleType(spec.raster.type)).parts();
  if (is_ome) take_whole_images(spec, samples, chunk, warnings);
  const auto are_images = [&](const AxisPositions& positions) {
    const RasterAxis* const axis = find_axis(spec.axes, positions.axis);
    return axis != nullptr && axis->size > 1 &&
           positions.count > (is_ome && positions.axis == "c" ? samples : 1);
  };
  const auto cut = [&](std::vector<AxisPositions>& of, std::string_view why) {
    std::vector<AxisPositions> images;
    std::ranges::copy_if(of, std::back_inserter(images), are_images);
    if (images.empty()) return;
    std::erase_if(of, are_images);
    warnings.push_back(fmt::format("a {} holds one image in place of {}: {}",
                                   &of == &shard ? "shard" : "chunk", to_string(images), why));
  };
  double bytes = static_cast<double>(layout.tile.area() * spec.raster.pixel_bytes());
  bool is_asked_for = false;
  for (const AxisPositions& positions : chunk) {
    if (are_images(positions)) bytes *= static_cast<double>(positions.count);
    is_asked_for |= positions.asked_for;
  }
  if (!is_asked_for && bytes > kMaxSharedBytes) cut(chunk, "all of them would be more than 64 MiB");
  for (auto* const of : {&chunk, &shard}) {
    if (options.partial != nullptr) cut(*of, "a result that is made in several runs is made image by image");
    // A pixel's channels are positions of OME-Zarr's c, one a chunk unless something else is said.
    if (is_ome && find_positions(*of, "c") == nullptr) of->push_back({"c", 1});
  }
  return layout;
}

}  // namespace sepconv
