// Statistics on a GPU. run() streams the source through page-locked bands into a sink, which uploads them in
// pieces and reduces each on the GPU. Floating sums use the same cells and the same order as on the CPU.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "core/byte_text.hpp"
#include "core/error.hpp"
#include "core/memory.hpp"
#include "kernels/device/runtime.hpp"
#include "pipeline/measure/stats_passes.hpp"
#include "pipeline/measure/stats_tiles.hpp"

namespace sepconv {

namespace {

constexpr std::int64_t kSlots = 4;  // one is uploaded while the others are reduced
constexpr std::int64_t kSlotBytes = std::int64_t{16} << 20;

/// The GPU and the limit of its memory.
struct DeviceBudget {
  int device = 0;
  std::int64_t bytes = 0;
};

DeviceBudget budget_of(const RunOptions& options) {
  const int device = options.devices.front();
  return {device, device_memory_ceiling({device}, options)};
}

/// A sink on a GPU. A slot's upload, reduction and download are ordered by its stream; slots run
/// concurrently.
class DeviceWriter : public MeasuringWriter {
 public:
  ~DeviceWriter() override { wait_for_device(); }
  DeviceWriter(const DeviceWriter&) = delete;
  DeviceWriter& operator=(const DeviceWriter&) = delete;

  /// Returns when `in` may be reused; reductions continue asynchronously.
  void write(const Rect& rect, const ConstPixelView& in, Executor&) override {
    const DeviceScope scope(budget_.device);
    try {
      for_each_cell(rect, piece_, [&](std::int64_t, const Rect& part) {
        add(part, in.crop({part.row - rect.row, part.col - rect.col, part.rows, part.cols}));
      });
    } catch (...) {
      wait_for_device();  // the GPU may still read `in`
      throw;
    }
    for (const Slot& slot : slots_) slot.uploaded.synchronize();
  }

  std::int64_t buffer_bytes(int) const override {
    return kSlots * result_bytes_ * cells_in_piece() + host_bytes();
  }

 protected:
  struct Slot {
    Stream stream;
    Event uploaded, done;
    Buffer pixels;   // pixels of the piece, densely packed, on the device
    Buffer results;  // on the device
    Buffer fetched;  // copy of the results on the host
    Rect part;       // rectangle in progress; empty if idle
  };

  /// `result_bytes` per cell are downloaded; `table_bytes` of device memory are used besides the slots.
  DeviceWriter(const ImageSpec& spec, const DeviceBudget& budget, std::int64_t result_bytes,
               std::int64_t table_bytes)
      : MeasuringWriter(spec, cell_extent(spec, {1, 1})), budget_(budget), result_bytes_(result_bytes) {
    const DeviceScope scope(budget_.device);
    const std::int64_t min_bytes = table_bytes + kSlots * cell_bytes();
    if (min_bytes > budget_.bytes) {
      throw OutOfMemory(fmt::format(
          "statistics on the GPU take {} of device memory, more than the {} that are allowed; allow them, or "
          "compute on the CPU",
          format_bytes(static_cast<double>(min_bytes)), format_bytes(static_cast<double>(budget_.bytes))));
    }
    allocate_slots(std::min(kSlotBytes, (budget_.bytes - table_bytes) / kSlots));
  }

  /// Enqueues the reduction of a piece on the slot's stream.
  virtual void reduce(const ConstPixelView& piece, Slot& slot) = 0;
  /// Processes the results downloaded from a slot, in the order of the pieces.
  virtual void collect(const Slot&) {}
  /// Host memory of the derived class, in bytes.
  virtual std::int64_t host_bytes() const = 0;

  int device() const noexcept { return budget_.device; }
  std::int64_t cells_in(Extent part) const {
    return ceil_div(part.rows, layout().block.rows) * ceil_div(part.cols, layout().block.cols);
  }

  /// Waits until the device no longer uses the buffers, also after a failure. Errors are ignored: they have
  /// already been thrown.
  void wait_for_device() const noexcept {
    for (const Slot& slot : slots_) {
      try {
        slot.stream.synchronize();
      } catch (const Error&) {
      }
    }
  }

