#include "sepconv/io/zarr/zarr_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <tuple>
#include <utility>

#include "sepconv/core/error.hpp"
#include "sepconv/io/encoded_blocks.hpp"
#include "sepconv/io/resumable.hpp"
#include "sepconv/io/stored_values.hpp"
#include "sepconv/io/tiff/lease_pool.hpp"
#include "sepconv/io/zarr/shard_writer.hpp"
#include "sepconv/io/zarr/zarr_codecs.hpp"

namespace sepconv {
namespace {

bool is_only(std::span<const std::byte> block, std::span<const std::byte> fill) noexcept {
  return std::memcmp(block.data(), fill.data(), fill.size()) == 0 &&
         std::memcmp(block.data(), block.data() + fill.size(), block.size() - fill.size()) == 0;
}

class ZarrWriter final : public Writer, private EncodedWriter, private ResumableWriter {
 public:
  ZarrWriter(std::shared_ptr<const ZarrTarget> target, const ImageSpec& spec,
             const std::vector<std::int64_t>& position, SinkLayout layout, std::function<void()> then)
      : target_(std::move(target)),
        spec_(spec),
        layout_(std::move(layout)),
        then_(std::move(then)),
        position_(array().shape.size()),
        rows_(side(axes().row)),
        cols_(side(axes().col)),
        channels_(side(axes().channel)) {
    for (std::size_t i = 0; i < position.size(); ++i)
      position_[static_cast<std::size_t>(target_->axes.others[i])] = position[i];
    if (!array().shards.empty()) shards_.emplace(*target_);
  }

  const ImageSpec& spec() const noexcept override { return spec_; }
  const SinkLayout& layout() const noexcept override { return layout_; }

  std::int64_t buffer_bytes(int concurrency) const override {
    return concurrency * (ZarrCoder::encoder_bytes(array()) + array().block_bytes()) +
           (shards_ ? ShardWriter::memory_bytes(*target_) : 0);
  }

  void write(const Rect& rect, const ConstPixelView& in, Executor& executor) override {
    const Rect grid{rect.row / rows_.block, rect.col / cols_.block, ceil_div(rect.rows, rows_.block),
                    ceil_div(rect.cols, cols_.block)};
    const std::int64_t layers = ceil_div(channels_.length, channels_.block);
    const auto at = [&](std::int64_t i) {
      return Place{grid.row + i / layers / grid.cols, grid.col + i / layers % grid.cols, i % layers};
    };
    const std::int64_t count = grid.area() * layers;
    if (shards_) return write_shards(rect, in, executor, count, at);
    executor.for_each(count, [&](std::int64_t i, int) {
      const Work work = leased();
      const auto bytes = encode(at(i), rect, in, *work);
      if (!bytes.empty())
        target_->folder->add(joined_key(target_->key, array().key_of(key_at(at(i)))), bytes);
    });
  }

  ResumableWriter* resumable() noexcept override { return target_->folder->partial() ? this : nullptr; }
  EncodedWriter* encoded() noexcept override { return layout_.coded ? this : nullptr; }

  void finish() override {
    if (shards_) shards_->check_complete();
    if (then_) then_();
  }

 private:
  WriterState take_state() override {
    return {.places = shards_ ? shards_->take_placed() : std::vector<std::int64_t>()};
  }
  void restore(std::int64_t, const WriterState& state, const StateFiles&, Executor&) override {
    if (shards_) shards_->restore(state.places);
  }

  struct Side {
    std::int64_t length = 1, block = 1;
    std::int64_t step = 1;  ///< in a block
  };
  /// Of a block among those of the image.
  struct Place {
    std::int64_t row, col, channel;
  };
  /// What one thread encodes with.
  struct Tools {
    explicit Tools(const ZarrArray& array) : coder(array), block(array.block_bytes()) {}
    ZarrCoder coder;
    Buffer block;
  };
  using Work = LeasePool<Tools>::Lease;

  const ZarrArray& array() const noexcept { return target_->array; }
  const ZarrAxes& axes() const noexcept { return target_->axes; }
  Side side(int axis) const {
    const auto i = static_cast<std::size_t>(axis);
    return axis < 0 ? Side{} : Side{array().shape[i], array().block()[i], array().block_steps()[i]};
  }
  Work leased() {
    return tools_.lease([&] { return std::make_unique<Tools>(array()); });
  }

