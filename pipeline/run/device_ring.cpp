#include "pipeline/run/device_ring.hpp"

#include <algorithm>
#include <atomic>

#include "kernels/device/copy_rows_by_kernel.hpp"
#include "kernels/device/optional_kernels.hpp"
#include "kernels/device/profiler_range.hpp"
#include "kernels/pointwise/missing.hpp"
#include "pipeline/chain/graph_tile.hpp"
#include "pipeline/chain/wrap.hpp"
#include "pipeline/plan/buffer_sizes.hpp"
#include "pipeline/run/run_state.hpp"

namespace sepconv {

DeviceRing::DeviceRing(int device, const Turns& turns, const RunContext& context)
    : track_suffix_(track_suffix(context.plan, device)),
      turns_(turns),
      source_(context.source),
      sink_(context.sink),
      plan_(context.plan),
      nan_detector_(context.nan_detector),
      second_images_(open_secondaries(context.plan.chain, context.plan.specs)) {
  Reader& source = context.source;
  Writer& sink = context.sink;
  const Plan& plan = context.plan;
  std::pmr::memory_resource* const pinned = pinned_memory(context.options);
  std::pmr::memory_resource* const memory = device_memory(context.options);
  const bool stages_input = !source.is_page_locked() && !plan.decodes_on_devices();
  const bool stages_output = !sink.is_page_locked() && !plan.encodes_on_devices();
  const std::int64_t input_bytes = stages_input ? plan.slot_input_bytes : 0;
  const std::int64_t output_bytes = stages_output ? plan.slot_output_bytes : 0;
  // Device memory first: it is most often short, and a failed allocation is cheap.
  for (int input = 0; input < device_inputs(plan.slots); ++input)
    device_inputs_.emplace_back(plan.slot_input_bytes, memory);
  for (const SecondaryRead& second_image : plan.seconds) {
    std::vector<Buffer>& buffers = device_second_images_.emplace_back();
    for (int input = 0; input < device_inputs(plan.slots); ++input)
      buffers.emplace_back(second_image.slot_bytes, memory);
  }
  arena_ = Arena(Buffer(plan.device_memory.scratch, memory));
  resident_ = Buffer(plan.device_memory.resident, memory);
  for (int slot = 0; slot < plan.slots; ++slot)
    slots_.push_back({{}, {}, {}, Buffer(plan.slot_output_bytes, memory)});
  if (plan.decodes_on_devices()) decoder_.emplace(source, plan, pinned, memory);
  if (plan.encodes_on_devices()) encoder_.emplace(sink, plan, pinned, memory);
  for (Slot& slot : slots_) {
    slot.input = Buffer(input_bytes, pinned);
    slot.output = Buffer(output_bytes, pinned);
    for (const SecondaryRead& second_image : plan.seconds)
      slot.second_images.emplace_back(second_image.slot_bytes, pinned);
  }
  found_nan_ = Buffer(found_nan_bytes(plan.source()), pinned);
  std::ranges::fill(found_nan_.bytes(), std::byte{});
  // upload(i) follows compute(i - device_inputs + 1), which follows the download of the band `slots` before
  // it, which follows the host's record of the band `slots` before that.
  events_.resize(static_cast<std::size_t>(device_inputs(plan.slots) + 2 * plan.slots - 1));
  chain_ = plan.chain.on_device(resident_.data(), compute_.get());
}

DeviceRing::~DeviceRing() {
  wait_for_end({&upload_, &compute_, &download_});
  for (std::int64_t slot = 0; decoder_ && slot < plan_.slots; ++slot) wait_for_end({&decoder_->stream(slot)});
}

BandRows DeviceRing::rows_of(std::int64_t turn) const { return turns_.rows_of(turn, source_.layout()); }

PixelView DeviceRing::input(std::int64_t turn, const Rect& missing) const {
  const Buffer& input = slot_of(turn).input;
  return input.data() == nullptr ? PixelView{} : slot_view(input, plan_.source(), missing);
}

PixelView DeviceRing::output(std::int64_t turn) const {
  const Rect rect = turns_.sink_rect(turn);
  const Buffer& output = slot_of(turn).output;
  return output.data() == nullptr ? sink_.page_locked(rect) : slot_view(output, plan_.result(), rect);
}

Region DeviceRing::device_source(std::int64_t turn) const {
  const Buffer& buffer = device_inputs_[static_cast<std::size_t>(turn) % device_inputs_.size()];
  const Rect held = rows_of(turn).held;
  return {slot_view(buffer, plan_.source(), held), held, plan_.source().extent};
}

Region DeviceRing::device_result(std::int64_t turn) const {
  const Rect rect = band_rect(turn);
  return {slot_view(slot_of(turn).device_output, plan_.result(), rect), rect, plan_.result().extent};
}

Region DeviceRing::resident_secondary(std::size_t image_index, std::int64_t turn,
                                      const Buffer& buffer) const {
  const Reader& reader = *second_images_[image_index].reader;
  const Rect held =
      band_rows(plan_, reader.layout(), turns_.band(turn), false, second_images_[image_index].stage).held;
  return {slot_view(buffer, reader.spec(), held), held, reader.spec().extent};
}

std::vector<Region> DeviceRing::secondary_inputs(std::int64_t turn) const {
  std::vector<Region> regions;
  for (std::size_t i = 0; i < second_images_.size(); ++i)
    regions.push_back(resident_secondary(i, turn, slot_of(turn).second_images[i]));
  return regions;
}

std::vector<Region> DeviceRing::device_second_images(std::int64_t turn) const {
  std::vector<Region> regions;
  for (std::size_t i = 0; i < second_images_.size(); ++i)
    regions.push_back(resident_secondary(
        i, turn, device_second_images_[i][static_cast<std::size_t>(turn) % device_inputs_.size()]));
  return regions;
}

void DeviceRing::wait_for_input(std::int64_t turn) const {
  if (turn >= plan_.slots) events_of(turn - plan_.slots).upload.end.synchronize();
}

PixelView DeviceRing::device_missing(std::int64_t turn) const {
  return device_source(turn).crop(rows_of(turn).missing).pixels;
}

std::int64_t DeviceRing::read_encoded(std::int64_t turn, const Rect& missing, Executor& executor) {
  return decoder_->read(slot_index(turn), missing, executor);
}

void DeviceRing::upload_pixels(std::int64_t turn, const Rect& missing) {
  const PixelView staged = input(turn, missing);
  const Region source = device_source(turn);
  if (staged.data != nullptr) return copy_pixels(staged, source.crop(missing).pixels, upload_.get());
  for (const PeriodicPiece& piece : periodic_pieces(missing, plan_.source().extent))
    copy_pixels(source_.page_locked(piece.inside), source.crop(piece.at).pixels, upload_.get());
}

void DeviceRing::upload_second_images(std::int64_t turn) {
  const std::vector<Region> source_regions = secondary_inputs(turn), destination = device_second_images(turn);
  for (std::size_t i = 0; i < source_regions.size(); ++i) {
    copy_pixels(source_regions[i].pixels, destination[i].pixels, upload_.get());
    events_[static_cast<std::size_t>(turn) % events_.size()].uploaded_bytes +=
        source_regions[i].rect.area() * source_regions[i].pixels.pixel_bytes();
  }
}

void DeviceRing::upload(std::int64_t turn) {
  const ProfilerRange range("upload", turns_.band(turn));
  BandEvents& events = events_[static_cast<std::size_t>(turn) % events_.size()];
  const Rect missing = rows_of(turn).missing;
  events.uploaded_bytes = decoder_ && !missing.empty() ? decoder_->bytes(slot_index(turn))
                                                       : missing.area() * plan_.source().pixel_bytes();
  // The buffer's last user, turn - device_inputs, is done when the next turn has copied its shared rows.
  const auto inputs = static_cast<std::int64_t>(device_inputs_.size());
  if (turn >= inputs) events_of(turn - inputs + 1).shared_copied.make_stream_wait(upload_.get());
  events.upload.begin.record(upload_.get());
  if (!missing.empty())
    decoder_ ? decoder_->upload(slot_index(turn), upload_.get()) : upload_pixels(turn, missing);
  upload_second_images(turn);
  events.upload.end.record(upload_.get());
  if (!decoder_) return;
  const DeviceStream decode_stream = decoder_->stream(slot_index(turn)).get();
  events.upload.end.make_stream_wait(decode_stream);
  events.decode.begin.record(decode_stream);
  if (!missing.empty()) decoder_->decode(slot_index(turn), device_missing(turn));
  events.decode.end.record(decode_stream);
}

void DeviceRing::finish_decoding(std::int64_t turn, Executor& executor) {
  events_of(turn).decode.end.synchronize();
  if (!rows_of(turn).missing.empty())
    decoder_->decode_rejected(slot_index(turn), device_missing(turn), executor);
}

void DeviceRing::look_for_nan(std::int64_t turn) {
  const PixelView missing = device_missing(turn);
  if (nan_detector_.is_active() && backend_has(DeviceKernels::nan_search) && !missing.extent.empty())
    find_nan_device(missing, reinterpret_cast<std::int32_t*>(found_nan_.data()), compute_.get());
}

bool DeviceRing::has_found_nan() const {
  return found_nan_.size() > 0 &&
         std::atomic_ref(*reinterpret_cast<std::int32_t*>(found_nan_.data())).load() != 0;
}

void DeviceRing::compute(std::int64_t turn) {
  const ProfilerRange range("compute", turns_.band(turn));
  const BandEvents& events = events_of(turn);
  const Rect shared = rows_of(turn).shared;
  const Region source = device_source(turn);
  (decoder_ ? events.decode : events.upload).end.make_stream_wait(compute_.get());
  if (!shared.empty()) {
    copy_pixels(device_source(turn - 1).crop(shared).pixels, source.crop(shared).pixels, compute_.get());
  }
  events.shared_copied.record(compute_.get());
  if (turn >= plan_.slots) events_of(turn - plan_.slots).download.end.make_stream_wait(compute_.get());
  // The span begins here, after the waits.
  events.compute.begin.record(compute_.get());
  look_for_nan(turn);
  const std::vector<Region> held = device_second_images(turn);
  const Chain chain = bind_secondaries(chain_, std::vector<ConstRegion>(held.begin(), held.end()));
  enqueue_graph(Graph(chain, plan_.source()), plan_.arithmetic, source, device_result(turn), arena_,
                compute_.get());
  events.compute.end.record(compute_.get());
  if (!encoder_) return;
  events.encode.begin.record(compute_.get());
  encoder_->encode(slot_index(turn), device_result(turn).pixels, compute_.get());
  events.encode.end.record(compute_.get());
}

void DeviceRing::download(std::int64_t turn) {
  const ProfilerRange range("download", turns_.band(turn));
  const BandEvents& events = events_of(turn);
  if (encoder_) {
    events.encode.end.make_stream_wait(download_.get());
    encoder_->download_table(slot_index(turn), turns_.sink_rect(turn), download_.get());
    events.table_arrived.record(download_.get());
    events.table_arrived.synchronize();
    events.download.begin.record(download_.get());
    encoder_->download_streams(slot_index(turn), download_.get());
    return events.download.end.record(download_.get());
  }
  events.compute.end.make_stream_wait(download_.get());
  events.download.begin.record(download_.get());
  const ConstPixelView result = device_result(turn).pixels;
  const PixelView destination = output(turn);
  plan_.kernel_stores_rows ? copy_pixels_by_kernel(result, destination, download_.get())
                           : copy_pixels(result, destination, download_.get());
  events.download.end.record(download_.get());
}

ConstPixelView DeviceRing::wait_for_result(std::int64_t turn) const {
  events_of(turn).download.end.synchronize();
  return encoder_ ? ConstPixelView{} : output(turn);
}

void DeviceRing::write_encoded(std::int64_t turn, Executor& executor) {
  encoder_->write(slot_index(turn), turns_.sink_rect(turn), executor);
}

std::int64_t DeviceRing::downloaded_bytes(std::int64_t turn) const {
  return encoder_ ? encoder_->bytes(slot_index(turn)) : band_rect(turn).area() * plan_.result().pixel_bytes();
}

void DeviceRing::set_clock(const Timeline& timeline) { clock_.set(timeline, compute_); }

void DeviceRing::record_span(const char* track, const Interval& interval, std::int64_t turn,
                             std::int64_t bytes, Timeline& timeline) const {
  clock_.record(track + track_suffix_, interval, turns_.band(turn), bytes, timeline);
}

void DeviceRing::record_spans(std::int64_t turn, Timeline& timeline) const {
  const BandEvents& events = events_of(turn);
  const BandRows rows = rows_of(turn);
  const std::int64_t result_bytes = band_rect(turn).area() * plan_.result().pixel_bytes();
  const std::int64_t pixel_bytes = plan_.source().pixel_bytes();
  record_span("upload", events.upload, turn, events.uploaded_bytes, timeline);
  if (decoder_) record_span("decode", events.decode, turn, rows.missing.area() * pixel_bytes, timeline);
  record_span("compute", events.compute, turn, rows.held.area() * pixel_bytes + result_bytes, timeline);
  if (encoder_) record_span("encode", events.encode, turn, result_bytes, timeline);
  record_span("download", events.download, turn, downloaded_bytes(turn), timeline);
}

}  // namespace sepconv
