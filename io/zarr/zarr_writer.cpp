#include "io/zarr/zarr_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "core/error.hpp"
#include "io/encoded_blocks.hpp"
#include "io/object_pool.hpp"
#include "io/resumable.hpp"
#include "io/zarr/zarr_blocks.hpp"
#include "io/zarr/zarr_codecs.hpp"

namespace sepconv {
namespace {

class ZarrWriter final : public Writer, private EncodedWriter, private ResumableWriter {
 public:
  ZarrWriter(std::shared_ptr<const ZarrTarget> target, const ImageSpec& spec,
             const std::vector<std::int64_t>& position, SinkLayout layout, std::function<void()> on_finish)
      : target_(std::move(target)),
        spec_(spec),
        layout_(std::move(layout)),
        on_finish_(std::move(on_finish)),
        blocks_(*target_, spec_, position) {}

  const ImageSpec& spec() const noexcept override { return spec_; }
  const SinkLayout& layout() const noexcept override { return layout_; }

  std::int64_t buffer_bytes(int concurrency) const override {
    return concurrency * (ZarrCoder::encoder_bytes(array()) + blocks_.workspace_bytes()) +
           (target_->shards ? ShardWriter::memory_bytes(*target_) : 0);
  }

  void write(const Rect& rect, const ConstPixelView& in, Executor& executor) override {
    const Rect grid{rect.row / blocks_.rows(), rect.col / blocks_.cols(), ceil_div(rect.rows, blocks_.rows()),
                    ceil_div(rect.cols, blocks_.cols())};
    const auto at = [&](std::int64_t i) {
      const std::int64_t column = i / blocks_.channel_blocks();
      return BlockIndex{grid.row + column / grid.cols, grid.col + column % grid.cols,
                        i % blocks_.channel_blocks()};
    };
    const std::int64_t count = grid.area() * blocks_.channel_blocks();
    if (target_->shards && blocks_.completes_blocks()) return write_shards(rect, in, executor, count, at);
    executor.for_each(count, [&](std::int64_t i, int) {
      const ToolsLease tools = lease_tools();
      if (!blocks_.completes_blocks()) return blocks_.save_pending(at(i), rect, in, tools->workspace);
      const auto bytes = encode(at(i), rect, in, *tools);
      if (!bytes.empty()) target_->folder->add(target_->chunk_key(blocks_.position_of(at(i))), bytes);
    });
  }

  ResumableWriter* resumable() noexcept override { return target_->folder->checkpoint() ? this : nullptr; }
  EncodedWriter* encoded() noexcept override { return layout_.coded ? this : nullptr; }

  void finish() override {
    if (target_->shards && target_->folder->checkpoint()) target_->shards->check_complete();
    if (on_finish_) on_finish_();
  }

 private:
  WriterState take_state() override {
    return {.block_positions =
                target_->shards ? target_->shards->take_appended() : std::vector<std::int64_t>()};
  }
  void restore(std::int64_t, const WriterState& state, const StateFiles&, Executor&) override {
    if (target_->shards) target_->shards->restore(state.block_positions);
  }

  using BlockIndex = ZarrBlocks::BlockIndex;
  /// The coder and buffers of one thread.
  struct Tools {
    explicit Tools(const ZarrWriter& writer) : coder(writer.array()), workspace(writer.blocks_) {}
    ZarrCoder coder;
    ZarrBlocks::Workspace workspace;
  };
  using ToolsLease = ObjectPool<Tools>::Lease;

  const ZarrArray& array() const noexcept { return target_->array; }
  ToolsLease lease_tools() {
    return tools_.lease([&] { return std::make_unique<Tools>(*this); });
  }

  // Equal streams decode to equal blocks, so a hole is recognized by its encoded bytes.
  void write_encoded(const Rect& rect, std::span<const std::span<const std::byte>> blocks,
                     Executor& executor) override {
    const std::int64_t cols = ceil_div(rect.cols, blocks_.cols());
    const ToolsLease tools = lease_tools();
    const auto encoded_hole =
        tools->coder.encode(blocks_.hole_elements(tools->workspace), target_->folder->target());
    executor.for_each(std::ssize(blocks), [&](std::int64_t i, int) {
      const auto bytes = blocks[static_cast<std::size_t>(i)];
      const BlockIndex index{rect.row / blocks_.rows() + i / cols, rect.col / blocks_.cols() + i % cols, 0};
      if (blocks_.is_hole_allowed(index) && std::ranges::equal(bytes, encoded_hole)) return;
      target_->folder->add(target_->chunk_key(blocks_.position_of(index)), bytes);
    });
  }

  /// The encoded bytes of a block, which are valid until `tools` is used again; empty for a hole.
  std::span<const std::byte> encode(const BlockIndex& index, const Rect& rect, const ConstPixelView& in,
                                    Tools& tools) {
    const auto block = blocks_.elements(index, rect, in, tools.workspace);
    if (block.empty()) return {};
    return tools.coder.encode(block, target_->folder->target());
  }

