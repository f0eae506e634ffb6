// Second images of stages: values, parts, every runner, memory ceilings, and refused arguments.
#include <catch2/catch.hpp>
#include <fstream>

#include "../support/fault_injection.hpp"
#include "../support/gpu.hpp"
#include "../support/image.hpp"
#include "../support/matrix_file.hpp"
#include "core/error.hpp"
#include "io/broadcast_reader.hpp"
#include "pipeline/run/apply.hpp"
#include "pipeline/run/device_filter.hpp"
#include "pipeline/run/run.hpp"
#include "pipeline/stages/stages.hpp"

using namespace sepconv;
using namespace sepconv::test;
using Catch::Contains;

namespace {

constexpr ImageSpec kSpec{{97, 131}, 3, PixelType::u16};

/// A chain with two second images in memory, stages with halos after them, and border=wrap.
struct TwoSecondaries {
  Image source = Image::of_pattern(kSpec, Pattern::noise, 1);
  Image offset_image = Image::of_pattern({kSpec.extent, 1, PixelType::u8}, Pattern::noise, 2);
  Image gain_row = Image::of_pattern({{1, 131}, 3, PixelType::f32}, Pattern::noise, 3);
  Chain chain = box({.radius = 2}) | subtract({.file = offset_image.view()}) |
                gaussian({.sigma = 2, .border = {BorderMode::wrap}}) |
                blend({.file = gain_row.view(), .alpha = 0.25}) | box({.radius = 1, .radius_y = 6}) |
                subtract({.chain = box({.radius = 3}) | sepconv::abs()});
  Image expected{chain.result_spec(kSpec)};

  TwoSecondaries() { run_whole_image(*source.reader(), *expected.writer(), chain); }

  Image streamed(const PlanOptions& options, ExecutionOptions execution = {}) const {
    Image actual(expected.spec());
    run(*source.reader(), *actual.writer(), chain, {options, execution});
    return actual;
  }
};

}  // namespace

TEST_CASE("second images in memory: a run in bands has the whole image's bytes") {
  const TwoSecondaries secondaries;
  CHECK(secondaries.streamed({.threads = 2, .band_rows = 7}) == secondaries.expected);
  CHECK(secondaries.streamed({.threads = 1, .slots = 1, .band_rows = 20, .band_cols = 31}) ==
        secondaries.expected);
}

TEST_CASE("second images in memory: parts of apply() are the whole image's") {
  const TwoSecondaries secondaries;
  const Image actual(secondaries.expected.spec());
  for (const Rect& part : {Rect{0, 0, 40, 131}, Rect{40, 0, 57, 60}, Rect{40, 60, 57, 71}})
    apply(secondaries.chain, ConstRegion::whole(secondaries.source.view()),
          Region::whole(actual.view()).crop(part), {});
  CHECK(actual == secondaries.expected);
}

TEST_CASE("the plan of a run with second images includes all of its memory") {
  const TwoSecondaries secondaries;
  FailingMemory memory;
  const Image actual(secondaries.expected.spec());
  const auto source = secondaries.source.reader();
  const auto sink = actual.writer();
  const Plan planned = plan(*source, *sink, secondaries.chain, {.threads = 2, .band_rows = 9});
  REQUIRE(planned.seconds.size() == 2);
  CHECK(planned.slot_secondary_bytes() > 0);
  run(*source, *sink, planned, {.memory = &memory});
  CHECK(memory.peak_bytes() == planned.memory.slots + planned.memory.scratch);
  CHECK(actual == secondaries.expected);
}

TEST_CASE("each row of a second image is read once on the CPU, halos of later stages included") {
  const MatrixFolder folder;
  const std::string file = folder.noise_image({kSpec.extent, 1, PixelType::f32}, 5);
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 1), actual(kSpec);
  const Chain chain = subtract({.file = file}) | box({.radius = 4});
  const Plan planned = plan(*source.reader(), *actual.writer(), chain, {.band_rows = 10});
  CHECK(planned.seconds.front().bytes_read == kSpec.extent.area() * 3 * 4);
  CHECK_THAT(planned.seconds.front().layout, Contains("TIFF"));
}

TEST_CASE("a GPU has second images beside the first", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const TwoSecondaries secondaries;
  for (const int slots : {1, 2, 3})
    CHECK(secondaries.streamed({.threads = 2, .slots = slots, .band_rows = 11, .devices = {0}}) ==
          secondaries.expected);
  CHECK(secondaries.streamed({.threads = 2, .band_rows = 30, .band_cols = 40, .devices = {0}}) ==
        secondaries.expected);
}

TEST_CASE("a device filter holds second images on its device", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const TwoSecondaries secondaries;
  const Stream stream;
  const DeviceFilter filter(secondaries.chain, kSpec);
  const DeviceImage in(secondaries.source.view(), stream.get());
  const Image actual(secondaries.expected.spec());
  const DeviceImage out(actual.view(), stream.get());
  filter.enqueue(in.view(), out.view(), stream.get());
  out.download(actual.view(), stream);
  CHECK(actual == secondaries.expected);
}

