// Assembles the blocks of an array from the pixels of one image after another. Private to this folder.
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

/// Assembles the blocks of one image. If a block contains several images, which are written one after
/// another, the pixels of all but the last are buffered in a file next to the block's, uncompressed.
class ZarrBlocks {
 public:
  /// The position of a block in the image.
  struct BlockIndex {
    std::int64_t row, col, channel;
  };
  /// The buffers of one thread: the elements of a block, and the pending pixels of previous images.
  struct Workspace {
    explicit Workspace(const ZarrBlocks& blocks)
        : block(blocks.target_.array.block_bytes()), pending(blocks.pending_bytes()) {}
    Buffer block, pending;
  };

  /// For the image at this position along the other axes. `target` and `spec` must outlive the object.
  ZarrBlocks(const ZarrTarget& target, const ImageSpec& spec, const std::vector<std::int64_t>& position);

  std::int64_t rows() const noexcept { return rows_.block; }
  std::int64_t cols() const noexcept { return cols_.block; }
  /// The number of blocks along the channels.
  std::int64_t channel_blocks() const noexcept { return ceil_div(channels_.length, channels_.block); }
  /// The position of a block in the array's grid of blocks.
  ZarrShape position_of(const BlockIndex& index) const;
  std::int64_t workspace_bytes() const { return target_.array.block_bytes() + pending_bytes(); }
  /// Upper bound of the pending pixels of all blocks, in bytes; 0 if a block contains one image.
  static std::int64_t pending_bytes(const ZarrTarget& target, const ImageSpec& spec);

  /// Whether this image is the last of its blocks.
  bool completes_blocks() const noexcept { return image_index_ + 1 == std::ssize(image_offsets_); }
  /// Buffers the block's pixels in a file if the block is not complete. `in`: the pixels of `rect`, which
  /// contains the block's. This and the following functions are thread-safe. Throws IoError.
  void save_pending(const BlockIndex& index, const Rect& rect, const ConstPixelView& in,
                    Workspace& workspace) const;
  /// The elements of a complete block, in `workspace.block`; empty for a hole. Throws IoError.
  std::span<std::byte> elements(const BlockIndex& index, const Rect& rect, const ConstPixelView& in,
                                Workspace& workspace) const;
  /// Whether a block with only fill values may be left out. The first block of an array is always stored, to
  /// distinguish the array from one that lost its chunks.
  bool is_hole_allowed(const BlockIndex& index) const;
  /// The elements of a hole: fill values, in `workspace.block`.
  std::span<std::byte> hole_elements(Workspace& workspace) const;

 private:
  struct Side {
    std::int64_t length = 1, block = 1;
    std::int64_t step = 1;  ///< stride in a block, in elements
  };
  Side side(int axis) const;
  std::int64_t pending_bytes() const;
  /// A dense view at `at` of the pixels of a block's channels.
  PixelView dense_pixels(const BlockIndex& index, const Rect& part, std::byte* at) const;
  Rect block_rect(const BlockIndex& index) const;
  std::string pending_key(const BlockIndex& index) const;
  std::int64_t channel_count(const BlockIndex& index) const;
  void fill(std::span<std::byte> block) const;
  void store(const ConstPixelView& in, std::int64_t first, std::int64_t channels, std::byte* block) const;
  void store_strided(const ConstPixelView& in, std::int64_t first, std::int64_t channels,
                     std::byte* block) const;

  const ZarrTarget& target_;
  const ImageSpec& spec_;
  ZarrShape position_;
  Side rows_, cols_, channels_;
  std::int64_t first_channel_block_ =
      0;  ///< block of the image's first channel along the array's channel axis
  std::vector<std::int64_t> image_offsets_;  ///< offset of each image in a block, in elements
  std::int64_t image_index_ = 0;             ///< index of this image in image_offsets_
};

}  // namespace sepconv
