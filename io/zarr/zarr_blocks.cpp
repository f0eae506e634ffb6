#include "io/zarr/zarr_blocks.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>

#include "io/sample_conversion.hpp"

namespace sepconv {
namespace {

bool consists_of(std::span<const std::byte> block, std::span<const std::byte> fill) noexcept {
  return std::memcmp(block.data(), fill.data(), fill.size()) == 0 &&
         std::memcmp(block.data(), block.data() + fill.size(), block.size() - fill.size()) == 0;
}

/// Copies consecutive channels, from `first` on, to an image with only these channels.
void copy_channels(const ConstPixelView& from, std::int64_t first, const PixelView& to) {
  const std::int64_t bytes = size_of(from.type), pixel = to.channels * bytes;
  for (std::int64_t row = 0; row < to.extent.rows; ++row) {
    const std::byte* in = from.row_data(row) + first * bytes;
    std::byte* out = to.row_data(row);
    if (from.channels == to.channels) {
      std::memcpy(out, in, static_cast<std::size_t>(to.row_bytes()));
      continue;
    }
    for (std::int64_t col = 0; col < to.extent.cols; ++col)
      std::memcpy(out + col * pixel, in + col * from.channels * bytes, static_cast<std::size_t>(pixel));
  }
}

}  // namespace

ZarrBlocks::ZarrBlocks(const ZarrTarget& target, const ImageSpec& spec,
                       const std::vector<std::int64_t>& position)
    : target_(target),
      spec_(spec),
      position_(target.array.shape.size()),
      rows_(side(target.axes.row)),
      cols_(side(target.axes.col)),
      channels_(side(target.axes.channel)),
      image_offsets_{0} {
  const ZarrArray& array = target.array;
  channels_.length = spec.channels / array.type.parts();
  for (std::size_t i = 0; i < position.size(); ++i) {
    const auto axis = static_cast<std::size_t>(target.axes.others[i]);
    if (target.axes.others[i] == target.axes.channel) {
      first_channel_block_ = position[i] * channel_blocks();
      continue;
    }
    const std::int64_t block = array.block()[axis], step = array.block_steps()[axis];
    position_[axis] = position[i] / block;
    const std::int64_t count = std::min(block, array.shape[axis] - position_[axis] * block);
    std::vector<std::int64_t> images;
    for (const std::int64_t offset : image_offsets_)
      for (std::int64_t k = 0; k < count; ++k) images.push_back(offset + k * step);
    image_offsets_ = std::move(images);
    image_index_ = image_index_ * count + position[i] % block;
  }
}

ZarrBlocks::Side ZarrBlocks::side(int axis) const {
  const auto i = static_cast<std::size_t>(axis);
  const ZarrArray& array = target_.array;
  return axis < 0 ? Side{} : Side{array.shape[i], array.block()[i], array.block_steps()[i]};
}

ZarrShape ZarrBlocks::position_of(const BlockIndex& index) const {
  ZarrShape at = position_;
  const ZarrAxes& axes = target_.axes;
  at[static_cast<std::size_t>(axes.row)] = index.row;
  at[static_cast<std::size_t>(axes.col)] = index.col;
  if (axes.channel >= 0) at[static_cast<std::size_t>(axes.channel)] = first_channel_block_ + index.channel;
  return at;
}

Rect ZarrBlocks::block_rect(const BlockIndex& index) const {
  return Rect{index.row * rows_.block, index.col * cols_.block, rows_.block, cols_.block}.intersect(
      Rect::whole(spec_.extent));
}

std::int64_t ZarrBlocks::channel_count(const BlockIndex& index) const {
  return std::min(channels_.block, channels_.length - index.channel * channels_.block);
}

std::string ZarrBlocks::pending_key(const BlockIndex& index) const {
  return target_.chunk_key(position_of(index)) + ".waiting";
}

std::int64_t ZarrBlocks::pending_bytes() const {
  return (std::ssize(image_offsets_) - 1) * rows_.block * cols_.block * channels_.block *
         target_.array.type.parts() * size_of(spec_.type);
}

std::int64_t ZarrBlocks::pending_bytes(const ZarrTarget& target, const ImageSpec& spec) {
  std::int64_t images = 1;
  bool is_shared = false;
  for (const int axis : target.axes.others) {
    if (axis == target.axes.channel) continue;
    const auto i = static_cast<std::size_t>(axis);
    const std::int64_t shared_positions = std::min(target.array.block()[i], target.array.shape[i]);
    images *= is_shared ? target.array.shape[i]
                        : shared_positions;  // blocks stay open along the axes after the first
    is_shared |= shared_positions > 1;
  }
  return is_shared ? images * spec.bytes() : 0;
}

PixelView ZarrBlocks::dense_pixels(const BlockIndex& index, const Rect& part, std::byte* at) const {
  const std::int64_t channels = channel_count(index) * target_.array.type.parts();
  return {at, part.extent(), channels, spec_.type, part.cols * channels * size_of(spec_.type)};
}

void ZarrBlocks::save_pending(const BlockIndex& index, const Rect& rect, const ConstPixelView& in,
                              Workspace& workspace) const {
  const Rect part = block_rect(index);
  const PixelView pixels = dense_pixels(index, part, workspace.pending.data());
  copy_channels(in.crop({part.row - rect.row, part.col - rect.col, part.rows, part.cols}),
                index.channel * channels_.block * target_.array.type.parts(), pixels);
  const std::int64_t bytes = part.rows * pixels.pitch_bytes;
  target_.folder->write_part(pending_key(index), image_index_ == 0, image_index_ * bytes,
                             {workspace.pending.data(), static_cast<std::size_t>(bytes)});
}

std::span<std::byte> ZarrBlocks::elements(const BlockIndex& index, const Rect& rect, const ConstPixelView& in,
                                          Workspace& workspace) const {
  const ZarrArray& array = target_.array;
  const Rect part = block_rect(index);
  const std::int64_t channels = channel_count(index);
  const std::span<std::byte> block = workspace.block.bytes();
  const bool is_whole = part.rows == rows_.block && part.cols == cols_.block && channels == channels_.block;
  const std::int64_t pixels = array.block_bytes() / array.type.bytes_of(rows_.block * cols_.block);
  if (!is_whole || std::ssize(image_offsets_) * channels_.block < pixels) fill(block);
  if (image_index_ > 0) {
    PixelView pending = dense_pixels(index, part, workspace.pending.data());
    const std::int64_t bytes = part.rows * pending.pitch_bytes;
    target_.folder->read_and_remove_part(
        pending_key(index), {workspace.pending.data(), static_cast<std::size_t>(image_index_ * bytes)});
    for (std::int64_t i = 0; i < image_index_; ++i, pending.data += bytes)
      store(pending, 0, channels,
            block.data() + array.type.bytes_of(image_offsets_[static_cast<std::size_t>(i)]));
  }
  store(in.crop({part.row - rect.row, part.col - rect.col, part.rows, part.cols}),
        index.channel * channels_.block, channels,
        block.data() + array.type.bytes_of(image_offsets_[static_cast<std::size_t>(image_index_)]));
  const auto element = static_cast<std::size_t>(array.type.bytes_of(1));
  return is_hole_allowed(index) && consists_of(block, std::span(array.fill).first(element))
             ? std::span<std::byte>()
             : block;
}

bool ZarrBlocks::is_hole_allowed(const BlockIndex& index) const {
  const auto is_first = [](std::int64_t coordinate) { return coordinate == 0; };
  return target_.array.has_fill && !std::ranges::all_of(position_of(index), is_first);
}

std::span<std::byte> ZarrBlocks::hole_elements(Workspace& workspace) const {
  fill(workspace.block.bytes());
  return workspace.block.bytes();
}

void ZarrBlocks::fill(std::span<std::byte> block) const {
  const auto bytes = static_cast<std::size_t>(target_.array.type.bytes_of(1));
  for (std::size_t i = 0; i < block.size(); i += bytes)
    std::memcpy(block.data() + i, target_.array.fill.data(), bytes);
}

/// Stores these channels of the pixels; `block` points to the first element of the image in the block.
void ZarrBlocks::store(const ConstPixelView& in, std::int64_t first, std::int64_t channels,
                       std::byte* block) const {
  const SampleType type = target_.array.type;
  const bool is_dense = channels * type.parts() == in.channels && cols_.step == channels &&
                        (channels == 1 || channels_.step == 1);
  if (!is_dense) return store_strided(in, first, channels, block);
  for (std::int64_t row = 0; row < in.extent.rows; ++row) {
    std::byte* const to = block + type.bytes_of(row * rows_.step);
    if (type.is_pixels())
      std::memcpy(to, in.row_data(row), static_cast<std::size_t>(in.row_bytes()));
    else
      store_elements(type, in.row_data(row), type.parts(), in.extent.cols * channels, to);
  }
}

/// As store(), for any order of the block's axes.
void ZarrBlocks::store_strided(const ConstPixelView& in, std::int64_t first, std::int64_t channels,
                               std::byte* block) const {
  struct Axis {
    std::int64_t count, from,
        to;  ///< elements; strides in the pixels and in the block, in samples and elements
  };
  const SampleType type = target_.array.type;
  const std::int64_t bytes = size_of(in.type), parts = type.parts();
  std::array<Axis, 3> axes{{{in.extent.rows, in.pitch_bytes / bytes, rows_.step},
                            {in.extent.cols, in.channels, cols_.step},
                            {channels, parts, channels_.step}}};
  std::ranges::sort(axes, [](const Axis& a, const Axis& b) {
    return std::tuple(b.to, a.count) < std::tuple(a.to, b.count);
  });
  for (std::int64_t i = 0; i < axes[0].count; ++i) {
    for (std::int64_t k = 0; k < axes[1].count; ++k) {
      const std::byte* const from = in.data + (first * parts + i * axes[0].from + k * axes[1].from) * bytes;
      std::byte* const to = block + type.bytes_of(i * axes[0].to + k * axes[1].to);
      if (axes[2].to == 1) {
        store_elements(type, from, axes[2].from, axes[2].count, to);
        continue;
      }
      for (std::int64_t n = 0; n < axes[2].count; ++n)  // the channels are not adjacent
        store_elements(type, from + n * axes[2].from * bytes, axes[2].from, 1,
                       to + type.bytes_of(n * axes[2].to));
    }
  }
}

}  // namespace sepconv
