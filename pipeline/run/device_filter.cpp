#include "pipeline/run/device_filter.hpp"

#include <fmt/format.h>

#include <mutex>
#include <string_view>
#include <utility>

#include "core/count_text.hpp"
#include "core/error.hpp"
#include "core/memory.hpp"
#include "pipeline/chain/graph_tile.hpp"
#include "pipeline/run/apply.hpp"
#include "pipeline/run/resident_operands.hpp"

namespace sepconv {
namespace {

std::string spec_text(Extent extent, std::int64_t channels, PixelType type) {
  return fmt::format("{} rows x {} columns of {}", extent.rows, extent.cols,
                     count_text(channels, fmt::format("{} channel", name_of(type))));
}

void check_spec(const ImageSpec& spec) {
  if (spec.extent.empty() || spec.extent.rows > kMaxSide || spec.extent.cols > kMaxSide ||
      spec.channels < 1) {
    throw InvalidArgument(fmt::format("cannot create a filter for {}; give an image with pixels",
                                      spec_text(spec.extent, spec.channels, spec.type)));
  }
}

/// Allocates device memory for the filter; `what` names it in the message of OutOfMemory.
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

/// Allocates scratch for any part of at most this extent, including pixels gathered beyond the image's edges.
/// Parts at two corners and in the middle, where later stages may need more, give the maximum.
Arena scratch_of(const Chain& chain, const Graph& graph, Extent part, Arithmetic arithmetic) {
  const Extent whole = graph.result().extent;
  const Rect first = Rect{0, 0, part.rows, part.cols}.intersect(Rect::whole(whole));
  const Rect last_call{whole.rows - first.rows, whole.cols - first.cols, first.rows, first.cols};
  return Arena(device_buffer(graph_device_bytes(graph, graph.max_needed_extents(part), arithmetic) +
                                 gather_scratch_bytes(graph, {first, last_call, middle_rect(whole, part)}),
                             "scratch", chain));
}

}  // namespace

struct DeviceFilter::State {
  State(Chain source_chain, const ImageSpec& input, std::optional<Arithmetic> requested, Extent largest)
      : chain(std::move(source_chain)), part(largest) {
    check_spec(input);
    graph = Graph(chain, input);
    arithmetic = chain.arithmetic(input, requested);
    if (const std::string reason = chain.why_not_on_device(); !reason.empty())
      throw InvalidArgument(reason + "; apply this chain with apply() or run()");
    if (part.empty()) part = graph.result().extent;
    device = current_device();
    scratch = scratch_of(chain, graph, part, arithmetic);
    upload_resident();
    upload_second_images();
    graph = Graph(chain, input);
    last_call.emplace();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (!last_call) return;
    try {
      last_call->synchronize();
    } catch (const Error&) {  // not reported here: see ~DeviceFilter
    }
  }

  /// Copies the stages' resident data to the device and waits, so that any stream can use it.
  void upload_resident() {
    const std::int64_t bytes = chain.resident_bytes();
    if (bytes == 0) return;
    resident = device_buffer(bytes, "matrices", chain);
    const Stream upload;
    chain = chain.on_device(resident.data(), upload.get());
    upload.synchronize();
  }

  /// Copies whole second images to the device, because the computed parts are not known in advance.
  void upload_second_images() {
    SerialExecutor executor;
    const ResidentOperands host_operands(chain, chain.specs(graph.source()),
                                         Rect::whole(graph.result().extent), executor);
    if (host_operands.empty()) return;
    const Stream upload;
    operands.emplace(host_operands.on_device(upload.get()));
    chain = operands->bound(chain);
    upload.synchronize();
  }

  void enqueue(const ConstRegion& in, const Region& out, DeviceStream stream) {
    enqueue_graph(graph, arithmetic, in, out, scratch, stream);
  }

  /// Throws InvalidArgument if the part exceeds the filter's largest part or scratch.
  void check_size(const Rect& output) const {
    std::vector<Extent> needed;
    graph.include_needed_extents(output, needed);
    const bool fits = graph_device_bytes(graph, needed, arithmetic) + gather_scratch_bytes(graph, {output}) <=
                      scratch.capacity_bytes();
    if (fits && output.rows <= part.rows && output.cols <= part.cols) return;
    throw InvalidArgument(fmt::format(
        "the filter accepts parts of at most {} rows x {} columns of the result, but {} is larger", part.rows,
        part.cols, to_string(output)));
  }

  /// Orders calls on different streams, because they share one scratch.
  void enqueue_in_order(const ConstRegion& in, const Region& out, DeviceStream stream) {
    last_call->make_stream_wait(stream);
    try {
      enqueue(in, out, stream);
    } catch (...) {
      last_call->record(stream);  // part of the chain may be enqueued and use the scratch
      throw;
    }
    last_call->record(stream);
  }

  Chain chain;
  Extent part;  // maximum extent of a part
  Graph graph;
  Arithmetic arithmetic = Arithmetic::f32;
  int device = 0;
  Buffer resident;
  std::optional<ResidentOperands> operands;  // on the device
  std::mutex mutex;                          // protects the following members
  Arena scratch;
  std::optional<Event> last_call;  // end of the last call
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
  // A captured stream cannot wait for an event from outside the graph.
  if (is_capturing(stream)) return state_->enqueue(in, out, stream);
  state_->enqueue_in_order(in, out, stream);
}

const ImageSpec& DeviceFilter::input() const noexcept { return state_->graph.source(); }
const ImageSpec& DeviceFilter::result() const noexcept { return state_->graph.result(); }
Arithmetic DeviceFilter::arithmetic() const noexcept { return state_->arithmetic; }
std::int64_t DeviceFilter::scratch_bytes() const noexcept {
  return state_->scratch.capacity_bytes() + state_->resident.size() +
         (state_->operands ? state_->operands->bytes() : 0);
}
int DeviceFilter::device() const noexcept { return state_->device; }

}  // namespace sepconv
