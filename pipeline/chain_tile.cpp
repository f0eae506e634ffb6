#include "sepconv/pipeline/chain_tile.hpp"

#include <algorithm>
#include <array>

#include "sepconv/kernels/pointwise/pointwise.hpp"

namespace sepconv {
namespace {

std::int64_t intermediate_bytes(const Rect& rect, const ImageSpec& spec, Arithmetic arithmetic) {
  return Arena::view_bytes(rect.extent(), spec.channels, pixel_type_of(arithmetic));
}

/// Sizes of the two slabs that intermediate images take turns in: the result of stage i lies in slab i % 2.
std::array<std::int64_t, 2> slab_bytes(const std::vector<ImageSpec>& specs, const std::vector<Rect>& rects,
                                       Arithmetic arithmetic) {
  std::array<std::int64_t, 2> bytes{};
  for (std::size_t i = 1; i + 1 < rects.size(); ++i) {
    bytes[i % 2] = std::max(bytes[i % 2], intermediate_bytes(rects[i], specs[i], arithmetic));
  }
  return bytes;
}

PixelView view_in(std::byte* slab, const Rect& rect, const ImageSpec& spec, Arithmetic arithmetic) {
  const PixelType type = pixel_type_of(arithmetic);
  return {slab, rect.extent(), spec.channels, type,
          aligned_pitch_bytes(rect.cols * spec.channels * size_of(type))};
}

}  // namespace

std::vector<Rect> needed_rects(const Chain& chain, const std::vector<ImageSpec>& specs, const Rect& output) {
  std::vector<Rect> rects(chain.size() + 1);
  rects.back() = output;
  for (std::size_t i = chain.size(); i-- > 0;)
    rects[i] = chain.stages()[i]->input_for(rects[i + 1], specs[i]);
  return rects;
}

std::vector<Rect> tiles_of(const Rect& rect, Extent tile) {
  std::vector<Rect> tiles;
  for (std::int64_t row = rect.row; row < rect.row_end(); row += tile.rows) {
    for (std::int64_t col = rect.col; col < rect.col_end(); col += tile.cols) {
      tiles.push_back(Rect{row, col, tile.rows, tile.cols}.intersect(rect));
    }
  }
  return tiles;
}

Rect middle_rect(Extent image, Extent part) {
  const std::int64_t rows = std::min(part.rows, image.rows);
  const std::int64_t cols = std::min(part.cols, image.cols);
  return {(image.rows - rows) / 2, (image.cols - cols) / 2, rows, cols};
}

std::int64_t tile_scratch_bytes(const Chain& chain, const std::vector<ImageSpec>& specs, Extent tile,
                                Arithmetic arithmetic) {
  const std::vector<Rect> rects = needed_rects(chain, specs, middle_rect(specs.back().extent, tile));
  const auto slabs = slab_bytes(specs, rects, arithmetic);
  std::int64_t stage_bytes = 0;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    stage_bytes =
        std::max(stage_bytes, chain.stages()[i]->scratch_bytes(rects[i + 1].extent(), specs[i], arithmetic));
  }
  return Arena::bytes_for(slabs[0]) + Arena::bytes_for(slabs[1]) + stage_bytes;
}

double tile_operations(const Chain& chain, const std::vector<ImageSpec>& specs, Extent tile) {
  const std::vector<Rect> rects = needed_rects(chain, specs, middle_rect(specs.back().extent, tile));
  double operations = 0;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    // A row pass runs over the input's rows, a column pass over the output's.
    const double rows = static_cast<double>(rects[i].rows + rects[i + 1].rows) / 2;
    const double elements = rows * static_cast<double>(rects[i + 1].cols * specs[i + 1].channels);
    operations += chain.stages()[i]->operations_per_element() * elements;
  }
  return operations;
}

