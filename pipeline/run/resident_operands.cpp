#include "pipeline/run/resident_operands.hpp"

#include "core/executor.hpp"
#include "pipeline/chain/graph_tile.hpp"
#include "pipeline/run/wrap_reads.hpp"

namespace sepconv {

Region ResidentOperands::allocate(const ImageSpec& spec, const Rect& rect,
                                  std::pmr::memory_resource* memory) {
  buffers_.emplace_back(rect.area() * spec.pixel_bytes(), memory);
  return regions_.emplace_back(
      Region{dense_view(buffers_.back().data(), spec, rect.extent()), rect, spec.extent});
}

ResidentOperands::ResidentOperands(const Chain& chain, const std::vector<ImageSpec>& specs,
                                   const Rect& output, Executor& executor) {
  const std::vector<SecondaryInput> seconds = open_secondaries(chain, specs);
  if (seconds.empty()) return;
  const Graph graph(chain, specs.front());
  const std::vector<Rect> needed = graph.needed_rects(output);
  const bool is_whole = output == Rect::whole(specs.back().extent);
  for (const auto& [stage, reader] : seconds) {
    // If the whole result is computed stage by stage, every stage computes its whole image, including pixels
    // that no later stage uses.
    const Rect whole_image = is_whole ? Rect::whole(reader->spec().extent) : Rect{};
    const Region operands =
        allocate(reader->spec(), needed[graph.stage_input(stage)].include(whole_image), page_resource());
    read_periodic(*reader, operands.rect, operands.pixels, executor);
  }
}

ResidentOperands ResidentOperands::on_device(DeviceStream stream) const {
  ResidentOperands operands;
  for (const Region& region : regions_) {
    const ImageSpec spec{region.image, region.pixels.channels, region.pixels.type};
    copy_pixels(region.pixels, operands.allocate(spec, region.rect, device_resource()).pixels, stream);
  }
  return operands;
}

std::int64_t ResidentOperands::bytes() const noexcept {
  std::int64_t bytes = 0;
  for (const Buffer& buffer : buffers_) bytes += buffer.size();
  return bytes;
}

Chain ResidentOperands::bound(const Chain& chain) const {
  return empty() ? chain
                 : bind_secondaries(chain, std::vector<ConstRegion>(regions_.begin(), regions_.end()));
}

}  // namespace sepconv
