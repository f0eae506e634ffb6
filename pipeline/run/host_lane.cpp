#include "pipeline/run/host_lane.hpp"

#include <cstring>

#include "kernels/device/profiler_range.hpp"
#include "pipeline/chain/graph_tile.hpp"
#include "pipeline/run/wrap_reads.hpp"

namespace sepconv {
namespace {

enum Role : std::size_t { kRead, kCompute, kWrite };

}  // namespace

HostLane::HostLane(const RunContext& context)
    : Lane(context), second_images_(open_secondaries(context.plan.chain, context.plan.specs)) {
  const Plan& plan = context.plan;
  inputs_.push_back({context.source, 0});
  for (const SecondaryInput& second : second_images_) inputs_.push_back({*second.reader, second.stage});
  std::pmr::memory_resource* const memory = host_memory(context.options);
  for (int slot = 0; slot < plan.slots; ++slot) {
    Slot& new_slot = slots_.emplace_back();
    new_slot.inputs.emplace_back(plan.slot_input_bytes, memory);
    for (const SecondaryRead& second : plan.seconds) new_slot.inputs.emplace_back(second.slot_bytes, memory);
    new_slot.output = Buffer(plan.slot_output_bytes, memory);
  }
  for (int worker = 0; worker < context.pool.concurrency(); ++worker)
    workers_.emplace_back(Buffer(plan.arena_bytes, memory), context.state.stop_token());
}

std::vector<LaneRole> HostLane::roles() {
  return {
      {{{kWrite, context_.plan.slots}}, [this](std::int64_t turn) { read(turn); }},
      {{{kRead, 0}}, [this](std::int64_t turn) { compute(turn); }},
  };
}

Region HostLane::buffered_region(std::size_t input, std::int64_t turn) const {
  const auto& [reader, stage_index] = inputs_[input];
  const Rect held = turns_.rows_of(turn, reader.layout(), stage_index).held;
  return {slot_view(slot_of(turn).inputs[input], reader.spec(), held), held, reader.spec().extent};
}

Region HostLane::result_region(std::int64_t turn) const {
  const ImageSpec& result = context_.plan.result();
  const Rect rect = context_.plan.band_rect(turns_.band(turn));
  return {slot_view(slot_of(turn).output, result, rect), rect, result.extent};
}

/// Copies the rows shared with the previous turn and reads the others. Returns the bytes read.
std::int64_t HostLane::read_input(std::size_t input, std::int64_t turn) {
  const auto& [reader, stage_index] = inputs_[input];
  const BandRows rows = turns_.rows_of(turn, reader.layout(), stage_index);
  const Region held = buffered_region(input, turn);
  if (!rows.shared.empty()) {
    const ConstRegion previous = buffered_region(input, turn - 1);
    // With one slot both are in the same buffer and may overlap.
    std::memmove(held.pixels.data, previous.crop(rows.shared).pixels.data,
                 static_cast<std::size_t>(rows.shared.area() * reader.spec().pixel_bytes()));
  }
  if (rows.missing.empty()) return 0;
  const PixelView missing = held.crop(rows.missing).pixels;
  read_periodic(reader, rows.missing, missing, context_.copying);
  if (input == 0) {
    context_.nan_detector.inspect(missing, context_.copying);
    if (context_.options.observer != nullptr)
      context_.options.observer->observe_source(rows.missing, missing);
  }
  return rows.missing.area() * reader.spec().pixel_bytes();
}

void HostLane::read(std::int64_t turn) {
  const ProfilerRange range("read", turns_.band(turn));
  const double begin = timeline_->now();
  std::int64_t bytes = 0;
  for (std::size_t input = 0; input < inputs_.size(); ++input) bytes += read_input(input, turn);
  context_.state.add_bytes_read(bytes);
  timeline_->record({"read", turns_.band(turn), begin, timeline_->now(), bytes});
}

void HostLane::compute(std::int64_t turn) {
  const ProfilerRange range("compute", turns_.band(turn));
  const Plan& plan = context_.plan;
  const double begin = timeline_->now();
  const ConstRegion source = buffered_region(0, turn);
  const Region result = result_region(turn);
  std::int64_t bytes = result.rect.area() * plan.result().pixel_bytes();
  std::vector<ConstRegion> second_regions;
  for (std::size_t input = 0; input < inputs_.size(); ++input) {
    const ConstRegion held = buffered_region(input, turn);
    bytes += held.rect.area() * held.pixels.pixel_bytes();
    if (input > 0) second_regions.push_back(held);
  }
  const Chain chain = bind_secondaries(plan.chain, second_regions);
  const Graph graph(chain, plan.source());
  const std::vector<Rect> tiles = tiles_of(result.rect, plan.tile);
  context_.pool.for_each(std::ssize(tiles), [&](std::int64_t index, int worker) {
    compute_tile(graph, plan.arithmetic, source, result.crop(tiles[static_cast<std::size_t>(index)]),
                 workers_[static_cast<std::size_t>(worker)]);
  });
  const std::vector<Rect> samples = context_.clipping.samples(plan, result.rect);
  context_.pool.for_each(std::ssize(samples), [&](std::int64_t index, int worker) {
    context_.clipping.count_clipped(plan, chain, source, samples[static_cast<std::size_t>(index)],
                                    workers_[static_cast<std::size_t>(worker)]);
  });
  timeline_->record(
      {"compute" + track_suffix(plan, std::nullopt), turns_.band(turn), begin, timeline_->now(), bytes});
}

void HostLane::write(std::int64_t turn) {
  const ProfilerRange range("write", turns_.band(turn));
  const Rect rect = turns_.sink_rect(turn);
  const ConstPixelView result = result_region(turn).pixels;
  const double begin = timeline_->now();
  if (context_.options.observer != nullptr) context_.options.observer->observe_result(rect, result);
  context_.sink.write(rect, result, context_.copying);
  const std::int64_t bytes = rect.area() * context_.plan.result().pixel_bytes();
  timeline_->record({"write", turns_.band(turn), begin, timeline_->now(), bytes});
}

}  // namespace sepconv
