// Stages whose footprint depends on where the output lies: slots and scratch have room for every band and
// tile.
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

/// Row y of the result is row y^2 / rows of the input: a band of h rows needs about 2 h y / rows of them.
class Squeeze final : public Stage {
 public:
  Squeeze() : Stage({.runs_on_device = true}) {}
  std::string text() const override { return "squeeze"; }
  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    const std::int64_t first = from(output.row, input.extent.rows);
    const std::int64_t last = from(output.row_end() - 1, input.extent.rows);
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
               std::span<const PointwiseOp> then) const override {
    each_row(in, out, [&](const ConstPixelView& row, const PixelView& to) {
      pointwise_cuda({}, row, row, to, arithmetic, stream, then);
    });
  }

 private:
  static std::int64_t from(std::int64_t row, std::int64_t rows) { return row * row / rows; }

  template <class Copy>
  static void each_row(const ConstRegion& in, const Region& out, const Copy& copy) {
    for (std::int64_t row = out.rect.row; row < out.rect.row_end(); ++row) {
      copy(in.crop({from(row, in.image.rows), out.rect.col, 1, out.rect.cols}).pixels,
           out.crop({row, out.rect.col, 1, out.rect.cols}).pixels);
    }
  }
};

/// Every other row.
class Halve final : public Stage {
 public:
  explicit Halve(bool changes_size) : Stage({.scales = scales}) {}
  std::string text() const override { return "halve"; }
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
      const ConstPixelView from = in.crop({2 * row, out.rect.col, 1, out.rect.cols}).pixels;
      pointwise_reference({}, from, from, out.crop({row, out.rect.col, 1, out.rect.cols}).pixels, arithmetic);
    }
  }
};

/// Memory with a frame of poison around every block; counts the frames that were damaged.
class Framed final : public std::pmr::memory_resource {
 public:
  explicit Framed(std::pmr::memory_resource* upstream) : upstream_(upstream) {}
  int damaged() const noexcept { return damaged_; }

 private:
  static constexpr std::size_t kFrame = 4096;

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    auto* const memory = static_cast<std::byte*>(upstream_->allocate(bytes + 2 * kFrame, alignment));
    std::memset(memory, 0x5A, bytes + 2 * kFrame);
    return memory + kFrame;
  }
  void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
    auto* const memory = static_cast<std::byte*>(block) - kFrame;
    for (std::size_t i = 0; i < kFrame; ++i) {
      if (memory[i] != std::byte{0x5A} || memory[kFrame + bytes + i] != std::byte{0x5A}) {
        ++damaged_;
        break;
      }
    }
    upstream_->deallocate(memory, bytes + 2 * kFrame, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::pmr::memory_resource* upstream_;
  int damaged_ = 0;
};

const ImageSpec kWide{{600, 200}, 3, PixelType::u16};

Chain squeezing() {
  return Chain({parse_stage("box:radius=3"), std::make_shared<Squeeze>(), parse_stage("gaussian:sigma=1")});
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
  run_whole_image(*source.reader(), *expected.writer(), squeezing());
  const Image streamed(kWide);
  run(*source.reader(), *streamed.writer(), squeezing(), options);
  CHECK(streamed == expected);
}

/// A plan whose slots lost a row is an error in every build.
void check_refused(const RunOptions& options) {
  const Image source = Image::of_pattern(kWide, Pattern::noise, 5);
  const Image result(kWide);
  const auto reader = source.reader();
  const auto writer = result.writer();
  Plan plan = sepconv::plan(*reader, *writer, squeezing(), options);
  plan.slot_input_bytes -= kWide.row_bytes();
  CHECK_THROWS_AS(run(*reader, *writer, plan, options), std::logic_error);
}

}  // namespace

#ifndef SEPCONV_SIMULATED_GPU
TEST_CASE("a footprint that grows with the row is streamed within its slots") {
  Framed memory(page_resource());
  RunOptions options = small_bands({});
  options.memory = &memory;
  check_equals_whole_image(options);
  CHECK(memory.damaged() == 0);
}