  // Equal streams hold equal bytes, so those of a hole are known by theirs.
  void write_encoded(const Rect& rect, std::span<const std::span<const std::byte>> blocks,
                     Executor& executor) override {
    const std::int64_t cols = ceil_div(rect.cols, cols_.block);
    const Work work = leased();
    fill(work->block.data(), rows_.block * cols_.block * channels_.block);
    const auto hole = work->coder.encode(work->block.bytes(), target_->folder->target());
    executor.for_each(std::ssize(blocks), [&](std::int64_t i, int) {
      const auto bytes = blocks[static_cast<std::size_t>(i)];
      if (std::ranges::equal(bytes, hole)) return;
      const Place place{rect.row / rows_.block + i / cols, rect.col / cols_.block + i % cols, 0};
      target_->folder->add(joined_key(target_->key, array().key_of(key_at(place))), bytes);
    });
  }

  ZarrShape key_at(const Place& place) const {
    ZarrShape key = position_;
    key[static_cast<std::size_t>(axes().row)] = place.row;
    key[static_cast<std::size_t>(axes().col)] = place.col;
    if (axes().channel >= 0) key[static_cast<std::size_t>(axes().channel)] = place.channel;
    return key;
  }

  /// The bytes of a block, which hold until the tools are used again; none for a hole.
  std::span<const std::byte> encode(const Place& place, const Rect& rect, const ConstPixelView& in,
                                    Tools& tools) {
    gather(place, rect, in, tools.block.data());
    const auto bytes = tools.block.bytes();
    const auto element = static_cast<std::size_t>(array().type.bytes_of(1));
    if (is_only(bytes, std::span(array().fill).first(element))) return {};
    return tools.coder.encode(bytes, target_->folder->target());
  }

  /// A block: pixels that are there, and fill values beyond them.
  void gather(const Place& place, const Rect& rect, const ConstPixelView& in, std::byte* block) const {
    const StoredType type = array().type;
    const Rect part =
        Rect{place.row * rows_.block, place.col * cols_.block, rows_.block, cols_.block}.intersect(
            Rect::whole(spec_.extent));
    const std::int64_t first = place.channel * channels_.block;
    const std::int64_t channels = std::min(channels_.block, channels_.length - first);
    const std::int64_t pitch = cols_.block * channels_.block;
    if (part.rows < rows_.block || part.cols < cols_.block || channels < channels_.block)
      fill(block, rows_.block * pitch);
    const ConstPixelView pixels = in.crop({part.row - rect.row, part.col - rect.col, part.rows, part.cols});
    if (channels != channels_.length || !std::ranges::is_sorted(array().order))
      return gather_by_steps(pixels, first, channels, block);
    for (std::int64_t row = 0; row < part.rows; ++row) {
      std::byte* const to = block + type.bytes_of(row * pitch);
      if (type.is_pixels())
        std::memcpy(to, pixels.row_data(row), static_cast<std::size_t>(pixels.row_bytes()));
      else
        store_elements(type, pixels.row_data(row), type.parts(), part.cols * channels, to);
    }
  }

  /// Of these channels of pixels, in any order of the block's axes.
  void gather_by_steps(const ConstPixelView& in, std::int64_t first, std::int64_t channels,
                       std::byte* block) const {
    struct Axis {
      std::int64_t count, from, to;  ///< elements; steps from one to the next, in pixels and in the block
    };
    const StoredType type = array().type;
    const std::int64_t bytes = size_of(in.type), parts = type.parts();
    std::array<Axis, 3> by{{{in.extent.rows, in.pitch_bytes / bytes, rows_.step},
                            {in.extent.cols, in.channels, cols_.step},
                            {channels, parts, channels_.step}}};
    std::ranges::sort(by, [](const Axis& a, const Axis& b) {
      return std::tuple(b.to, a.count) < std::tuple(a.to, b.count);
    });
    for (std::int64_t i = 0; i < by[0].count; ++i) {
      for (std::int64_t k = 0; k < by[1].count; ++k)
        store_elements(type, in.data + (first * parts + i * by[0].from + k * by[1].from) * bytes, by[2].from,
                       by[2].count, block + type.bytes_of(i * by[0].to + k * by[1].to));
    }
  }