  // Threads encode chunks in any order and append them in ticket order, so that the bytes of a shard do not
  // depend on the threads. Without codecs at most two threads per shard are used, because more would only
  // wait.
  template <class At>
  void write_shards(const Rect& rect, const ConstPixelView& in, Executor& executor, std::int64_t count,
                    const At& at) {
    for (std::int64_t first = 0; first < count; first += ShardWriter::kMaxTickets)
      write_tickets(first, std::min(first + ShardWriter::kMaxTickets, count), rect, in, executor, at);
  }

  template <class At>
  void write_tickets(std::int64_t first, std::int64_t end, const Rect& rect, const ConstPixelView& in,
                     Executor& executor, const At& at) {
    ShardWriter& writer = *target_->shards;
    const std::vector<ShardWriter::Ticket> tickets =
        writer.tickets(first, end, [&](std::int64_t i) { return blocks_.position_of(at(i)); });
    const std::int64_t count = end - first;
    const std::int64_t shards = std::ranges::count_if(
        tickets, [](const auto& ticket) { return ticket.sequence == ticket.shard->written; });
    const std::int64_t tasks = array().codecs.empty() ? std::min(2 * shards, count) : count;
    std::atomic<std::int64_t> next = 0;
    executor.for_each(tasks, [&](std::int64_t, int) {
      const ToolsLease tools = lease_tools();
      try {
        for (std::int64_t left = ceil_div(count, tasks); left > 0; --left) {
          const std::int64_t i = next++;
          if (i >= count) return;
          const ShardWriter::Ticket& ticket = tickets[static_cast<std::size_t>(i)];
          const BlockIndex index = at(ticket.block);
          if (!writer.append(ticket, blocks_.position_of(index), encode(index, rect, in, *tools))) return;
        }
      } catch (...) {
        writer.stop();
        throw;
      }
    });
  }

  std::shared_ptr<const ZarrTarget> target_;
  ImageSpec spec_;
  SinkLayout layout_;
  std::function<void()> on_finish_;
  ZarrBlocks blocks_;
  ObjectPool<Tools> tools_;
};

}  // namespace

void ZarrTarget::finish() const {
  if (shards) shards->check_complete();
  for (const auto& [name, text] : zarr_array_files(array))
    folder->add(joined_key(key, name), std::as_bytes(std::span(text)));
}

std::unique_ptr<Writer> make_zarr_writer(std::shared_ptr<const ZarrTarget> target, const ImageSpec& spec,
                                         std::vector<std::int64_t> position, SinkLayout layout,
                                         std::function<void()> on_finish) {
  return std::make_unique<ZarrWriter>(std::move(target), spec, position, std::move(layout),
                                      std::move(on_finish));
}

Extent shard_of(const ZarrTarget& target) {
  const auto side = [&](int axis) { return target.array.chunk[static_cast<std::size_t>(axis)]; };
  if (target.array.shards.empty()) return {};
  return {side(target.axes.row), side(target.axes.col)};
}

SinkLayout zarr_sink_layout(const ZarrTarget& target, const CreateOptions& options) {
  const SourceLayout source = zarr_source_layout(target.array, target.axes);
  SinkLayout layout{.block = source.block,
                    .description = source.description,
                    .warnings = options.warnings,
                    .stored = options.stored,
                    .codec = source.codec};
  layout.shard = shard_of(target);
  layout.file_per_block = true;
  const ZarrArray& array = target.array;
  // The level is part of the description because it changes the bytes of the result.
  for (const ZarrCodec& codec : array.codecs)
    if (codec.kind != ZarrCodec::Kind::crc32c && !codec.raster)
      layout.description += fmt::format(", level {}", codec.level);
  const bool is_fast = !array.codecs.empty() && array.codecs.front().raster.has_value();
  if (is_fast)
    layout.codec = array.codecs.front().kind == ZarrCodec::Kind::zstd ? "zstd:fast" : "deflate:fast";
  if (!is_fast && !array.codecs.empty() && array.codecs.front().level > 0 && layout.codec != "LZ4")
    layout.codec += fmt::format(":{}", array.codecs.front().level);
  if (is_fast && array.shards.empty() && !array.big_endian) {
    layout.coded = source.coded;
    std::uint64_t fill = 0;
    std::memcpy(&fill, array.fill.data(), sizeof fill);
    if (layout.coded) layout.coded->fill = fill;
  }
  const auto add = [&](const std::vector<std::string>& warnings) {
    layout.warnings.insert(layout.warnings.end(), warnings.begin(), warnings.end());
  };
  add(options.layout_warnings);
  if (const std::string lost =
          dropped_metadata_warning(options.metadata, static_cast<unsigned>(MetadataKind::attributes), "Zarr");
      !lost.empty())
    layout.warnings.push_back(lost);
  target.folder->add_warnings(layout.warnings);
  return layout;
}

}  // namespace sepconv
