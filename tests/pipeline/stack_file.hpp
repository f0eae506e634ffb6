// A stack in a file and the same pixels as volumes, for tests of filters along z.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../io/temporary_folder.hpp"
#include "../support/fault_injection.hpp"
#include "../support/image.hpp"
#include "io/volume_set.hpp"
#include "pipeline/run/run_file.hpp"
#include "pipeline/stages/on_volume.hpp"

namespace sepconv::test {

inline constexpr ImageSpec kPlane{{23, 37}, 1, PixelType::u16};

/// A file of noise, and the same pixels as volumes.
struct StackFile {
  TemporaryFolder folder;
  std::filesystem::path in, out;
  RasterAxes axes;
  VolumeAxes volume;
  std::vector<Image> images;  // one per volume; row z is plane z, flattened

  StackFile(const char* name, RasterAxes given, Metadata metadata = {})
      : in(folder.path() / name),
        out(folder.path() / ("out-" + std::string(name))),
        axes(std::move(given)),
        volume(volume_axes(axes, "z").value_or(VolumeAxes())) {
    CreateOptions create;
    create.metadata = metadata;
    const auto sink = create_set(in, {kPlane, axes}, create);
    const std::int64_t area = kPlane.extent.area();
    for (std::int64_t i = 0; i < raster_count(axes); ++i) {
      const Image plane = Image::of_pattern(kPlane, Pattern::noise, static_cast<std::uint64_t>(i));
      run(*plane.reader(), *sink->next(metadata), Chain());
      const std::int64_t row = i / volume.planes;
      if (row % volume.depth == 0 && i % volume.planes == 0)
        images.emplace_back(ImageSpec{{volume.depth, volume.planes * area}, 1, kPlane.type});
      const PixelView to = images.back().view().crop({row % volume.depth, i % volume.planes * area, 1, area});
      copy_pixels(ConstPixelView{plane.view().data, {1, area}, 1, kPlane.type, 2 * area}, to);
    }
    sink->finish();
  }

  /// Whether the output's planes equal the reference's result on whole volumes.
  bool is_result_of(const Chain& chain) const {
    const auto set = open_set(out);
    if (to_string(set->axes()) != to_string(axes)) return false;
    const Chain on_planes = on_volume(chain, kPlane, {kPlane.extent, volume.depth, volume.planes});
    const ImageSpec spec = chain.result_spec(kPlane);
    bool same = true;
    for (std::size_t v = 0; v < images.size(); ++v) {
      const Image expected(on_planes.result_spec(images[v].spec()));
      run_whole_image(*images[v].reader(), *expected.writer(), on_planes);
      for (std::int64_t z = 0; z < volume.depth; ++z) {
        for (std::int64_t column = 0; column < volume.planes; ++column) {
          const Image sink(spec);
          run(*set->raster(volume.plane(static_cast<std::int64_t>(v), z, column)), *sink.writer(), Chain());
          const std::int64_t area = spec.extent.area();
          const ConstPixelView row = expected.view().crop({z, column * area, 1, area});
          const Image wanted(spec);
          copy_pixels(row,
                      PixelView{wanted.view().data, {1, area}, spec.channels, spec.type, row.row_bytes()});
          same = same && sink == wanted;
        }
      }
    }
    return same;
  }
};

inline RunOptions in_bands(std::int64_t planes, std::vector<int> devices = {}) {
  RunOptions options;
  options.threads = 2;
  options.band_rows = planes;
  options.devices = std::move(devices);
  return options;
}

}  // namespace sepconv::test
