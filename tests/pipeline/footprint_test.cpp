// Stages whose footprint depends on the output's position: slots and scratch are large enough for every band
// and tile.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <stdexcept>

#include "../support/gpu.hpp"
#include "../support/image.hpp"
#include "core/error.hpp"
#include "kernels/pointwise/pointwise.hpp"
#include "pipeline/run/run.hpp"

using namespace sepconv;
using test::Image;

namespace {

/// Row y of the result is row y^2 / rows of the input, so a band of h rows at row y needs about 2 h y / rows
/// input rows.
class SqueezeRows final : public Stage {
 public:
  SqueezeRows() : Stage({.text = "squeeze", .properties = {.runs_on_device = true}}) {}
  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    const std::int64_t first = source_row(output.row, input.extent.rows);
    const std::int64_t last = source_row(output.row_end() - 1, input.extent.rows);
    return {first, output.col, last + 1 - first, output.cols};
  }
  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker&) const override {
    apply_reference(in, out, arithmetic);
  }
  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    each_row(in, out, [&](const ConstPixelView& row, const PixelView& to) {
      pointwise_reference({}, row, row, to, arithmetic);
    });
  }
  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena&, DeviceStream stream,
               const Epilogue& epilogue) const override {
    each_row(in, out, [&](const ConstPixelView& row, const PixelView& to) {
      pointwise_device({}, row, row, to, arithmetic, stream, epilogue.ops);
    });
  }

 private:
  static std::int64_t source_row(std::int64_t row, std::int64_t rows) { return row * row / rows; }

  template <class Copy>
  static void each_row(const ConstRegion& in, const Region& out, const Copy& copy) {
    for (std::int64_t row = out.rect.row; row < out.rect.row_end(); ++row) {
      copy(in.crop({source_row(row, in.image.rows), out.rect.col, 1, out.rect.cols}).pixels,
           out.crop({row, out.rect.col, 1, out.rect.cols}).pixels);
    }
  }
};

/// Keeps every other row.
class HalveRows final : public Stage {
 public:
  explicit HalveRows(bool changes_size)
      : Stage({.text = "halve", .traits = {.changes_size = changes_size}}) {}
  ImageSpec output_spec(const ImageSpec& input) const override {
    return {{input.extent.rows / 2, input.extent.cols}, input.channels, input.type};
  }
  Rect input_for(const Rect& output, const ImageSpec&) const override {
    return {2 * output.row, output.col, 2 * output.rows, output.cols};
  }
  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker&) const override {
    apply_reference(in, out, arithmetic);
  }
  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    for (std::int64_t row = out.rect.row; row < out.rect.row_end(); ++row) {
      const ConstPixelView source_row = in.crop({2 * row, out.rect.col, 1, out.rect.cols}).pixels;
      pointwise_reference({}, source_row, source_row, out.crop({row, out.rect.col, 1, out.rect.cols}).pixels,
                          arithmetic);
    }
  }
};

/// Memory with guard bytes around every block; counts the blocks whose guard bytes were overwritten.
class GuardedMemory final : public std::pmr::memory_resource {
 public:
  explicit GuardedMemory(std::pmr::memory_resource* upstream) : upstream_(upstream) {}
  int damaged_blocks() const noexcept { return damaged_blocks_; }

 private:
  static constexpr std::size_t kGuardBytes = 4096;

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    auto* const memory = static_cast<std::byte*>(upstream_->allocate(bytes + 2 * kGuardBytes, alignment));
    std::memset(memory, 0x5A, bytes + 2 * kGuardBytes);
    return memory + kGuardBytes;
  }
  void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
    auto* const memory = static_cast<std::byte*>(block) - kGuardBytes;
    for (std::size_t i = 0; i < kGuardBytes; ++i) {
      if (memory[i] != std::byte{0x5A} || memory[kGuardBytes + bytes + i] != std::byte{0x5A}) {
        ++damaged_blocks_;
        break;
      }
    }
    upstream_->deallocate(memory, bytes + 2 * kGuardBytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::pmr::memory_resource* upstream_;
  int damaged_blocks_ = 0;
};

const ImageSpec kWide{{600, 200}, 3, PixelType::u16};

Chain squeeze_chain() {
  return Chain(
      {parse_stage("box:radius=3"), std::make_shared<SqueezeRows>(), parse_stage("gaussian:sigma=1")});
}

RunOptions small_bands(std::vector<int> devices) {
  RunOptions options;
  options.slots = 2;
  options.threads = 2;
  options.band_rows = 20;
  options.tile = {7, 50};
  options.devices = std::move(devices);
  options.max_memory_bytes = 64 << 20;
  options.max_device_memory_bytes = 64 << 20;
  return options;
}

void check_equals_whole_image(const RunOptions& options) {
  const Image source = Image::of_pattern(kWide, Pattern::noise, 5);
  const Image expected(kWide);
  run_whole_image(*source.reader(), *expected.writer(), squeeze_chain());
  const Image streamed(kWide);
  run(*source.reader(), *streamed.writer(), squeeze_chain(), options);
  CHECK(streamed == expected);
}

/// A plan whose slots are one row too small is an error in every build.
void check_refused(const RunOptions& options) {
  const Image source = Image::of_pattern(kWide, Pattern::noise, 5);
  const Image result(kWide);
  const auto reader = source.reader();
  const auto writer = result.writer();
  Plan plan = sepconv::plan(*reader, *writer, squeeze_chain(), options);
  plan.slot_input_bytes -= kWide.row_bytes();
  CHECK_THROWS_AS(run(*reader, *writer, plan, options), std::logic_error);
}

}  // namespace