  void fill(std::byte* block, std::int64_t elements) const {
    const auto bytes = static_cast<std::size_t>(array().type.bytes_of(1));
    for (std::int64_t i = 0; i < elements; ++i)
      std::memcpy(block + static_cast<std::size_t>(i) * bytes, array().fill.data(), bytes);
  }

  // Chunks are encoded by whoever comes, and appended in their order, so that the shards' bytes do not depend
  // on the threads. Where nothing is encoded a shard keeps two threads busy: more would only wait for it.
  template <class At>
  void write_shards(const Rect& rect, const ConstPixelView& in, Executor& executor, std::int64_t count,
                    const At& at) {
    std::vector<ZarrShape> keys;
    for (std::int64_t i = 0; i < count; ++i) keys.push_back(key_at(at(i)));
    const std::vector<ShardWriter::Turn> turns = shards_->turns(keys);
    const std::int64_t shards =
        std::ranges::count_if(turns, [](const auto& turn) { return turn.turn == turn.shard->written; });
    const std::int64_t tasks = array().codecs.empty() ? std::min(2 * shards, count) : count;
    std::atomic<std::int64_t> next = 0;
    executor.for_each(tasks, [&](std::int64_t, int) {
      const Work work = leased();
      try {
        for (std::int64_t left = ceil_div(count, tasks); left > 0; --left) {
          const std::int64_t i = next++;
          if (i >= count) return;
          const ShardWriter::Turn& turn = turns[static_cast<std::size_t>(i)];
          if (!shards_->append(turn, encode(at(turn.block), rect, in, *work))) return;
        }
      } catch (...) {
        shards_->stop();
        throw;
      }
    });
  }

  std::shared_ptr<const ZarrTarget> target_;
  ImageSpec spec_;
  SinkLayout layout_;
  std::function<void()> then_;
  ZarrShape position_;
  Side rows_, cols_, channels_;
  LeasePool<Tools> tools_;
  std::optional<ShardWriter> shards_;
};

}  // namespace

void ZarrTarget::write_metadata() const {
  for (const auto& [name, text] : zarr_array_texts(array))
    folder->add(joined_key(key, name), std::as_bytes(std::span(text)));
}

std::unique_ptr<Writer> make_zarr_writer(std::shared_ptr<const ZarrTarget> target, const ImageSpec& spec,
                                         std::vector<std::int64_t> position, SinkLayout layout,
                                         std::function<void()> then) {
  return std::make_unique<ZarrWriter>(std::move(target), spec, position, std::move(layout), std::move(then));
}

Extent shard_of(const ZarrTarget& target) {
  const auto side = [&](int axis) { return target.array.chunk[static_cast<std::size_t>(axis)]; };
  if (target.array.shards.empty()) return {};
  return {side(target.axes.row), side(target.axes.col)};
}

SinkLayout zarr_sink_layout(const ZarrTarget& target, const CreateOptions& options) {
  const SourceLayout same = zarr_source_layout(target.array, target.axes);
  SinkLayout layout{.block = same.block,
                    .description = same.description,
                    .warnings = options.warnings,
                    .stored = options.stored,
                    .codec = same.codec};
  layout.shard = shard_of(target);
  const ZarrArray& array = target.array;
  const bool is_fast = !array.codecs.empty() && array.codecs.front().raster.has_value();
  if (is_fast)
    layout.codec = array.codecs.front().kind == ZarrCodec::Kind::zstd ? "zstd:fast" : "deflate:fast";
  if (is_fast && array.shards.empty() && !array.big_endian) {
    layout.coded = same.coded;
    std::uint64_t fill = 0;
    std::memcpy(&fill, array.fill.data(), sizeof fill);
    if (layout.coded) layout.coded->fill = fill;
  }
  const auto add = [&](const std::vector<std::string>& more) {
    layout.warnings.insert(layout.warnings.end(), more.begin(), more.end());
  };
  add(options.layout_warnings);
  if (const std::string lost =
          not_kept(options.metadata, static_cast<unsigned>(MetadataKind::attributes), "Zarr");
      !lost.empty())
    layout.warnings.push_back(lost);
  target.folder->add_warnings(layout.warnings);
  return layout;
}

}  // namespace sepconv
