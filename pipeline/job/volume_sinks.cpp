#include "pipeline/job/volume_sinks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "io/resumable.hpp"
#include "pipeline/job/pyramid_writer.hpp"

namespace sepconv {
namespace {

/// Data shared by all volumes of a set.
struct VolumeContext {
  std::unique_ptr<RasterSetWriter> set;
  ImageSpec spec;
  VolumeAxes axes;
  MissingPixels missing;
  PlaneMetadata metadata;
  std::shared_ptr<Checkpoint> checkpoint;

  std::unique_ptr<Writer> next(const Metadata& plane_metadata) {
    return fill_levels(set->next(plane_metadata), missing, checkpoint);
  }
};

/// Appends a plane's state as numbers, so that the states of several runs can be concatenated.
void append_state(const WriterState& state, std::vector<std::int64_t>& to) {
  to.push_back(std::ssize(state.block_positions));
  to.insert(to.end(), state.block_positions.begin(), state.block_positions.end());
  to.push_back(std::ssize(state.levels));
  for (const WriterState& level : state.levels) append_state(level, to);
}

std::span<const std::int64_t> read_numbers(std::span<const std::int64_t>& remaining, std::int64_t count) {
  if (count < 0 || count > std::ssize(remaining)) throw std::out_of_range("a state of planes ends too early");
  const auto numbers = remaining.first(static_cast<std::size_t>(count));
  remaining = remaining.subspan(numbers.size());
  return numbers;
}

/// Parses a state from the front of `remaining`. Throws std::out_of_range if it is incomplete.
WriterState read_state(std::span<const std::int64_t>& remaining) {
  const auto places = read_numbers(remaining, read_numbers(remaining, 1).front());
  WriterState state{.block_positions = {places.begin(), places.end()}};
  for (std::int64_t level = read_numbers(remaining, 1).front(); level > 0; --level)
    state.levels.push_back(read_state(remaining));
  return state;
}

/// Writes and resumes each plane as a separate raster.
class VolumeWriter final : public Writer, private ResumableWriter {
 public:
  VolumeWriter(std::shared_ptr<VolumeContext> planes, std::int64_t volume, const Metadata& metadata)
      : planes_(std::move(planes)),
        volume_(volume),
        spec_{{planes_->axes.depth, planes_->axes.planes * planes_->spec.extent.area()},
              planes_->spec.channels,
              planes_->spec.type},
        plane_(planes_->next(metadata)),
        open_plane_(planes_->axes.plane(volume, 0, 0)),
        next_plane_(open_plane_),
        plane_layout_(plane_->layout()) {
    layout_.access = Access::sequential;
    layout_.streams = plane_layout_.streams;
    layout_.description =
        fmt::format("rows as {} planes along z, each {}", planes_->axes.depth, plane_layout_.description);
    layout_.warnings = plane_layout_.warnings;
    layout_.stored = plane_layout_.stored;
    layout_.codec = plane_layout_.codec;
    layout_.file_per_block = plane_layout_.file_per_block;
  }

  const ImageSpec& spec() const noexcept override { return spec_; }
  const SinkLayout& layout() const noexcept override { return layout_; }

  void write(const Rect& rect, const ConstPixelView& in, Executor& executor) override {
    const Extent plane = planes_->spec.extent;
    for (std::int64_t row = 0; row < rect.rows; ++row) {
      for (std::int64_t index = 0; index < planes_->axes.planes; ++index) {
        const ConstPixelView part = in.crop({row, index * plane.area(), 1, plane.area()});
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
    if (open_plane_ < next_plane_) {
      plane_.reset();
      plane_ = planes_->next(planes_->metadata(next_plane_));
      open_plane_ = next_plane_;
    }
    return *plane_;
  }
  void finish_plane() {
    plane_->prepare_finish();
    plane_->finish();
    ++next_plane_;
  }

  void write_next(const ConstPixelView& pixels, Executor& executor) {
    Writer& plane = open_next();
    if (is_part_) plane.resumable()->begin_part(0, pixels.extent.rows);
    plane.write(Rect::whole(pixels.extent), pixels, executor);
    if (plane.resumable() != nullptr) append_state(plane.resumable()->take_state(), written_);
    if (is_part_)
      plane.resumable()->mark_rest_written();  // the finishing process computes levels of several parts
    finish_plane();
  }

  WriterState take_state() override { return {.block_positions = std::exchange(written_, {})}; }
  void restore(std::int64_t pixels, const WriterState& state, const StateFiles& files,
               Executor& executor) override {
    const std::int64_t area = planes_->spec.extent.area();
    std::span<const std::int64_t> remaining = state.block_positions;
    for (std::int64_t done = 0; done < pixels; done += area) {
      const WriterState plane_state = read_state(remaining);
      open_next().resumable()->restore(area, plane_state, files, executor);
      finish_plane();
    }
  }
  void begin_part(std::int64_t first_row, std::int64_t) override {
    const std::int64_t first = planes_->axes.plane(volume_, first_row, 0);
    if (next_plane_ < first && planes_->set->skip_to(first)) next_plane_ = first;
    leave_planes_until(first);
    is_part_ = true;
  }
  void mark_rest_written() override { leave_planes_until(planes_->axes.plane(volume_ + 1, 0, 0)); }
  void leave_planes_until(std::int64_t end) {
    while (next_plane_ < end) {
      open_next().resumable()->mark_rest_written();
      finish_plane();
    }
  }

  /// Bytes of the states of all planes, which are in memory simultaneously during restore().
  std::int64_t state_bytes() const {
    constexpr std::int64_t kNumbersPerBlock = 8, kNumbersPerPlane = 32;  // numbers, including smaller levels
    const bool has_positions = plane_layout_.is_append_only || !plane_layout_.shard.empty();
    const Extent plane = planes_->spec.extent, block = plane_layout_.block;
    const std::int64_t blocks =
        has_positions ? ceil_div(plane.rows, block.rows) * ceil_div(plane.cols, block.cols) : 0;
    return planes_->axes.depth * planes_->axes.planes * (blocks * kNumbersPerBlock + kNumbersPerPlane) * 8;
  }

  std::shared_ptr<VolumeContext> planes_;
  std::int64_t volume_;
  ImageSpec spec_;
  std::unique_ptr<Writer> plane_;
  std::int64_t open_plane_, next_plane_;  ///< index of the open plane, and of the first unwritten plane
  bool is_part_ = false;
  std::vector<std::int64_t> written_;  ///< states since the last take_state()
  SinkLayout plane_layout_, layout_;
};

class VolumeSinks final : public RasterSetWriter {
 public:
  explicit VolumeSinks(std::shared_ptr<VolumeContext> planes) : planes_(std::move(planes)) {}

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
  std::shared_ptr<VolumeContext> planes_;
  std::int64_t volume_ = 0;
};

}  // namespace

std::unique_ptr<RasterSetWriter> volume_sinks(std::unique_ptr<RasterSetWriter> planes, const ImageSpec& plane,
                                              const VolumeAxes& axes, const MissingPixels& missing,
                                              PlaneMetadata metadata,
                                              std::shared_ptr<Checkpoint> checkpoint) {
  return std::make_unique<VolumeSinks>(std::make_shared<VolumeContext>(
      std::move(planes), plane, axes, missing, std::move(metadata), std::move(checkpoint)));
}

}  // namespace sepconv