  /// Waits for all pieces.
  void complete() {
    for (std::int64_t i = 0; i < kSlots; ++i) free_slot();
  }

 private:
  std::int64_t cell_bytes() const { return layout().block.area() * spec().pixel_bytes() + result_bytes_; }
  std::int64_t cells_in_piece() const { return cells_in(piece_); }

  /// Whole cells, first side by side, then below each other.
  Extent piece_extent(std::int64_t bytes) const {
    const Extent cell = layout().block;
    const std::int64_t cells = std::max<std::int64_t>(bytes / cell_bytes(), 1);
    const std::int64_t across = std::min(cells, ceil_div(spec().extent.cols, cell.cols));
    return {std::max<std::int64_t>(cells / across, 1) * cell.rows, across * cell.cols};
  }

  /// Allocates the slots; halves the pieces if the device has less free memory than it reported.
  void allocate_slots(std::int64_t piece_bytes) {
    for (;; piece_bytes /= 2) {
      piece_ = piece_extent(piece_bytes);
      try {
        std::vector<Slot> slots(static_cast<std::size_t>(kSlots));
        for (Slot& slot : slots) {
          slot.pixels = Buffer(piece_.area() * spec().pixel_bytes(), device_resource());
          if (result_bytes_ == 0) continue;
          slot.results = Buffer(cells_in_piece() * result_bytes_, device_resource());
          slot.fetched = Buffer(cells_in_piece() * result_bytes_, pinned_resource());
        }
        slots_ = std::move(slots);
        return;
      } catch (const OutOfMemory&) {
        if (cells_in_piece() == 1) throw;
      }
    }
  }

  Slot& free_slot() {
    Slot& slot = slots_[next_++ % slots_.size()];
    if (slot.part.empty()) return slot;
    slot.done.synchronize();
    collect(slot);
    slot.part = {};
    return slot;
  }

  void add(const Rect& part, const ConstPixelView& in) {
    Slot& slot = free_slot();
    const std::int64_t row_bytes = in.row_bytes();
    copy_rows(slot.pixels.data(), row_bytes, in.data, in.pitch_bytes, row_bytes, part.rows,
              slot.stream.get());
    slot.uploaded.record(slot.stream.get());
    slot.part = part;
    reduce({slot.pixels.data(), part.extent(), spec().channels, spec().type, row_bytes}, slot);
    slot.done.record(slot.stream.get());
  }

  DeviceBudget budget_;
  std::int64_t result_bytes_;
  Extent piece_{};
  std::vector<Slot> slots_;
  std::size_t next_ = 0;
};

class DeviceMoments final : public DeviceWriter {
 public:
  DeviceMoments(const ImageSpec& spec, const DeviceBudget& budget)
      : DeviceWriter(spec, budget, spec.channels * static_cast<std::int64_t>(sizeof(Moments)), 0),
        sums_(spec, layout().block, ChannelMoments(spec.channels)) {}

  ChannelMoments total() {
    complete();
    return sums_.total();
  }

 private:
  void reduce(const ConstPixelView& piece, Slot& slot) override {
    cell_moments_device(piece, layout().block, reinterpret_cast<Moments*>(slot.results.data()),
                        slot.stream.get());
    // Copies only the cells of this piece: the rest of the buffer may be uninitialised.
    const std::int64_t bytes =
        cells_in(slot.part.extent()) * spec().channels * static_cast<std::int64_t>(sizeof(Moments));
    copy_rows(slot.fetched.data(), bytes, slot.results.data(), bytes, bytes, 1, slot.stream.get());
  }

