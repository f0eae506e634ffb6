#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "../support/null_io.hpp"
#include "pipeline/machine/machine_model.hpp"
#include "pipeline/plan/plan.hpp"

using namespace sepconv;
using Catch::Contains;

namespace {

constexpr std::int64_t kMuch = std::int64_t{4} << 30;

Prediction predicted(const PlanOptions& options, const char* stage = "gaussian:sigma=2",
                     const SourceLayout& from = {}, const SinkLayout& to = {}) {
  const ImageSpec spec{{8192, 8192}, 1, PixelType::u8};
  return plan(test::PaperReader(spec, from), test::PaperWriter(spec, to), Chain::parse({stage}), options)
      .predicted;
}

}  // namespace

TEST_CASE(
    "a step takes its bytes or multiply-adds over the model's rate, and the whole at least the longest "
    "step") {
  PlanOptions options{.max_memory_bytes = kMuch, .threads = 4};
  options.machine.files.read_rate = 1e9;
  options.machine.files.write_rate = 0.25e9;
  const Prediction one = predicted(options);
  const double bytes = 8192.0 * 8192;
  CHECK(one.read == Approx(bytes / 4e9));
  CHECK(one.write == Approx(bytes / 0.25e9));
  CHECK(one.total >= one.write);
  CHECK(one.total <= one.read + one.compute + one.write);
  CHECK(one.start == 0);
  CHECK((one.upload == 0 && one.download == 0));

  options.machine.files.write_rate /= 4;
  CHECK(predicted(options).write == Approx(4 * one.write));
  options.machine.host.fma_seconds *= 4;
  CHECK(predicted(options, "gaussian:sigma=20").compute >
        3 * predicted({.max_memory_bytes = kMuch, .threads = 4}, "gaussian:sigma=20").compute);
}

TEST_CASE("with one slot nothing overlaps") {
  const Prediction one = predicted({.max_memory_bytes = kMuch, .threads = 4, .slots = 1});
  CHECK(one.total == Approx(one.read + one.compute + one.write));
}

TEST_CASE("codecs take their own rates on as many threads as code at once") {
  const PlanOptions options{.max_memory_bytes = kMuch, .threads = 16};
  const auto reading = [&](const SourceLayout& layout) { return predicted(options, "abs", layout).read; };
  const double deflate = reading({.block = {512, 512}, .codec = "deflate"});
  CHECK(deflate == Approx(8192.0 * 8192 / 16 / 600e6));
  CHECK(reading({.block = {512, 512}, .codec = "zstd"}) < deflate);
  CHECK(reading({.block = {512, 512}, .codec = "something new"}) == Approx(deflate));
  // Decoded as a whole, and 17 strips for 16 threads.
  CHECK(reading({.block = {8192, 8192}, .streams = false, .codec = kPicture}) ==
        Approx(8192.0 * 8192 / 150e6));
  CHECK(reading({.block = {1, 1}, .codec = kInMemory}) < 0.3 * deflate);
  const auto writing = [&](const char* codec) {
    return predicted(options, "abs", {}, {.block = {512, 512}, .codec = codec}).write;
  };
  CHECK(writing("deflate") == Approx(8192.0 * 8192 / 16 / 90e6));
  for (const char* const fast : {"deflate:fast", "zstd:fast"})
    CHECK(writing(fast) == Approx(8192.0 * 8192 / 16 / 800e6));
  CHECK(writing("deflate:6") == Approx(writing("deflate")));
  CHECK(writing("deflate:12") > 6 * writing("deflate"));
  CHECK(writing("zstd:1") == Approx(writing("zstd")));
  CHECK(writing("zstd:22") > 50 * writing("zstd"));
}

