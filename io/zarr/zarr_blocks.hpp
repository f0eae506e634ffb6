// The blocks of an array that is written, made of pixels of one image after another. Private to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "core/memory.hpp"
#include "io/zarr/zarr_writer.hpp"

namespace sepconv {

/// For one image. Where a block holds several, which come one after another, the pixels of those before the
/// last wait in a file next to the block's, as they are.
class ZarrBlocks {
 public:
  /// For a block among those of the image.
  struct Place {
    std::int64_t row, col, channel;
  };
  /// What one thread works with: a block's elements, and pixels that have waited for it.
  struct Room {
    explicit Room(const ZarrBlocks& of) : block(of.target_.array.block_bytes()), waited(of.waiting_bytes()) {}
    Buffer block, waited;
  };

  /// For the image at this position along the other axes; both references stay.
  ZarrBlocks(const ZarrTarget& target, const ImageSpec& spec, const std::vector<std::int64_t>& position);

  std::int64_t rows() const noexcept { return rows_.block; }
  std::int64_t cols() const noexcept { return cols_.block; }
  /// Along the channels.
  std::int64_t layers() const noexcept { return ceil_div(channels_.length, channels_.block); }
  /// Position in the grid of blocks.
  ZarrShape position_of(const Place& place) const;
  std::int64_t room_bytes() const { return target_.array.block_bytes() + waiting_bytes(); }
  /// For all blocks together, what waits at most; 0 where each holds one image.
  static std::int64_t waiting_bytes(const ZarrTarget& target, const ImageSpec& spec);

  /// Whether blocks are complete with this image.
  bool are_complete() const noexcept { return mine_ + 1 == std::ssize(images_); }
  /// For blocks that are not; `in` are the pixels of `rect`, which has the block's. Thread-safe, as all that
  /// follows. Throws IoError.
  void put_aside(const Place& place, const Rect& rect, const ConstPixelView& in, Room& room) const;
  /// The elements of a block, in `room`; none for a hole. Throws IoError.
  std::span<std::byte> elements(const Place& place, const Rect& rect, const ConstPixelView& in,
                                Room& room) const;
  /// Whether a block of fill values alone is not stored. The first one always is: an array of which no chunk
  /// is there cannot be told from one that lost them.
  bool is_hole_allowed(const Place& place) const;
  /// The elements of a hole.
  std::span<std::byte> hole(Room& room) const;

 private:
  struct Side {
    std::int64_t length = 1, block = 1;
    std::int64_t step = 1;  ///< in a block
  };
  Side side(int axis) const;
  std::int64_t waiting_bytes() const;
  /// Pixels of a block's channels, as they are put aside.
  PixelView packed(const Place& place, const Rect& part, std::byte* at) const;
  Rect part_of(const Place& place) const;
  std::string waiting_key(const Place& place) const;
  std::int64_t channels_of(const Place& place) const;
  void fill(std::span<std::byte> block) const;
  void put(const ConstPixelView& in, std::int64_t first, std::int64_t channels, std::byte* block) const;
  void put_by_steps(const ConstPixelView& in, std::int64_t first, std::int64_t channels,
                    std::byte* block) const;

  const ZarrTarget& target_;
  const ImageSpec& spec_;
  ZarrShape position_;
  Side rows_, cols_, channels_;
  std::int64_t first_layer_ = 0;  ///< of the image's channels, where other images have some along their axis
  std::vector<std::int64_t> images_;  ///< elements from a block's begin to those of each of its images
  std::int64_t mine_ = 0;             ///< among them
};

}  // namespace sepconv
