#include "io/zarr/zarr_blocks.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>

#include "io/sample_conversion.hpp"

namespace sepconv {
namespace {

bool is_only(std::span<const std::byte> block, std::span<const std::byte> fill) noexcept {
  return std::memcmp(block.data(), fill.data(), fill.size()) == 0 &&
         std::memcmp(block.data(), block.data() + fill.size(), block.size() - fill.size()) == 0;
}

/// Some channels of pixels, from one image to another of these alone.
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
      images_{0} {
  const ZarrArray& array = target.array;
  channels_.length = spec.channels / array.type.parts();
  for (std::size_t i = 0; i < position.size(); ++i) {
    const auto axis = static_cast<std::size_t>(target.axes.others[i]);
    if (target.axes.others[i] == target.axes.channel) {
      first_layer_ = position[i] * layers();
      continue;
    }
    const std::int64_t block = array.block()[axis], step = array.block_steps()[axis];
    position_[axis] = position[i] / block;
    const std::int64_t count = std::min(block, array.shape[axis] - position_[axis] * block);
    std::vector<std::int64_t> images;
    for (const std::int64_t before : images_)
      for (std::int64_t k = 0; k < count; ++k) images.push_back(before + k * step);
    images_ = std::move(images);
    mine_ = mine_ * count + position[i] % block;
  }
}

ZarrBlocks::Side ZarrBlocks::side(int axis) const {
  const auto i = static_cast<std::size_t>(axis);
  const ZarrArray& array = target_.array;
  return axis < 0 ? Side{} : Side{array.shape[i], array.block()[i], array.block_steps()[i]};
}

ZarrShape ZarrBlocks::position_of(const Place& place) const {
  ZarrShape at = position_;
  const ZarrAxes& axes = target_.axes;
  at[static_cast<std::size_t>(axes.row)] = place.row;
  at[static_cast<std::size_t>(axes.col)] = place.col;
  if (axes.channel >= 0) at[static_cast<std::size_t>(axes.channel)] = first_layer_ + place.channel;
  return at;
}

Rect ZarrBlocks::part_of(const Place& place) const {
  return Rect{place.row * rows_.block, place.col * cols_.block, rows_.block, cols_.block}.intersect(
      Rect::whole(spec_.extent));
}

std::int64_t ZarrBlocks::channels_of(const Place& place) const {
  return std::min(channels_.block, channels_.length - place.channel * channels_.block);
}

std::string ZarrBlocks::waiting_key(const Place& place) const {
  return target_.key_of(position_of(place)) + ".waiting";
}

std::int64_t ZarrBlocks::waiting_bytes() const {
  return (std::ssize(images_) - 1) * rows_.block * cols_.block * channels_.block *
         target_.array.type.parts() * size_of(spec_.type);
}

std::int64_t ZarrBlocks::waiting_bytes(const ZarrTarget& target, const ImageSpec& spec) {
  std::int64_t images = 1;
  bool are_several = false;
  for (const int axis : target.axes.others) {
    if (axis == target.axes.channel) continue;
    const auto i = static_cast<std::size_t>(axis);
    const std::int64_t together = std::min(target.array.block()[i], target.array.shape[i]);
    images *=
        are_several ? target.array.shape[i] : together;  // of all blocks that the first axis leaves open
    are_several |= together > 1;
  }
  return are_several ? images * spec.bytes() : 0;
}

PixelView ZarrBlocks::packed(const Place& place, const Rect& part, std::byte* at) const {
  const std::int64_t channels = channels_of(place) * target_.array.type.parts();
  return {at, part.extent(), channels, spec_.type, part.cols * channels * size_of(spec_.type)};
}

void ZarrBlocks::put_aside(const Place& place, const Rect& rect, const ConstPixelView& in, Room& room) const {
  const Rect part = part_of(place);
  const PixelView pixels = packed(place, part, room.waited.data());
  copy_channels(in.crop({part.row - rect.row, part.col - rect.col, part.rows, part.cols}),
                place.channel * channels_.block * target_.array.type.parts(), pixels);
  const std::int64_t bytes = part.rows * pixels.pitch_bytes;
  target_.folder->write_part(waiting_key(place), mine_ == 0, mine_ * bytes,
                             {room.waited.data(), static_cast<std::size_t>(bytes)});
}

std::span<std::byte> ZarrBlocks::elements(const Place& place, const Rect& rect, const ConstPixelView& in,
                                          Room& room) const {
  const ZarrArray& array = target_.array;
  const Rect part = part_of(place);
  const std::int64_t channels = channels_of(place);
  const std::span<std::byte> block = room.block.bytes();
  const bool is_whole = part.rows == rows_.block && part.cols == cols_.block && channels == channels_.block;
  const std::int64_t pixels = array.block_bytes() / array.type.bytes_of(rows_.block * cols_.block);
  if (!is_whole || std::ssize(images_) * channels_.block < pixels) fill(block);
  if (mine_ > 0) {
    PixelView before = packed(place, part, room.waited.data());
    const std::int64_t bytes = part.rows * before.pitch_bytes;
    target_.folder->read_and_remove_part(waiting_key(place),
                                         {room.waited.data(), static_cast<std::size_t>(mine_ * bytes)});
    for (std::int64_t i = 0; i < mine_; ++i, before.data += bytes)
      put(before, 0, channels, block.data() + array.type.bytes_of(images_[static_cast<std::size_t>(i)]));
  }
  put(in.crop({part.row - rect.row, part.col - rect.col, part.rows, part.cols}),
      place.channel * channels_.block, channels,
      block.data() + array.type.bytes_of(images_[static_cast<std::size_t>(mine_)]));
  const auto element = static_cast<std::size_t>(array.type.bytes_of(1));
  return is_hole_allowed(place) && is_only(block, std::span(array.fill).first(element))
             ? std::span<std::byte>()
             : block;
}

bool ZarrBlocks::is_hole_allowed(const Place& place) const {
  const auto is_first = [](std::int64_t index) { return index == 0; };
  return target_.array.has_fill && !std::ranges::all_of(position_of(place), is_first);
}

std::span<std::byte> ZarrBlocks::hole(Room& room) const {
  fill(room.block.bytes());
  return room.block.bytes();
}

void ZarrBlocks::fill(std::span<std::byte> block) const {
  const auto bytes = static_cast<std::size_t>(target_.array.type.bytes_of(1));
  for (std::size_t i = 0; i < block.size(); i += bytes)
    std::memcpy(block.data() + i, target_.array.fill.data(), bytes);
}

/// These channels of the pixels, to where an image's elements begin in a block.
void ZarrBlocks::put(const ConstPixelView& in, std::int64_t first, std::int64_t channels,
                     std::byte* block) const {
  const SampleType type = target_.array.type;
  const bool is_dense = channels * type.parts() == in.channels && cols_.step == channels &&
                        (channels == 1 || channels_.step == 1);
  if (!is_dense) return put_by_steps(in, first, channels, block);
  for (std::int64_t row = 0; row < in.extent.rows; ++row) {
    std::byte* const to = block + type.bytes_of(row * rows_.step);
    if (type.is_pixels())
      std::memcpy(to, in.row_data(row), static_cast<std::size_t>(in.row_bytes()));
    else
      store_elements(type, in.row_data(row), type.parts(), in.extent.cols * channels, to);
  }
}

/// The same in any order of the block's axes.
void ZarrBlocks::put_by_steps(const ConstPixelView& in, std::int64_t first, std::int64_t channels,
                              std::byte* block) const {
  struct Axis {
    std::int64_t count, from, to;  ///< elements; steps from one to the next, in pixels and in the block
  };
  const SampleType type = target_.array.type;
  const std::int64_t bytes = size_of(in.type), parts = type.parts();
  std::array<Axis, 3> by{{{in.extent.rows, in.pitch_bytes / bytes, rows_.step},
                          {in.extent.cols, in.channels, cols_.step},
                          {channels, parts, channels_.step}}};
  std::ranges::sort(
      by, [](const Axis& a, const Axis& b) { return std::tuple(b.to, a.count) < std::tuple(a.to, b.count); });
  for (std::int64_t i = 0; i < by[0].count; ++i) {
    for (std::int64_t k = 0; k < by[1].count; ++k) {
      const std::byte* const from = in.data + (first * parts + i * by[0].from + k * by[1].from) * bytes;
      std::byte* const to = block + type.bytes_of(i * by[0].to + k * by[1].to);
      if (by[2].to == 1) {
        store_elements(type, from, by[2].from, by[2].count, to);
        continue;
      }
      for (std::int64_t n = 0; n < by[2].count; ++n)  // images lie between them
        store_elements(type, from + n * by[2].from * bytes, by[2].from, 1, to + type.bytes_of(n * by[2].to));
    }
  }
}

}  // namespace sepconv
