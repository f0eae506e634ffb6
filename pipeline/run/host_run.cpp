#include "pipeline/run/host_run.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/device/profiler_range.hpp"
#include "pipeline/chain/graph_tile.hpp"
#include "pipeline/run/wrap_reads.hpp"

namespace sepconv {
namespace {

constexpr const char* kRoleNames[] = {"read", "compute", "write"};

}  // namespace

Region HostRun::Slot::result(const Plan& plan, const Rect& rect) const {
  return {slot_view(output, plan.result(), rect), rect, plan.result().extent};
}

BandRows HostRun::rows_of(std::size_t input, std::int64_t band) const {
  const Input& read = inputs_[input];
  return band_rows(plan_, read.reader.layout(), band, band > bands_.first, read.stage_index);
}

Region HostRun::buffered_region(std::size_t input, std::int64_t band) const {
  const ImageSpec& spec = inputs_[input].reader.spec();
  const Rect held = rows_of(input, band).held;
  return {slot_view(slot_of(band).inputs[input], spec, held), held, spec.extent};
}

HostRun::HostRun(Reader& source, Writer& sink, const Plan& plan, NanDetector& nan_detector,
                 ClippingSamples& clipping, const ExecutionOptions& options)
    : second_images_(open_secondaries(plan.chain, plan.specs)),
      sink_(sink),
      plan_(plan),
      nan_detector_(nan_detector),
      clipping_(clipping),
      options_(options),
      bands_(options.bands.value_or(plan.all_bands())),
      state_(bands_.count(), plan.pixels_of(bands_), plan.result().pixel_bytes(), options),
      pool_({.threads = plan.threads, .others = 2}, state_.stop_token()) {
  inputs_.push_back({source, 0});
  for (const SecondaryInput& second : second_images_) inputs_.push_back({*second.reader, second.stage});
  std::pmr::memory_resource* const memory = host_memory(options);
  for (int slot = 0; slot < plan.slots; ++slot) {
    Slot& new_slot = slots_.emplace_back();
    new_slot.inputs.emplace_back(plan.slot_input_bytes, memory);
    for (const SecondaryRead& second : plan.seconds) new_slot.inputs.emplace_back(second.slot_bytes, memory);
    new_slot.output = Buffer(plan.slot_output_bytes, memory);
  }
  for (int worker = 0; worker < pool_.concurrency(); ++worker)
    workers_.emplace_back(Buffer(plan.arena_bytes, memory), state_.stop_token());
}

void HostRun::execute(Timeline& timeline) {
  state_.run_to_end([&](Roles& roles) {
    roles.start([&] { run_role(kRead, timeline, [this](std::int64_t band) { read_band(band); }); });
    roles.start([&] { run_role(kWrite, timeline, [this](std::int64_t band) { write_band(band); }); });
    run_role(kCompute, timeline, [this](std::int64_t band) { compute_band(band); });
  });
}

void HostRun::run_role(Role role, Timeline& timeline, const std::function<void(std::int64_t)>& step) {
  state_.attempt([&] {
    for (std::int64_t band = bands_.first; band < bands_.end; ++band) {
      const std::int64_t local_index = band - bands_.first;
      // Synchronisation of the ring: read after the slot's last band is written, compute after read, write
      // after compute.
      const Role previous = role == kRead ? kWrite : static_cast<Role>(role - 1);
      if (!wait_for(previous, role == kRead ? local_index - plan_.slots + 1 : local_index + 1)) return;
      const double begin = timeline.now();
      {
        const ProfilerRange range(kRoleNames[role], band);
        step(band);
      }
      timeline.record({kRoleNames[role], band, begin, timeline.now(), bytes_[role]});
      finish_band(role);
      if (role == kWrite && options_.written) options_.written(plan_, band);
      if (role == kWrite) state_.report_written(plan_.band_rect(band), timeline);
    }
  });
}

bool HostRun::wait_for(Role role, std::int64_t bands_done) {
  return state_.wait_until([&] { return done_[role] >= bands_done; });
}

void HostRun::finish_band(Role role) {
  state_.update([&] { ++done_[role]; });
}

/// Copies the rows shared with the previous band and reads the others. Returns the bytes read.
std::int64_t HostRun::read_input(std::size_t input, std::int64_t band) {
  const ImageSpec& spec = inputs_[input].reader.spec();
  const BandRows rows = rows_of(input, band);
  const Region held = buffered_region(input, band);
  if (!rows.shared.empty()) {
    const ConstRegion previous = buffered_region(input, band - 1);
    // With one slot both are in the same buffer and may overlap.
    std::memmove(held.pixels.data, previous.crop(rows.shared).pixels.data,
                 static_cast<std::size_t>(rows.shared.area() * spec.pixel_bytes()));
  }
  if (rows.missing.empty()) return 0;
  const PixelView missing = held.crop(rows.missing).pixels;
  read_periodic(inputs_[input].reader, rows.missing, missing, pool_);
  if (input == 0) {
    nan_detector_.inspect(missing, pool_);
    if (options_.observer != nullptr) options_.observer->observe_source(rows.missing, missing);
  }
  return rows.missing.area() * spec.pixel_bytes();
}

void HostRun::read_band(std::int64_t band) {
  bytes_[kRead] = 0;
  for (std::size_t input = 0; input < inputs_.size(); ++input) bytes_[kRead] += read_input(input, band);
  state_.add_bytes_read(bytes_[kRead]);
}

void HostRun::compute_band(std::int64_t band) {
  const Rect rect = plan_.band_rect(band);
  const ConstRegion source = buffered_region(0, band);
  const Region result = slot_of(band).result(plan_, rect);
  bytes_[kCompute] = rect.area() * plan_.result().pixel_bytes();
  std::vector<ConstRegion> second_regions;
  for (std::size_t input = 0; input < inputs_.size(); ++input) {
    const ConstRegion held = buffered_region(input, band);
    bytes_[kCompute] += held.rect.area() * held.pixels.pixel_bytes();
    if (input > 0) second_regions.push_back(held);
  }
  const Chain chain = bind_secondaries(plan_.chain, second_regions);
  const Graph graph(chain, plan_.source());
  const std::vector<Rect> tiles = tiles_of(rect, plan_.tile);
  pool_.for_each(static_cast<std::int64_t>(tiles.size()), [&](std::int64_t index, int worker) {
    compute_tile(graph, plan_.arithmetic, source, result.crop(tiles[static_cast<std::size_t>(index)]),
                 workers_[static_cast<std::size_t>(worker)]);
  });
  const std::vector<Rect> samples = clipping_.samples(plan_, rect);
  pool_.for_each(std::ssize(samples), [&](std::int64_t index, int worker) {
    clipping_.count_clipped(plan_, chain, source, samples[static_cast<std::size_t>(index)],
                            workers_[static_cast<std::size_t>(worker)]);
  });
}

void HostRun::write_band(std::int64_t band) {
  const Rect rect = plan_.band_rect(band);
  bytes_[kWrite] = rect.area() * plan_.result().pixel_bytes();
  const ConstPixelView result = slot_of(band).result(plan_, rect).pixels;
  if (options_.observer != nullptr) options_.observer->observe_result(plan_.sink_rect(band), result);
  sink_.write(plan_.sink_rect(band), result, pool_);
}

}  // namespace sepconv