TEST_CASE("a broadcast reader repeats rows, columns and channels") {
  const auto value_at = [](std::int64_t row, std::int64_t col, std::int64_t channel) {
    return static_cast<std::uint16_t>(row * 100 + col * 10 + channel);
  };
  for (const std::int64_t rows : {1, 5}) {
    for (const std::int64_t cols : {1, 7}) {
      for (const std::int64_t channels : {1, 3}) {
        std::vector<std::uint16_t> part;
        for (std::int64_t i = 0; i < rows * cols * channels; ++i)
          part.push_back(value_at(i / channels / cols, i / channels % cols, i % channels));
        const auto reader = make_broadcast_reader(
            make_memory_reader(view_of(part.data(), {rows, cols}, channels)), {5, 7}, 3);
        std::vector<std::uint16_t> read(3 * 4 * 3);
        SerialExecutor executor;
        reader->read({1, 2, 3, 4}, view_of(read.data(), {3, 4}, 3), executor);
        for (std::int64_t i = 0; i < std::ssize(read); ++i)
          CHECK(read[static_cast<std::size_t>(i)] == value_at(rows == 1 ? 0 : 1 + i / 12,
                                                              cols == 1 ? 0 : 2 + i / 3 % 4,
                                                              channels == 1 ? 0 : i % 3));
      }
    }
  }
}

TEST_CASE("a second image that does not fit is an error that says what would") {
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 1);
  const auto refused = [&](const ImageSpec& spec, const std::string& message) {
    const Image second = Image::of_pattern(spec, Pattern::noise, 2);
    CHECK_THROWS_WITH(Chain(add({.file = second.view()})).result_spec(kSpec), Contains(message));
  };
  refused({{97, 130}, 3, PixelType::u8}, "does not fit an image of 97 rows x 131 columns");
  refused({{2, 131}, 3, PixelType::u8}, "one row, column or pixel");
  refused({{97, 131}, 2, PixelType::u8}, "of 2 channels");
}

TEST_CASE("a stage takes a second image or a chain, and the chain keeps its input's shape") {
  CHECK_THROWS_WITH(add({}), Contains("stage 'add' needs 'file'"));
  CHECK_THROWS_WITH(parse_stage("add:file=a.tif,chain=abs"), Contains("not both"));
  CHECK_THROWS_WITH(parse_stage("add:file=none.tif"), Contains("none.tif"));
  CHECK_THROWS_WITH(parse_stage("add:chain=transpose"), Contains("is not aligned with its input"));
  CHECK_THROWS_WITH(parse_stage("add:chain=[box | reduce:factor=2]"),
                    Contains("is not aligned with its input"));
  CHECK_THROWS_WITH(parse_stage("add:chain=gaussian:sigma=1,sigma_z=1"), Contains("no key 'sigma_z'"));
  CHECK_THROWS_WITH(parse_stage("add:chain=abs,axes=zyx"), Contains("it goes only with file"));
  CHECK_THROWS_WITH(parse_stage("add:chain=[box"), Contains("bracket"));
  std::string nested_text = "abs";
  for (int i = 0; i < 10000; ++i) nested_text = "add:chain=" + nested_text;
  CHECK_THROWS_WITH(parse_stage(nested_text), Contains("too many chains within"));
  CHECK_THROWS_WITH(parse_stage("add:chain=[nonsense]"), Contains("unknown stage 'nonsense'"));
  CHECK_THROWS_WITH(
      Chain::parse({"add:chain=[mix_channels:values=1,1]"}).result_spec({{3, 3}, 2, PixelType::u8}),
      Contains("keep the channels"));
  const double pixel = 1;
  const StagePtr add_stage = add({.file = view_of(&pixel, {1, 1})});
  CHECK_THROWS_WITH(parse_stage(add_stage->text()), Contains("pixels in memory have no text"));
}

TEST_CASE("texts with chains in brackets are split outside of brackets") {
  CHECK(split_chain(" a:b=1 | c:d=[e | f:g=[h | i]],j=2|k ") ==
        std::vector<std::string>{"a:b=1", "c:d=[e | f:g=[h | i]],j=2", "k"});
  const StageText text =
      StageText::split("add:chain=[box:radius=1,border=wrap | convolve:row=1,2,1],x=[2].tif");
  REQUIRE(text.pairs.size() == 2);
  CHECK(text.pairs[0].second == "[box:radius=1,border=wrap | convolve:row=1,2,1]");
  CHECK(text.pairs[1].second == "[2].tif");
  const std::string nested = parse_stage("max:chain=[subtract:chain=[box | abs] | abs]")->text();
  CHECK(parse_stage(nested)->text() == nested);
}
