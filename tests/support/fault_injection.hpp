// Readers, writers, stages and memory that delay or fail on purpose, around real ones.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <memory_resource>
#include <new>
#include <thread>

#include "core/memory.hpp"
#include "io/reader.hpp"
#include "io/writer.hpp"
#include "pipeline/chain/stage.hpp"

namespace sepconv::test {

/// Called before each operation with the number of the call, counted from 0.
using Hook = std::function<void(std::int64_t call)>;

/// Sleeps for up to `max_delay_us` microseconds. The delay differs between calls and is reproducible for a
/// seed.
inline Hook random_delay(std::uint64_t seed, int max_delay_us) {
  return [seed, max_delay_us](std::int64_t call) {
    const std::uint64_t mixed = (seed + static_cast<std::uint64_t>(call)) * 0x9E3779B97F4A7C15u;
    if (max_delay_us > 0)
      std::this_thread::sleep_for(
          std::chrono::microseconds((mixed >> 33) % static_cast<std::uint64_t>(max_delay_us)));
  };
}

class HookedReader final : public Reader {
 public:
  HookedReader(Reader& reader, Hook hook) : reader_(reader), hook_(std::move(hook)) {}
  const ImageSpec& spec() const noexcept override { return reader_.spec(); }
  const SourceLayout& layout() const noexcept override { return reader_.layout(); }
  const Metadata& metadata() const noexcept override { return reader_.metadata(); }
  std::int64_t buffer_bytes(int concurrency) const override { return reader_.buffer_bytes(concurrency); }
  void read(const Rect& rect, const PixelView& out, Executor& executor) override {
    hook_(calls_++);
    reader_.read(rect, out, executor);
  }
  EncodedReader* encoded() noexcept override { return reader_.encoded(); }

 private:
  Reader& reader_;
  Hook hook_;
  std::atomic<std::int64_t> calls_ = 0;
};

class HookedWriter final : public Writer {
 public:
  HookedWriter(Writer& writer, Hook hook) : writer_(writer), hook_(std::move(hook)) {}
  const ImageSpec& spec() const noexcept override { return writer_.spec(); }
  const SinkLayout& layout() const noexcept override { return writer_.layout(); }
  std::int64_t buffer_bytes(int concurrency) const override { return writer_.buffer_bytes(concurrency); }
  void write(const Rect& rect, const ConstPixelView& in, Executor& executor) override {
    hook_(calls_++);
    writer_.write(rect, in, executor);
  }
  void finish() override {
    hook_(calls_++);
    writer_.finish();
  }

 private:
  Writer& writer_;
  Hook hook_;
  std::atomic<std::int64_t> calls_ = 0;
};

/// Forwards to another stage after calling `hook`, which may delay or throw. On a GPU `device_hook` is called
/// instead, if it is given.
class HookedStage final : public Stage {
 public:
  HookedStage(const StagePtr& stage, Hook hook, Hook device_hook = {})
      : Stage(unfused(stage->declaration())),
        stage_(stage),
        hook_(std::move(hook)),
        device_hook_(std::move(device_hook)) {}
  ImageSpec output_spec(const ImageSpec& input) const override { return stage_->output_spec(input); }
  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    return stage_->input_for(output, input);
  }
  StagePtr transposed() const override {
    const StagePtr inner = stage_->transposed();
    return inner == nullptr ? nullptr : std::make_shared<HookedStage>(inner, hook_, device_hook_);
  }
  StagePtr with_nodata() const override {
    return std::make_shared<HookedStage>(stage_->with_nodata(), hook_, device_hook_);
  }
  StagePtr with_alpha_mask(std::int64_t alpha) const override {
    return std::make_shared<HookedStage>(stage_->with_alpha_mask(alpha), hook_, device_hook_);
  }
  StagePtr weight_by_alpha(const AlphaWeight& weight) const override {
    return std::make_shared<HookedStage>(stage_->weight_by_alpha(weight), hook_, device_hook_);
  }
  Extent transposed_item(const ImageSpec& input) const override { return stage_->transposed_item(input); }
  std::unique_ptr<Reader> open_secondary(const ImageSpec& input) const override {
    return stage_->open_secondary(input);
  }
  StagePtr bind_secondary(const ConstRegion& secondary) const override {
    return std::make_shared<HookedStage>(stage_->bind_secondary(secondary), hook_, device_hook_);
  }
  StagePtr for_raster(std::int64_t raster, const RasterAxes& axes) const override {
    return std::make_shared<HookedStage>(stage_->for_raster(raster, axes), hook_, device_hook_);
  }
  StagePtr on_device(std::byte* memory, DeviceStream stream) const override {
    return std::make_shared<HookedStage>(stage_->on_device(memory, stream), hook_, device_hook_);
  }
  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override {
    return stage_->scratch_bytes(scratch, output, input, arithmetic);
  }
  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker) const override {
    hook_(calls_++);
    stage_->apply(in, out, arithmetic, worker);
  }
  void apply_fused(const PointwiseOp* mark, const PointwiseOp* store, const ConstRegion& in,
                   const Region& out, Arithmetic arithmetic, Worker& worker) const override {
    hook_(calls_++);
    stage_->apply_fused(mark, store, in, out, arithmetic, worker);
  }
  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    stage_->apply_reference(in, out, arithmetic);
  }
  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, const Epilogue& epilogue) const override {
    (device_hook_ ? device_hook_ : hook_)(calls_++);
    stage_->enqueue(in, out, arithmetic, arena, stream, epilogue);
  }

 private:
  /// The hook would not be called for a stage that is fused with the previous one.
  static StageDeclaration unfused(StageDeclaration declaration) {
    declaration.traits.pointwise.reset();
    return declaration;
  }

  StagePtr stage_;
  Hook hook_, device_hook_;
  mutable std::atomic<std::int64_t> calls_ = 0;
};

/// Counts allocated bytes, and throws std::bad_alloc at allocation number `fail_at`.
class FailingMemory final : public std::pmr::memory_resource {
 public:
  explicit FailingMemory(std::int64_t fail_at = -1, std::pmr::memory_resource* upstream = page_resource())
      : fail_at_(fail_at), upstream_(upstream) {}
  std::int64_t allocated_bytes() const noexcept { return allocated_bytes_; }
  std::int64_t peak_bytes() const noexcept { return peak_bytes_; }
  std::int64_t allocations() const noexcept { return allocations_; }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (allocations_++ == fail_at_) throw std::bad_alloc();
    void* const memory = upstream_->allocate(bytes, alignment);
    const std::int64_t allocated = allocated_bytes_ += static_cast<std::int64_t>(bytes);
    for (std::int64_t peak = peak_bytes_;
         allocated > peak && !peak_bytes_.compare_exchange_weak(peak, allocated);) {
    }
    return memory;
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
    allocated_bytes_ -= static_cast<std::int64_t>(bytes);
    upstream_->deallocate(memory, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::int64_t fail_at_;
  std::pmr::memory_resource* upstream_;
  std::atomic<std::int64_t> allocations_ = 0;
  std::atomic<std::int64_t> allocated_bytes_ = 0;
  std::atomic<std::int64_t> peak_bytes_ = 0;
};

}  // namespace sepconv::test
