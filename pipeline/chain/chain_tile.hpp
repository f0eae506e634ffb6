// A whole chain on one tile: the rectangles that each stage needs, the scratch, and the computation.
#pragma once

#include <vector>

#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// Element i is the part of the input of stage i that `output` depends on; the last element is `output`. A
/// part may extend beyond its image, which then repeats (wrap.hpp), if a stage asks for that.
std::vector<Rect> needed_rects(const Chain& chain, const std::vector<ImageSpec>& specs, const Rect& output);

/// The part of the source that `output` of the result depends on, through all stages.
Rect source_rect(const Chain& chain, const std::vector<ImageSpec>& specs, const Rect& output);

/// Raises `max_extents` to the extents of needed_rects(output). Starting from an empty vector, this gives the
/// maximum input extent of each stage over all outputs.
void include_needed_extents(const Chain& chain, const std::vector<ImageSpec>& specs, const Rect& output,
                            std::vector<Extent>& max_extents);

/// Maximum input extent of each stage for any output up to this extent, at any position. The last element is
/// the result extent.
std::vector<Extent> max_needed_extents(const Chain& chain, const std::vector<ImageSpec>& specs,
                                       Extent output);

/// Upper bound of the arena bytes that compute_tile allocates for tiles that need up to these extents of the
/// input of each stage.
std::int64_t tile_scratch_bytes(const Chain& chain, const std::vector<ImageSpec>& specs,
                                const std::vector<Extent>& needed, Arithmetic arithmetic);
/// The same for a tile of this extent in the middle of the image.
std::int64_t tile_scratch_bytes(const Chain& chain, const std::vector<ImageSpec>& specs, Extent tile,
                                Arithmetic arithmetic);

/// Additional arena bytes that compute_tile or enqueue_chain allocates for any of `outputs` if `source` is
/// the whole image: pixels beyond its edges are gathered there. 0 for chains that need no pixels beyond the
/// edges.
std::int64_t gather_scratch_bytes(const Chain& chain, const std::vector<ImageSpec>& specs,
                                  const std::vector<Rect>& outputs);

/// Multiply-adds of compute_tile or enqueue_chain for a tile of this extent away from the image edges.
double tile_operations(const Chain& chain, const std::vector<ImageSpec>& specs, Extent tile,
                       Scratch scratch = Scratch::host);

/// Computes out.rect of the result. `source` contains the required part of the source image, or all of it. At
/// most two intermediate images are in the arena at a time. They have the arithmetic type, or the result type
/// before stages that only move pixels.
void compute_tile(const Chain& chain, const std::vector<ImageSpec>& specs, Arithmetic arithmetic,
                  const ConstRegion& source, const Region& out, Worker& worker);

/// Device memory that enqueue_chain allocates from its arena for outputs that need up to these extents of the
/// input of each stage.
std::int64_t chain_device_bytes(const Chain& chain, const std::vector<ImageSpec>& specs,
                                const std::vector<Extent>& needed, Arithmetic arithmetic);

/// compute_tile on the current device. The work is enqueued on `stream`; the call does not wait. Regions and
/// arena are device memory. The stage before a pointwise stage applies it. Every stage must run on a device.
void enqueue_chain(const Chain& chain, const std::vector<ImageSpec>& specs, Arithmetic arithmetic,
                   const ConstRegion& source, const Region& out, Arena& arena, DeviceStream stream);

/// Splits `rect` into tiles of this extent, row by row; those at the right and lower edge may be smaller.
std::vector<Rect> tiles_of(const Rect& rect, Extent tile);

/// A rectangle of this extent (clipped to the image) in the middle of the image, where no halo is clipped.
Rect middle_rect(Extent image, Extent part);

}  // namespace sepconv
