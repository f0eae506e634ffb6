#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "../support/null_io.hpp"
#include "pipeline/machine/machine_model.hpp"
#include "pipeline/plan/plan.hpp"

using namespace sepconv;
using Catch::Contains;

namespace {

constexpr std::int64_t kFourGib = std::int64_t{4} << 30;

Prediction predicted(const PlanOptions& options, const char* stage = "gaussian:sigma=2",
                     const SourceLayout& from = {}, const SinkLayout& to = {}) {
  const ImageSpec spec{{8192, 8192}, 1, PixelType::u8};
  return plan(test::NullReader(spec, from), test::NullWriter(spec, to), Chain::parse({stage}), options)
      .predicted;
}

}  // namespace

TEST_CASE(
    "a step takes its bytes or multiply-adds over the model's rate, and the whole at least the longest "
    "step") {
  PlanOptions options{.max_memory_bytes = kFourGib, .threads = 4};
  options.machine.files.read_rate = 1e9;
  options.machine.files.write_rate = 0.25e9;
  const Prediction prediction = predicted(options);
  const double bytes = 8192.0 * 8192;
  CHECK(prediction.read == Approx(bytes / 4e9));
  CHECK(prediction.write == Approx(bytes / 0.25e9));
  CHECK(prediction.total >= prediction.write);
  CHECK(prediction.total <= prediction.start + prediction.read + prediction.compute + prediction.write);
  CHECK(prediction.start == options.machine.host.start_seconds);
  CHECK((prediction.upload == 0 && prediction.download == 0));

  options.machine.files.write_rate /= 4;
  CHECK(predicted(options).write == Approx(4 * prediction.write));
  const auto mapped = [&] {
    return predicted(options, "gaussian:sigma=2", {}, {.max_write_threads = 6}).write;
  };
  CHECK(mapped() == Approx(bytes / options.machine.files.mapped_write_rate));
  options.threads = 2;  // one of them writes
  CHECK(mapped() == Approx(bytes / options.machine.files.write_rate));
  options.threads = 4;
  options.machine.host.fma_seconds *= 4;
  CHECK(predicted(options, "gaussian:sigma=20").compute >
        3 * predicted({.max_memory_bytes = kFourGib, .threads = 4}, "gaussian:sigma=20").compute);
}

TEST_CASE("with one slot nothing overlaps") {
  const Prediction prediction = predicted({.max_memory_bytes = kFourGib, .threads = 4, .slots = 1});
  CHECK(prediction.total ==
        Approx(prediction.start + prediction.read + prediction.compute + prediction.write));
}

TEST_CASE("codecs take their own rates on as many threads as code at once") {
  const PlanOptions options{.max_memory_bytes = kFourGib, .threads = 16};
  const auto reading = [&](const SourceLayout& layout) { return predicted(options, "abs", layout).read; };
  const double deflate = reading({.block = {512, 512}, .codec = "deflate"});
  CHECK(deflate == Approx(8192.0 * 8192 / 16 / MachineModel().files.codecs.front().decode_rate));
  CHECK(reading({.block = {512, 512}, .codec = "zstd"}) < deflate);
  CHECK(reading({.block = {512, 512}, .codec = "something new"}) == Approx(deflate));
  // Decoded as a whole by one thread.
  CHECK(reading({.block = {8192, 8192}, .streams = false, .codec = kPicture}) ==
        Approx(8192.0 * 8192 / 150e6));
  CHECK(reading({.block = {1, 1}, .codec = kInMemory}) < 0.3 * deflate);
  const auto writing = [&](const char* codec) {
    return predicted(options, "abs", {}, {.block = {512, 512}, .codec = codec}).write;
  };
  CHECK(writing("deflate") == Approx(8192.0 * 8192 / 16 / MachineModel().files.codecs.front().encode_rate));
  for (const char* const fast_codec : {"deflate:fast", "zstd:fast"})
    CHECK(writing(fast_codec) < 0.5 * writing("deflate"));
  CHECK(writing("deflate:6") == Approx(writing("deflate")));
  CHECK(writing("deflate:12") > 6 * writing("deflate"));
  CHECK(writing("zstd:1") == Approx(writing("zstd")));
  CHECK(writing("zstd:22") > 50 * writing("zstd"));
}

