#include "sepconv/pipeline/plan/volume_sinks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sepconv/pipeline/plan/pyramid_writer.hpp"

namespace sepconv {
namespace {

/// What the volumes of a set share.
struct Planes {
  std::unique_ptr<RasterSetWriter> set;
  ImageSpec spec;
  VolumeAxes axes;
  MissingPixels missing;
  PlaneMetadata metadata;

  std::unique_ptr<Writer> next(const Metadata& of_plane) { return fill_levels(set->next(of_plane), missing); }
};

class VolumeWriter final : public Writer {
 public:
  VolumeWriter(std::shared_ptr<Planes> planes, std::int64_t volume, const Metadata& metadata)
      : planes_(std::move(planes)),
        volume_(volume),
        spec_{{planes_->axes.depth, planes_->axes.planes * planes_->spec.extent.area()},
              planes_->spec.channels,
              planes_->spec.type},
        plane_(planes_->next(metadata)),
        of_plane_(plane_->layout()) {
    layout_.access = Access::sequential;
    layout_.streams = of_plane_.streams;
    layout_.description =
        fmt::format("rows as {} planes along z, each {}", planes_->axes.depth, of_plane_.description);
    layout_.warnings = of_plane_.warnings;
    layout_.stored = of_plane_.stored;
    layout_.codec = of_plane_.codec;
    layout_.many_files = of_plane_.many_files;
  }

  const ImageSpec& spec() const noexcept override { return spec_; }
  const SinkLayout& layout() const noexcept override { return layout_; }

  void write(const Rect& rect, const ConstPixelView& in, Executor& executor) override {
    const Extent plane = planes_->spec.extent;
    for (std::int64_t row = 0; row < rect.rows; ++row) {
      for (std::int64_t beside = 0; beside < planes_->axes.planes; ++beside) {
        const ConstPixelView part = in.crop({row, beside * plane.area(), 1, plane.area()});
        write_plane(planes_->axes.plane(volume_, rect.row + row, beside),
                    {part.data, plane, part.channels, part.type, plane.cols * part.pixel_bytes()}, executor);
      }
    }
  }

  void finish() override {}

  std::int64_t buffer_bytes(int concurrency) const override { return plane_->buffer_bytes(concurrency); }

 private:
  void write_plane(std::int64_t index, const ConstPixelView& pixels, Executor& executor) {
    if (index > planes_->axes.plane(volume_, 0, 0)) {
      plane_.reset();
      plane_ = planes_->next(planes_->metadata(index));
    }
    plane_->write(Rect::whole(pixels.extent), pixels, executor);
    plane_->prepare_finish();
    plane_->finish();
  }

  std::shared_ptr<Planes> planes_;
  std::int64_t volume_;
  ImageSpec spec_;
  std::unique_ptr<Writer> plane_;  ///< that is next, or was the last
  SinkLayout of_plane_, layout_;
};

class VolumeSinks final : public RasterSetWriter {
 public:
  explicit VolumeSinks(std::shared_ptr<Planes> planes) : planes_(std::move(planes)) {}

  std::unique_ptr<Writer> next(const Metadata& metadata) override {
    return std::make_unique<VolumeWriter>(planes_, volume_++, metadata);
  }
  void finish() override { planes_->set->finish(); }

 private:
  std::shared_ptr<Planes> planes_;
  std::int64_t volume_ = 0;
};

}  // namespace

std::unique_ptr<RasterSetWriter> volume_sinks(std::unique_ptr<RasterSetWriter> planes, const ImageSpec& plane,
                                              const VolumeAxes& axes, const MissingPixels& missing,
                                              PlaneMetadata metadata) {
  return std::make_unique<VolumeSinks>(
      std::make_shared<Planes>(std::move(planes), plane, axes, missing, std::move(metadata)));
}

}  // namespace sepconv
