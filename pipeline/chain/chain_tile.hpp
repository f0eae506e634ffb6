// A whole chain on one tile: the rectangles that each stage needs, the scratch they take, and the computation
// itself.
#pragma once

#include <vector>

#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// For a rectangle of the result: element i is the part of stage i's input that is needed, the last is
/// `output` itself. A part may reach beyond its image, which repeats there (wrap.hpp), if a stage asks
/// for that.
std::vector<Rect> needed_rects(const Chain& chain, const std::vector<ImageSpec>& specs, const Rect& output);

/// The part of the source that `output` of the result needs, through all stages.
Rect source_rect(const Chain& chain, const std::vector<ImageSpec>& specs, const Rect& output);

/// Raises `most` to the extents of needed_rects(output): starting with an empty list, what each stage needs
/// at most of its input for any of the outputs.
void include_needed(const Chain& chain, const std::vector<ImageSpec>& specs, const Rect& output,
                    std::vector<Extent>& max_extents);

/// What each stage needs at most of its input for any output of at most this extent, wherever it lies; the
/// last is what is asked of the result.
std::vector<Extent> needed_anywhere(const Chain& chain, const std::vector<ImageSpec>& specs, Extent output);

/// Upper bound of the arena bytes that compute_tile takes for tiles that need at most this of each stage's
/// input.
std::int64_t tile_scratch_bytes(const Chain& chain, const std::vector<ImageSpec>& specs,
                                const std::vector<Extent>& needed, Arithmetic arithmetic);
/// The same for a tile of this extent in the middle of the image.
std::int64_t tile_scratch_bytes(const Chain& chain, const std::vector<ImageSpec>& specs, Extent tile,
                                Arithmetic arithmetic);

/// What compute_tile or enqueue_chain take of their arena beyond that for any of `outputs`, if `source` is
/// the whole image: what lies beyond its edges is gathered there. 0 for chains that need nothing beyond the
/// edges.
std::int64_t gathered_bytes(const Chain& chain, const std::vector<ImageSpec>& specs,
                            const std::vector<Rect>& outputs);

/// Multiply-adds that compute_tile, or enqueue_chain, does for a tile of this extent away from the image's
/// edges.
double tile_operations(const Chain& chain, const std::vector<ImageSpec>& specs, Extent tile,
                       Scratch scratch = Scratch::host);

/// Computes out.rect of the chain's result. `source` holds the part of the source image that it needs, or is
/// the whole. Intermediate images live in the arena, two at a time: in the arithmetic type, or the result's
/// before stages that only move pixels.
void compute_tile(const Chain& chain, const std::vector<ImageSpec>& specs, Arithmetic arithmetic,
                  const ConstRegion& source, const Region& out, Worker& worker);

/// The device memory that enqueue_chain takes from its arena for outputs that need at most this of each
/// stage's input.
std::int64_t chain_device_bytes(const Chain& chain, const std::vector<ImageSpec>& specs,
                                const std::vector<Extent>& needed, Arithmetic arithmetic);

/// compute_tile on the current device: enqueued on `stream`, without waiting for anything. Regions and arena
/// are device memory; pointwise stages are done by the stage before them. Every stage must run on a device.
void enqueue_chain(const Chain& chain, const std::vector<ImageSpec>& specs, Arithmetic arithmetic,
                   const ConstRegion& source, const Region& out, Arena& arena, DeviceStream stream);

/// `rect` cut into tiles of this extent, row by row; those at the right and lower edge may be smaller.
std::vector<Rect> tiles_of(const Rect& rect, Extent tile);

/// A rectangle of this extent (clipped to the image) in the middle of the image, where nothing is cut off a
/// halo.
Rect middle_rect(Extent image, Extent part);

}  // namespace sepconv
