#include "pipeline/plan/volume_sinks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "io/resumable.hpp"
#include "pipeline/plan/pyramid_writer.hpp"

namespace sepconv {
namespace {

/// Data shared by all volumes of a set.
struct Planes {
  std::unique_ptr<RasterSetWriter> set;
  ImageSpec spec;
  VolumeAxes axes;
  MissingPixels missing;
  PlaneMetadata metadata;
  std::shared_ptr<Checkpoint> partial;

  std::unique_ptr<Writer> next(const Metadata& of_plane) {
    return fill_levels(set->next(of_plane), missing, partial);
  }
};

/// Appends a plane's state as numbers, so that the states of several runs can be concatenated.
void put(const WriterState& state, std::vector<std::int64_t>& to) {
  to.push_back(std::ssize(state.places));
  to.insert(to.end(), state.places.begin(), state.places.end());
  to.push_back(std::ssize(state.levels));
  for (const WriterState& level : state.levels) put(level, to);
}

std::span<const std::int64_t> numbers_from(std::span<const std::int64_t>& left, std::int64_t count) {
  if (count < 0 || count > std::ssize(left)) throw std::out_of_range("a state of planes ends too early");
  const auto numbers = left.first(static_cast<std::size_t>(count));
  left = left.subspan(numbers.size());
  return numbers;
}

/// Parses a state from the front of `left`. Throws std::out_of_range if it is incomplete.
WriterState state_from(std::span<const std::int64_t>& left) {
  const auto places = numbers_from(left, numbers_from(left, 1).front());
  WriterState state{.places = {places.begin(), places.end()}};
  for (std::int64_t level = numbers_from(left, 1).front(); level > 0; --level)
    state.levels.push_back(state_from(left));
  return state;
}

/// Writes and resumes each plane as a separate raster.
class VolumeWriter final : public Writer, private ResumableWriter {
 public:
  VolumeWriter(std::shared_ptr<Planes> planes, std::int64_t volume, const Metadata& metadata)
      : planes_(std::move(planes)),
        volume_(volume),
        spec_{{planes_->axes.depth, planes_->axes.planes * planes_->spec.extent.area()},
              planes_->spec.channels,
              planes_->spec.type},
        plane_(planes_->next(metadata)),
        at_(planes_->axes.plane(volume, 0, 0)),
        next_(at_),
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
        write_next({part.data, plane, part.channels, part.type, plane.cols * part.pixel_bytes()}, executor);
      }
    }
  }

  void finish() override {}

  ResumableWriter* resumable() noexcept override { return plane_->resumable() != nullptr ? this : nullptr; }

  std::int64_t buffer_bytes(int concurrency) const override {
    return plane_->buffer_bytes(concurrency) + (plane_->resumable() != nullptr ? state_bytes() : 0);
  }

 private:
  /// Opens the next plane.
  Writer& open_next() {
    if (at_ < next_) {
      plane_.reset();
      plane_ = planes_->next(planes_->metadata(next_));
      at_ = next_;
    }
    return *plane_;
  }
  void finish_plane() {
    plane_->prepare_finish();
    plane_->finish();
    ++next_;
  }

  void write_next(const ConstPixelView& pixels, Executor& executor) {
    Writer& plane = open_next();
    if (is_part_) plane.resumable()->begin_part(0, pixels.extent.rows);
    plane.write(Rect::whole(pixels.extent), pixels, executor);
    if (plane.resumable() != nullptr) put(plane.resumable()->take_state(), written_);
    if (is_part_) plane.resumable()->leave_rest();  // the finishing process computes levels of several parts
    finish_plane();
  }

  WriterState take_state() override { return {.places = std::exchange(written_, {})}; }
  void restore(std::int64_t pixels, const WriterState& state, const StateFiles& files,
               Executor& executor) override {
    const std::int64_t area = planes_->spec.extent.area();
    std::span<const std::int64_t> left = state.places;
    for (std::int64_t done = 0; done < pixels; done += area) {
      const WriterState of_plane = state_from(left);
      open_next().resumable()->restore(area, of_plane, files, executor);
      finish_plane();
    }
  }
  void begin_part(std::int64_t first_row, std::int64_t) override {
    const std::int64_t first = planes_->axes.plane(volume_, first_row, 0);
    if (next_ < first && planes_->set->skip_to(first)) next_ = first;
    leave_until(first);
    is_part_ = true;
  }
  void leave_rest() override { leave_until(planes_->axes.plane(volume_ + 1, 0, 0)); }
  void leave_until(std::int64_t end) {
    while (next_ < end) {
      open_next().resumable()->leave_rest();
      finish_plane();
    }
  }

  /// Bytes of the states of all planes, which are in memory simultaneously during restore().
  std::int64_t state_bytes() const {
    constexpr std::int64_t kOfBlock = 8, kOfPlane = 32;  // numbers, including smaller levels
    const bool has_places = of_plane_.appends || !of_plane_.shard.empty();
    const Extent plane = planes_->spec.extent, block = of_plane_.block;
    const std::int64_t blocks =
        has_places ? ceil_div(plane.rows, block.rows) * ceil_div(plane.cols, block.cols) : 0;
    return planes_->axes.depth * planes_->axes.planes * (blocks * kOfBlock + kOfPlane) * 8;
  }

  std::shared_ptr<Planes> planes_;
  std::int64_t volume_;
  ImageSpec spec_;
  std::unique_ptr<Writer> plane_;
  std::int64_t at_, next_;  ///< index of the open plane, and of the first unwritten plane
  bool is_part_ = false;
  std::vector<std::int64_t> written_;  ///< states since the last take_state()
  SinkLayout of_plane_, layout_;
};

class VolumeSinks final : public RasterSetWriter {
 public:
  explicit VolumeSinks(std::shared_ptr<Planes> planes) : planes_(std::move(planes)) {}

  std::unique_ptr<Writer> next(const Metadata& metadata) override {
    return std::make_unique<VolumeWriter>(planes_, volume_++, metadata);
  }
  bool skip_to(std::int64_t volume) override {
    if (!planes_->set->skip_to(planes_->axes.plane(volume, 0, 0))) return false;
    volume_ = volume;
    return true;
  }
  void finish() override { planes_->set->finish(); }

 private:
  std::shared_ptr<Planes> planes_;
  std::int64_t volume_ = 0;
};

}  // namespace

std::unique_ptr<RasterSetWriter> volume_sinks(std::unique_ptr<RasterSetWriter> planes, const ImageSpec& plane,
                                              const VolumeAxes& axes, const MissingPixels& missing,
                                              PlaneMetadata metadata, std::shared_ptr<Checkpoint> partial) {
  return std::make_unique<VolumeSinks>(std::make_shared<Planes>(std::move(planes), plane, axes, missing,
                                                                std::move(metadata), std::move(partial)));
}

}  // namespace sepconv