  void collect(const Slot& slot) override {
    const Extent cell = layout().block;
    const std::int64_t across = ceil_div(slot.part.cols, cell.cols);
    const auto* const fetched = reinterpret_cast<const Moments*>(slot.fetched.data());
    SerialExecutor executor;
    sums_.add(slot.part, executor, [&](const Rect& rect, ChannelMoments& moments) {
      const std::int64_t index =
          (rect.row - slot.part.row) / cell.rows * across + (rect.col - slot.part.col) / cell.cols;
      std::copy_n(fetched + index * spec().channels, spec().channels, moments.channels.begin());
    });
  }

  std::int64_t host_bytes() const override {
    return sums_.bytes(spec().channels * std::int64_t{sizeof(Moments)});
  }

  CellSums<ChannelMoments> sums_;
};

/// Counts the values of integer types, or the bins on `scales` of floating types.
class DeviceCounts final : public DeviceWriter {
 public:
  DeviceCounts(const ImageSpec& spec, const DeviceBudget& budget, const std::vector<BinScale>& scales = {})
      : DeviceWriter(spec, budget, 0, table_size(spec) * kCountBytes + scale_bytes(scales)),
        size_(table_size(spec)) {
    const DeviceScope scope(device());
    counts_ = Buffer(size_ * kCountBytes, device_resource());
    copy(counts_.data(), Counts(static_cast<std::size_t>(size_)).data(), counts_.size());
    if (scales.empty()) return;
    scales_ = Buffer(scale_bytes(scales), device_resource());
    copy(scales_.data(), scales.data(), scales_.size());
  }

  ~DeviceCounts() override { wait_for_device(); }  // the tables are freed before the slots

  Counts total() {
    complete();
    Counts counts(static_cast<std::size_t>(size_));
    copy(counts.data(), counts_.data(), counts_.size());
    return counts;
  }

 private:
  static constexpr std::int64_t kCountBytes = sizeof(std::int64_t);

  static std::int64_t table_size(const ImageSpec& spec) {
    return spec.channels * (is_floating(spec.type) ? kBins : value_count(spec.type));
  }
  static std::int64_t scale_bytes(const std::vector<BinScale>& scales) {
    return std::ssize(scales) * static_cast<std::int64_t>(sizeof(BinScale));
  }

  /// Synchronous copy.
  void copy(void* to, const void* from, std::int64_t bytes) const {
    const Stream stream;
    copy_rows(to, bytes, from, bytes, bytes, 1, stream.get());
    stream.synchronize();
  }

  void reduce(const ConstPixelView& piece, Slot& slot) override {
    if (!is_floating(spec().type)) return count_values_device(piece, table(), slot.stream.get());
    count_bins_device(piece, reinterpret_cast<const BinScale*>(scales_.data()), table(), slot.stream.get());
  }
  std::int64_t* table() const { return reinterpret_cast<std::int64_t*>(counts_.data()); }
  std::int64_t host_bytes() const override { return size_ * kCountBytes; }

  std::int64_t size_;
  Buffer counts_, scales_;
};

}  // namespace

std::vector<ChannelStats> device_stats(Reader& source, const RunOptions& options,
                                       std::optional<double> missing, bool histogram) {
  const DeviceBudget budget = budget_of(options);
  const DeviceScope scope(budget.device);
  RunOptions host_options = options;  // the host only reads
  host_options.devices.clear();
  if (host_options.memory == nullptr) host_options.memory = pinned_resource();
  const auto pass = [&](DeviceWriter& sink) { run(source, sink, Chain(), host_options); };
  if (!is_floating(source.spec().type)) {
    DeviceCounts counts(source.spec(), budget);
    pass(counts);
    return stats_of_counts(source.spec(), counts.total(), missing);
  }
  const auto moments = [&] {
    DeviceMoments moments_sink(source.spec(), budget);
    pass(moments_sink);
    return moments_sink.total();
  };
  const auto bins = [&](const std::vector<BinScale>& scales) {
    DeviceCounts bins_sink(source.spec(), budget, scales);
    pass(bins_sink);
    return bins_sink.total();
  };
  return stats_of_passes(source.spec().type, moments, histogram ? BinsPass(bins) : BinsPass());
}

}  // namespace sepconv