#ifndef SEPCONV_SIMULATED_GPU
TEST_CASE("a footprint that grows with the row is streamed within its slots") {
  GuardedMemory memory(page_resource());
  RunOptions options = small_bands({});
  options.memory = &memory;
  check_equals_whole_image(options);
  CHECK(memory.damaged_blocks() == 0);
}

TEST_CASE("the ceiling counts the largest band, not the one in the middle") {
  const Image source(kWide);
  const auto reader = source.reader();
  const auto writer = source.writer();
  PlanOptions options = small_bands({});
  options.threads = 1;
  options.band_cols = kWide.extent.cols;
  const Plan plan = sepconv::plan(*reader, *writer, squeeze_chain(), options);
  const auto buffered_bytes = [&](std::int64_t band) {
    return plan.chain.input_for(plan.band_rect(band), plan.source()).area() * kWide.pixel_bytes();
  };
  std::int64_t max_bytes = 0;
  for (std::int64_t band = 0; band < plan.band_count(); ++band)
    max_bytes = std::max(max_bytes, buffered_bytes(band));
  CHECK(plan.slot_input_bytes == max_bytes);
  CHECK(plan.slot_input_bytes > buffered_bytes(plan.band_count() / 2) * 5 / 4);

  options.max_memory_bytes = plan.memory.total();
  CHECK(sepconv::plan(*reader, *writer, squeeze_chain(), options).memory.total() == plan.memory.total());
  options.max_memory_bytes = plan.memory.total() - 1;
  CHECK_THROWS_WITH(sepconv::plan(*reader, *writer, squeeze_chain(), options),
                    Catch::Contains("raise PlanOptions::max_memory_bytes to " +
                                    std::to_string((plan.memory.total() + 1023) / 1024) + "K"));
}

TEST_CASE("rows that a downscaling stage skips are not counted as halo") {
  const Image source = Image::of_pattern(kWide, Pattern::noise, 6);
  const Image result({{300, 200}, 3, PixelType::u16});
  const auto has_halo = [&](bool scales) {
    const Chain chain({std::make_shared<HalveRows>(scales)});
    const RunReport report = run(*source.reader(), *result.writer(), chain, small_bands({}));
    return std::ranges::any_of(report.plan.notes, [](const std::string& note) {
      return note.find("halo of 20 source rows") != std::string::npos;
    });
  };
  CHECK(has_halo(false));
  CHECK_FALSE(has_halo(true));
  const Chain chain({std::make_shared<HalveRows>(true)});
  const Image expected(result.spec());
  run_whole_image(*source.reader(), *expected.writer(), chain);
  CHECK(result == expected);
}

TEST_CASE("a band that its slot has no room for is an error") { check_refused(small_bands({})); }

namespace {

/// A copy stage whose input_for() returns other pixels than apply() reads.
class WrongFootprint final : public Stage {
 public:
  explicit WrongFootprint(Rect (*claimed_input)(const Rect&))
      : Stage({.text = "lying"}), claimed_input_(claimed_input) {}
  Rect input_for(const Rect& output, const ImageSpec&) const override { return claimed_input_(output); }
  void apply(const ConstRegion& in, const Region& out, Arithmetic, Worker&) const override {
    copy_pixels(in.crop(out.rect).pixels, out.pixels);
  }
  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic) const override {
    copy_pixels(in.crop(out.rect).pixels, out.pixels);
  }

 private:
  Rect (*claimed_input_)(const Rect&);
};

}  // namespace

TEST_CASE("a stage that reads other pixels than input_for() returns is an error") {
  const Image source = Image::of_pattern(kWide, Pattern::noise, 6);
  const Image result(kWide);
  const auto message = [&](Rect (*claimed_input)(const Rect&)) {
    const Chain chain({std::make_shared<WrongFootprint>(claimed_input)});
    try {
      run(*source.reader(), *result.writer(), chain, small_bands({}));
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK(message([](const Rect& output) { return output; }) == "no error");
  const std::string outside_view = "requested pixels are outside the view";
  CHECK_THAT(message([](const Rect& out) {
               return Rect{out.row, out.col, out.rows, out.cols - 1};
             }),
             Catch::StartsWith(outside_view));
  CHECK_THAT(message([](const Rect&) { return Rect{0, 0, 1, 1}; }), Catch::StartsWith(outside_view));
  CHECK_THAT(message([](const Rect& out) {
               return Rect{out.row + 100000, out.col, out.rows, out.cols};
             }),
             Catch::StartsWith(outside_view));
  const std::string no_pixels = "input_for() of the stage lying names no pixels";
  CHECK_THAT(message([](const Rect& out) {
               return Rect{out.row, out.col, 0, 0};
             }),
             Catch::StartsWith(no_pixels));
  CHECK_THAT(message([](const Rect& out) {
               return Rect{out.row, out.col, -3, out.cols};
             }),
             Catch::StartsWith(no_pixels));
}
#else
TEST_CASE("a footprint that grows with the row is streamed within its slots on a GPU", "[gpu]") {
  GuardedMemory memory(device_resource());
  GuardedMemory pinned(pinned_resource());
  RunOptions options = small_bands({0});
  options.device_memory = &memory;
  options.pinned_memory = &pinned;
  check_equals_whole_image(options);
  CHECK(memory.damaged_blocks() == 0);
  CHECK(pinned.damaged_blocks() == 0);
}

TEST_CASE("a band that does not fit its slot on a GPU is an error", "[gpu]") {
  check_refused(small_bands({0}));
}
#endif