TEST_CASE("the prediction is in what people and programs read of a plan") {
  const ImageSpec spec{{100, 100}, 1, PixelType::u8};
  const test::NullReader source(spec, {});
  const test::NullWriter sink(spec, {});
  const Plan plan_result = plan(source, sink, Chain::parse({"abs"}));
  CHECK_THAT(describe(plan_result, source, sink), Contains("predicted  " + to_string(plan_result.predicted)));
  CHECK(to_string({.read = 0.5, .write = 1, .total = 1.25}) == "1.25 s: read 0.50 s, write 1.00 s");
}

TEST_CASE("a machine model has the measured rates, and defaults for the others") {
  const MachineModel default_model;
  const auto same = [](const std::vector<MachineRate>& a, const std::vector<MachineRate>& b) {
    return std::ranges::equal(a, b, {}, &MachineRate::value, &MachineRate::value);
  };
  CHECK(same(host_model_values(model_from_limits({})), host_model_values(default_model)));
  CHECK(same(device_model_values(model_from_limits({})), device_model_values(default_model)));
  const MachineModel plan_result =
      model_from_limits({.threads = 4,
                         .host = {.copy_bytes_per_second = 8e9, .fma_per_second = 4e9},
                         .fma_f64_per_second = 1e9,
                         .device = {.upload_bytes_per_second = 1e9,
                                    .duplex_bytes_per_second = 2e9,
                                    .copy_bytes_per_second = 3e9,
                                    .fma_f32_per_second = 4e9,
                                    .fma_f64_per_second = 1e9}});
  CHECK(plan_result.host.copy_rate == 2e9);
  CHECK(plan_result.host.max_copy_rate == 8e9);
  CHECK(plan_result.host.fma_seconds == Approx(1e-9 / 0.75));
  CHECK(plan_result.host.wide == 4);
  CHECK(plan_result.bus.one_way_rate == Approx(0.97e9));
  CHECK(plan_result.bus.both_ways_rate == Approx(1.94e9));
  CHECK(plan_result.device.copy_rate == 3e9);
  CHECK(plan_result.device.fma_seconds == Approx(0.25e-9 / 0.75));
  CHECK(plan_result.device.wide == 4);
  for (const BlockCodec codec_id :
       {BlockCodec::zlib, BlockCodec::gzip, BlockCodec::zstd, BlockCodec::lz4, BlockCodec::jpeg}) {
    CHECK(default_model.device.codec(codec_id).codec == codec_id);
    const double ratio = 3e9 / default_model.device.copy_rate;
    CHECK(plan_result.device.codec(codec_id).decode_rate ==
          Approx(ratio * default_model.device.codec(codec_id).decode_rate));
    CHECK(plan_result.device.codec(codec_id).wide_decode_rate ==
          Approx(ratio * default_model.device.codec(codec_id).wide_decode_rate));
    CHECK(plan_result.device.codec(codec_id).encode_rate ==
          Approx(ratio * default_model.device.codec(codec_id).encode_rate));
  }
  CHECK(default_model.device.codec(BlockCodec::zstd).decode_rate <
        default_model.device.codec(BlockCodec::zlib).decode_rate);
  for (const MachineRate& rate : host_model_values(plan_result))
    CHECK((rate.name.starts_with("host.") || rate.name.starts_with("files.")));
  const MachineModel codec_model =
      model_from_limits({.codecs = {{"zstd:fast", 3e9, 0}, {"deflate", 0, 2e9}}});
  for (const FileModel::Codec& codec : codec_model.files.codecs) {
    const FileModel::Codec& before =
        default_model.files.codecs[static_cast<std::size_t>(&codec - codec_model.files.codecs.data())];
    CHECK(codec.decode_rate == (codec.name == "zstd:fast" ? 1.5e9 : before.decode_rate));
    CHECK(codec.encode_rate == (codec.name == "deflate" ? 1e9 : before.encode_rate));
  }
}

TEST_CASE("a measured machine model is plausible and usable for plans") {
  const MachineModel machine = measure_machine(1);
  CHECK(machine.host.copy_rate > 1e8);
  CHECK(machine.host.fma_seconds > 1e-13);
  CHECK(machine.host.fma_seconds < 1e-8);
  CHECK(machine.host.wide > 0.5);
  for (const MachineRate& rate : host_model_values(machine)) CHECK(rate.value > 0);
  CHECK(predicted({.max_memory_bytes = kFourGib, .threads = 1, .machine = machine}).total > 0);
}