void compute_tile(const Chain& chain, const std::vector<ImageSpec>& specs, Arithmetic arithmetic,
                  const ConstRegion& source, const Region& out, Arena& arena) {
  if (chain.empty()) {
    const ConstPixelView pixels = source.crop(out.rect).pixels;
    return pointwise_host({}, pixels, pixels, out.pixels, arithmetic);
  }
  const std::vector<Rect> rects = needed_rects(chain, specs, out.rect);
  const Arena::Scope scope(arena);
  const auto bytes = slab_bytes(specs, rects, arithmetic);
  const std::array<std::byte*, 2> slabs{arena.allocate<std::byte>(bytes[0]),
                                        arena.allocate<std::byte>(bytes[1])};
  ConstRegion in = source;
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
    const Region result{view_in(slabs[(i + 1) % 2], rects[i + 1], specs[i + 1], arithmetic), rects[i + 1],
                        specs[i + 1].extent};
    chain.stages()[i]->apply(in, result, arithmetic, arena);
    in = result;
  }
  chain.stages().back()->apply(in, out, arithmetic, arena);
}

namespace {

/// A stage and the pointwise stages after it that it does as well.
struct FusedStage {
  std::size_t first;
  std::vector<PointwiseOp> then;
  std::size_t end() const noexcept { return first + 1 + then.size(); }
};

std::vector<FusedStage> fused_stages(const Chain& chain) {
  std::vector<FusedStage> fused;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const PointwiseOp* op = chain.stages()[i]->pointwise();
    if (op != nullptr && !fused.empty() && fused.back().then.size() < kMostFusedOps) {
      fused.back().then.push_back(*op);
    } else {
      fused.push_back({i, {}});
    }
  }
  return fused;
}

/// As slab_bytes, where the result of fused stage i lies in slab i % 2.
std::array<std::int64_t, 2> fused_slab_bytes(const std::vector<FusedStage>& fused, const std::vector<ImageSpec>& specs,
                                             const std::vector<Rect>& rects, Arithmetic arithmetic) {
  std::array<std::int64_t, 2> bytes{};
  for (std::size_t i = 0; i + 1 < fused.size(); ++i) {
    const std::size_t end = fused[i].end();
    bytes[i % 2] = std::max(bytes[i % 2], intermediate_bytes(rects[end], specs[end], arithmetic));
  }
  return bytes;
}

}  // namespace

std::int64_t chain_device_bytes(const Chain& chain, const std::vector<ImageSpec>& specs, Extent output, Arithmetic arithmetic) {
  const std::vector<Rect> rects = needed_rects(chain, specs, middle_rect(specs.back().extent, output));
  const std::vector<FusedStage> fused = fused_stages(chain);
  const auto slabs = fused_slab_bytes(fused, specs, rects, arithmetic);
  std::int64_t stage_bytes = 0;
  for (const FusedStage& stage : fused) {
    const Extent extent = rects[stage.end()].extent();
    stage_bytes = std::max(stage_bytes, chain.stages()[stage.first]->device_bytes(extent, specs[stage.first], arithmetic));
  }
  return Arena::bytes_for(slabs[0]) + Arena::bytes_for(slabs[1]) + stage_bytes;
}

void enqueue_chain(const Chain& chain, const std::vector<ImageSpec>& specs, Arithmetic arithmetic, const ConstRegion& source,
                   const Region& out, Arena& arena, DeviceStream stream) {
  if (chain.empty()) {
    const ConstPixelView pixels = source.crop(out.rect).pixels;
    return pointwise_cuda({}, pixels, pixels, out.pixels, arithmetic, stream);
  }
  const std::vector<Rect> rects = needed_rects(chain, specs, out.rect);
  const Arena::Scope scope(arena);
  const std::vector<FusedStage> fused = fused_stages(chain);
  const auto bytes = fused_slab_bytes(fused, specs, rects, arithmetic);
  const std::array<std::byte*, 2> slabs{arena.allocate<std::byte>(bytes[0]), arena.allocate<std::byte>(bytes[1])};
  ConstRegion in = source;
  for (std::size_t i = 0; i < fused.size(); ++i) {
    const std::size_t end = fused[i].end();
    Region result = out;
    if (i + 1 < fused.size()) result = {view_in(slabs[i % 2], rects[end], specs[end], arithmetic), rects[end], specs[end].extent};
    chain.stages()[fused[i].first]->enqueue(in, result, arithmetic, arena, stream, fused[i].then);
    in = result;
  }
}

}  // namespace sepconv