TEST_CASE("the ceiling counts the largest band, not the one in the middle") {
  const Image source(kWide);
  const auto reader = source.reader();
  const auto writer = source.writer();
  PlanOptions options = small_bands({});
  options.threads = 1;
  options.band_cols = kWide.extent.cols;
  const Plan plan = sepconv::plan(*reader, *writer, squeezing(), options);
  const auto buffered_bytes = [&](std::int64_t band) {
    return plan.chain.input_for(plan.band_rect(band), plan.source()).area() * kWide.pixel_bytes();
  };
  std::int64_t most = 0;
  for (std::int64_t band = 0; band < plan.band_count(); ++band) most = std::max(most, buffered_bytes(band));
  CHECK(plan.slot_input_bytes == most);
  CHECK(plan.slot_input_bytes > buffered_bytes(plan.band_count() / 2) * 5 / 4);

  options.max_memory_bytes = plan.memory.total();
  CHECK(sepconv::plan(*reader, *writer, squeezing(), options).memory.total() == plan.memory.total());
  options.max_memory_bytes = plan.memory.total() - 1;
  CHECK_THROWS_WITH(sepconv::plan(*reader, *writer, squeezing(), options),
                    Catch::Contains("raise PlanOptions::max_memory_bytes to " +
                                    std::to_string((plan.memory.total() + 1023) / 1024) + "K"));
}

TEST_CASE("rows that a stage scales away are no halo") {
  const Image source = Image::of_pattern(kWide, Pattern::noise, 6);
  const Image result({{300, 200}, 3, PixelType::u16});
  const auto has_halo = [&](bool changes_size) {
    const Chain chain({std::make_shared<Halve>(scales)});
    const RunReport report = run(*source.reader(), *result.writer(), chain, small_bands({}));
    return std::ranges::any_of(report.plan.notes, [](const std::string& note) {
      return note.find("halo of 20 source rows") != std::string::npos;
    });
  };
  CHECK(has_halo(false));
  CHECK_FALSE(has_halo(true));
  const Chain chain({std::make_shared<Halve>(true)});
  const Image expected(result.spec());
  run_whole_image(*source.reader(), *expected.writer(), chain);
  CHECK(result == expected);
}

TEST_CASE("a band that its slot has no room for is an error") { check_refused(small_bands({})); }

namespace {

/// A copy whose input_for() names other pixels than apply() reads.
class Lying final : public Stage {
 public:
  explicit Lying(Rect (*named)(const Rect&)) : named_(named) {}
  std::string text() const override { return "lying"; }
  Rect input_for(const Rect& output, const ImageSpec&) const override { return named_(output); }
  void apply(const ConstRegion& in, const Region& out, Arithmetic, Worker&) const override {
    copy_pixels(in.crop(out.rect).pixels, out.pixels);
  }
  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic) const override {
    copy_pixels(in.crop(out.rect).pixels, out.pixels);
  }

 private:
  Rect (*named_)(const Rect&);
};

}  // namespace

TEST_CASE("a stage that reads other pixels than it names is an error") {
  const Image source = Image::of_pattern(kWide, Pattern::noise, 6);
  const Image result(kWide);
  const auto message = [&](Rect (*named)(const Rect&)) {
    const Chain chain({std::make_shared<Lying>(named)});
    try {
      run(*source.reader(), *result.writer(), chain, small_bands({}));
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK(message([](const Rect& output) { return output; }) == "no error");
  const std::string outside = "requested pixels are outside the view";
  CHECK_THAT(message([](const Rect& out) {
               return Rect{out.row, out.col, out.rows, out.cols - 1};
             }),
             Catch::StartsWith(outside));
  CHECK_THAT(message([](const Rect&) { return Rect{0, 0, 1, 1}; }), Catch::StartsWith(outside));
  CHECK_THAT(message([](const Rect& out) {
               return Rect{out.row + 100000, out.col, out.rows, out.cols};
             }),
             Catch::StartsWith(outside));
  const std::string none = "input_for() of the stage lying names no pixels";
  CHECK_THAT(message([](const Rect& out) { return Rect{out.row, out.col, 0, 0}; }), Catch::StartsWith(none));
  CHECK_THAT(message([](const Rect& out) {
               return Rect{out.row, out.col, -3, out.cols};
             }),
             Catch::StartsWith(none));
}
#else
TEST_CASE("a footprint that grows with the row is streamed within its slots on a GPU", "[gpu]") {
  Framed memory(device_resource());
  Framed pinned(pinned_resource());
  RunOptions options = small_bands({0});
  options.device_memory = &memory;
  options.pinned_memory = &pinned;
  check_equals_whole_image(options);
  CHECK(memory.damaged() == 0);
  CHECK(pinned.damaged() == 0);
}

TEST_CASE("a band that its slot on a GPU has no room for is an error", "[gpu]") {
  check_refused(small_bands({0}));
}
#endif