TEST_CASE("the prediction is in what people and programs read of a plan") {
  const ImageSpec spec{{100, 100}, 1, PixelType::u8};
  const test::PaperReader source(spec, {});
  const test::PaperWriter sink(spec, {});
  const Plan made = plan(source, sink, Chain::parse({"abs"}));
  CHECK_THAT(describe(made, source, sink), Contains("predicted  " + to_string(made.predicted)));
  CHECK(to_string({.read = 0.5, .write = 1, .total = 1.25}) == "1.25 s: read 0.50 s, write 1.00 s");
}

TEST_CASE("a machine is what was measured of it, and the default of what was not") {
  const MachineModel usual;
  const auto same = [](const std::vector<MachineRate>& a, const std::vector<MachineRate>& b) {
    return std::ranges::equal(a, b, {}, &MachineRate::value, &MachineRate::value);
  };
  CHECK(same(host_model_values(model_from_limits({})), host_model_values(usual)));
  CHECK(same(device_model_values(model_from_limits({})), device_model_values(usual)));
  const MachineModel made = model_from_limits({.threads = 4,
                                        .host = {.copy_bytes_per_second = 8e9, .fma_per_second = 4e9},
                                        .fma_f64_per_second = 1e9,
                                        .device = {.upload_bytes_per_second = 1e9,
                                                   .duplex_bytes_per_second = 2e9,
                                                   .copy_bytes_per_second = 3e9,
                                                   .fma_f32_per_second = 4e9,
                                                   .fma_f64_per_second = 1e9}});
  CHECK(made.host.copy_rate == 2e9);
  CHECK(made.host.max_copy_rate == 8e9);
  CHECK(made.host.fma_seconds == Approx(1e-9 / 0.75));
  CHECK(made.host.wide == 4);
  CHECK(made.bus.one_way_rate == Approx(0.97e9));
  CHECK(made.bus.both_ways_rate == Approx(1.94e9));
  CHECK(made.device.copy_rate == 3e9);
  CHECK(made.device.fma_seconds == Approx(0.25e-9 / 0.75));
  CHECK(made.device.wide == 4);
  for (const BlockCodec of :
       {BlockCodec::zlib, BlockCodec::gzip, BlockCodec::zstd, BlockCodec::lz4, BlockCodec::jpeg}) {
    CHECK(usual.device.codec(of).codec == of);
    const double times = 3e9 / usual.device.copy_rate;
    CHECK(made.device.codec(of).decode_rate == Approx(times * usual.device.codec(of).decode_rate));
    CHECK(made.device.codec(of).wide_decode_rate == Approx(times * usual.device.codec(of).wide_decode_rate));
    CHECK(made.device.codec(of).encode_rate == Approx(times * usual.device.codec(of).encode_rate));
  }
  CHECK(usual.device.codec(BlockCodec::zstd).decode_rate < usual.device.codec(BlockCodec::zlib).decode_rate);
  for (const MachineRate& figure : host_model_values(made))
    CHECK((figure.name.starts_with("host.") || figure.name.starts_with("files.")));
  const MachineModel coder = model_from_limits({.codecs = {{"zstd:fast", 3e9, 0}, {"deflate", 0, 2e9}}});
  for (const FileModel::Codec& codec : coder.files.codecs) {
    const FileModel::Codec& before =
        usual.files.codecs[static_cast<std::size_t>(&codec - coder.files.codecs.data())];
    CHECK(codec.decode_rate == (codec.name == "zstd:fast" ? 1.5e9 : before.decode_rate));
    CHECK(codec.encode_rate == (codec.name == "deflate" ? 1e9 : before.encode_rate));
  }
}

TEST_CASE("a measured machine is a machine, and plans are made by it") {
  const MachineModel machine = measure_machine(1);
  CHECK(machine.host.copy_rate > 1e8);
  CHECK(machine.host.fma_seconds > 1e-13);
  CHECK(machine.host.fma_seconds < 1e-8);
  CHECK(machine.host.wide > 0.5);
  for (const MachineRate& figure : host_model_values(machine)) CHECK(figure.value > 0);
  CHECK(predicted({.max_memory_bytes = kMuch, .threads = 1, .machine = machine}).total > 0);
}
