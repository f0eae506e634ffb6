#include "pipeline/run/device_filter.hpp"

#include <fmt/format.h>

#include <mutex>
#include <string_view>
#include <utility>

#include "core/count_text.hpp"
#include "core/error.hpp"
#include "core/memory.hpp"
#include "pipeline/chain/chain_tile.hpp"
#include "pipeline/run/apply.hpp"
#include "pipeline/run/resident_operands.hpp"

namespace sepconv {
namespace {

std::string to_text(Extent extent, std::int64_t channels, PixelType type) {
  return fmt::format("{} rows x {} columns of {}", extent.rows, extent.cols,
                     count_text(channels, fmt::format("{} channel", name_of(type))));
}

void check_spec(const ImageSpec& spec) {
  if (spec.extent.empty() || spec.extent.rows > kMaxSide || spec.extent.cols > kMaxSide ||
      spec.channels < 1) {
    throw InvalidArgument(fmt::format("a filter for {} cannot be made; give an image with pixels",
                                      to_text(spec.extent, spec.channels, spec.type)));
  }
}

/// Device memory for a part of the filter, told by `what` if it cannot be had.
Buffer device_buffer(std::int64_t bytes, std::string_view what, const Chain& chain) {
  try {
    return Buffer(bytes, device_resource());
  } catch (const OutOfMemory&) {
    throw OutOfMemory(
        fmt::format("{} bytes of {} for the filter '{}' could not be allocated on the GPU; filter smaller "
                    "images, or use run(), which works in bands",
                    bytes, what, chain.text()));
  }
}

/// For any part of at most this extent, and what is gathered from beyond the image's edges of one at each
/// corner, and of one in the middle, of which later stages may need more.
Arena scratch_of(const Chain& chain, const std::vector<ImageSpec>& specs, Extent part,
                 Arithmetic arithmetic) {
  const Extent whole = specs.back().extent;
  const Rect first = Rect{0, 0, part.rows, part.cols}.intersect(Rect::whole(whole));
  const Rect last{whole.rows - first.rows, whole.cols - first.cols, first.rows, first.cols};
  return Arena(
      device_buffer(chain_device_bytes(chain, specs, needed_anywhere(chain, specs, part), arithmetic) +
                        gathered_bytes(chain, specs, {first, last, middle_rect(whole, part)}),
                    "scratch", chain));
}

}  // namespace

struct DeviceFilter::State {
  State(Chain given, const ImageSpec& input, std::optional<Arithmetic> asked, Extent largest)
      : chain(std::move(given)), part(largest) {
    check_spec(input);
    specs = chain.specs(input);
    arithmetic = chain.arithmetic(input, asked);
    if (const Stage* stage = chain.host_only_stage()) {
      throw InvalidArgument(fmt::format(
          "stage '{}' does not run on a GPU; apply this chain with apply() or run()", stage->text()));
    }
    if (part.empty()) part = specs.back().extent;
    device = current_device();
    scratch = scratch_of(chain, specs, part, arithmetic);
    hold_resident();
    hold_secondaries();
    last.emplace();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (!last) return;
    try {
      last->synchronize();
    } catch (const Error&) {  // not ours to report: see ~DeviceFilter
    }
  }

  /// Copies what stages hold to the device; whatever stream is used later finds it there.
  void hold_resident() {
    const std::int64_t bytes = chain.resident_bytes();
    if (bytes == 0) return;
    resident = device_buffer(bytes, "matrices", chain);
    const Stream upload;
    chain = chain.on_device(resident.data(), upload.get());
    upload.synchronize();
  }

  /// All of the second images: which parts will be computed is not known.
  void hold_secondaries() {
    SerialExecutor executor;
    const ResidentOperands on_host(chain, specs, Rect::whole(specs.back().extent), executor);
    if (on_host.empty()) return;
    const Stream upload;
    seconds.emplace(on_host.on_device(upload.get()));
    chain = seconds->bound(chain);
    upload.synchronize();
  }

  void enqueue(const ConstRegion& in, const Region& out, DeviceStream stream) {
    enqueue_chain(chain, specs, arithmetic, in, out, scratch, stream);
  }

  /// Throws InvalidArgument for a part that the filter was not made for.
  void check_size(const Rect& output) const {
    std::vector<Extent> needed;
    include_needed(chain, specs, output, needed);
    const bool fits =
        chain_device_bytes(chain, specs, needed, arithmetic) + gathered_bytes(chain, specs, {output}) <=
        scratch.capacity_bytes();
    if (fits && output.rows <= part.rows && output.cols <= part.cols) return;
    throw InvalidArgument(fmt::format(
        "the filter was made for parts of at most {} rows x {} columns of the result, and {} takes more",
        part.rows, part.cols, to_string(output)));
  }

  /// In the order of the calls, whatever their streams: the scratch is one.
  void enqueue_in_order(const ConstRegion& in, const Region& out, DeviceStream stream) {
    last->wait_in(stream);
    try {
      enqueue(in, out, stream);
    } catch (...) {
      last->record(stream);  // a part of the chain may be on its way and use the scratch
      throw;
    }
    last->record(stream);
  }

  Chain chain;
  Extent part;  // the largest to be computed at once
  std::vector<ImageSpec> specs;
  Arithmetic arithmetic = Arithmetic::f32;
  int device = 0;
  Buffer resident;
  std::optional<ResidentOperands> seconds;  // on the device
  std::mutex mutex;                         // of what follows
  Arena scratch;
  std::optional<Event> last;  // the end of the call made last
};

DeviceFilter::DeviceFilter(Chain chain, const ImageSpec& input, std::optional<Arithmetic> arithmetic,
                           Extent largest_part)
    : state_(std::make_unique<State>(std::move(chain), input, arithmetic, largest_part)) {}
DeviceFilter::DeviceFilter(DeviceFilter&&) noexcept = default;
DeviceFilter& DeviceFilter::operator=(DeviceFilter&&) noexcept = default;
DeviceFilter::~DeviceFilter() = default;

void DeviceFilter::enqueue(const ConstPixelView& in, const PixelView& out, DeviceStream stream) const {
  enqueue(ConstRegion::whole(in), Region::whole(out), stream);
}

void DeviceFilter::enqueue(const ConstRegion& in, const Region& out, DeviceStream stream) const {
  check_parts(state_->chain, input(), result(), in, out, "filter's ");
  state_->check_size(out.rect);
  const DeviceScope scope(state_->device);
  const std::lock_guard lock(state_->mutex);
  // An event from outside a graph cannot be waited for inside it.
  if (is_capturing(stream)) return state_->enqueue(in, out, stream);
  state_->enqueue_in_order(in, out, stream);
}

const ImageSpec& DeviceFilter::input() const noexcept { return state_->specs.front(); }
const ImageSpec& DeviceFilter::result() const noexcept { return state_->specs.back(); }
Arithmetic DeviceFilter::arithmetic() const noexcept { return state_->arithmetic; }
std::int64_t DeviceFilter::scratch_bytes() const noexcept {
  return state_->scratch.capacity_bytes() + state_->resident.size() +
         (state_->seconds ? state_->seconds->bytes() : 0);
}
int DeviceFilter::device() const noexcept { return state_->device; }

}  // namespace sepconv
