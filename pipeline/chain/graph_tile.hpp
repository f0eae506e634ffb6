// A graph on one tile: the scratch and the computation, on the host or on a device.
#pragma once

#include <span>
#include <vector>

#include "pipeline/chain/graph.hpp"

namespace sepconv {

/// Upper bound of the arena bytes that compute_tile allocates for tiles that need up to these extents of each
/// value.
std::int64_t tile_scratch_bytes(const Graph& graph, const std::vector<Extent>& needed, Arithmetic arithmetic);
/// The same for a tile of this extent in the middle of the image.
std::int64_t tile_scratch_bytes(const Graph& graph, Extent tile, Arithmetic arithmetic);

/// Additional arena bytes that compute_tile or enqueue_graph allocates for any of `outputs` if `source` is
/// the whole image: pixels beyond its edges are gathered there. 0 for graphs that need no pixels beyond the
/// edges.
std::int64_t gather_scratch_bytes(const Graph& graph, const std::vector<Rect>& outputs);

/// Multiply-adds of compute_tile or enqueue_graph for a tile of this extent away from the image edges.
double tile_operations(const Graph& graph, Extent tile, Scratch scratch = Scratch::host);

/// Computes out.rect of the result. `source` contains the required part of the source image, or all of it.
/// Values that later nodes need are in the arena. They have the arithmetic type, or the result type before
/// stages that only move pixels.
void compute_tile(const Graph& graph, Arithmetic arithmetic, const ConstRegion& source, const Region& out,
                  Worker& worker);

/// Device memory that enqueue_graph allocates from its arena for outputs that need up to these extents of
/// each value.
std::int64_t graph_device_bytes(const Graph& graph, const std::vector<Extent>& needed, Arithmetic arithmetic);

/// compute_tile on the current device. The work is enqueued on `stream`; the call does not wait. Regions and
/// arena are device memory. The stage before a pointwise stage applies it; the last one also applies
/// `epilogue_ops`, at most kMaxFusedOps. Every stage must run on a device.
void enqueue_graph(const Graph& graph, Arithmetic arithmetic, const ConstRegion& source, const Region& out,
                   Arena& arena, DeviceStream stream, std::span<const PointwiseOp> epilogue_ops = {});

/// compute_tile by Stage::apply_reference(); it allocates.
void compute_reference(const Graph& graph, Arithmetic arithmetic, const ConstRegion& source,
                       const Region& out);

/// Splits `rect` into tiles of this extent, row by row; those at the right and lower edge may be smaller.
std::vector<Rect> tiles_of(const Rect& rect, Extent tile);

/// A rectangle of this extent (clipped to the image) in the middle of the image, where no halo is clipped.
Rect middle_rect(Extent image, Extent part);

}  // namespace sepconv
