// The summary of a run: numbers that can be checked by hand, in text and in JSON.
#include "pipeline/report/report.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/byte_text.hpp"
#include "core/error.hpp"
#include "core/memory.hpp"
#include "pipeline/job/plan_json.hpp"
#include "pipeline/machine/host_resources.hpp"
#include "pipeline/machine/min_time.hpp"
#include "pipeline/report/html_report.hpp"
#include "pipeline/report/step_facts.hpp"

using namespace sepconv;
using Catch::Matchers::Contains;

namespace {

/// A run on 1000 x 1000 pixels, u8 to u16, in 4 bands.
RunReport sample_report() {
  RunReport report;
  report.plan.specs = {{{1000, 1000}, 1, PixelType::u8}, {{1000, 1000}, 1, PixelType::u16}};
  report.plan.band = {250, 1000};
  report.plan.slots = 3;
  report.plan.region = {0, 0, 1000, 1000};
  report.bands = {0, 4};
  report.pixels = 1'000'000;
  report.plan.max_memory_bytes = 64 << 20;
  report.plan.memory = {.slots = 1000, .scratch = 200, .source = 30, .sink = 4};
  report.plan.notes = {"a note"};
  report.wall_seconds = 2;
  report.steps = {{"read", 0.5, 0.25, 1'000'000, 0},
                  {"compute", 1, 0.5, 3'000'000, 5e9},
                  {"write", 0.5, 0.5, 2'000'000, 0}};
  report.bottleneck = "compute";
  report.device = "CPU, 2 threads, AVX3";
  report.source_codec = report.sink_codec = kUncompressed;
  return report;
}

constexpr RunLimits kLimits{.host = {.copy_bytes_per_second = 8e6, .fma_per_second = 1e10},
                            .file = {4e6, 5e6}};

}  // namespace

TEST_CASE("the summary names steps, rates, shares, the bottleneck and memory") {
  const std::string text = summary(sample_report(), kLimits);
  CHECK_THAT(text,
             Contains("2.00 s, 0.5 Mpix/s; 4 bands of 1000 x 250 pixels, 3 slots; CPU, 2 threads, AVX3"));
  CHECK_THAT(text,
             Contains("bottleneck: compute") && Contains("ceiling 64.0 MiB") && Contains("1.21 KiB planned"));
  // read: 1 MB in 0.5 s is 2 MB/s and 2 Mpix/s; at a file's 4 MB/s it takes 0.25 s, 50 % of 0.5 s; half of
  // the time was hidden.
  CHECK_THAT(text, Contains("read                0.50 s        2       2.0        50 %      50 %"));
  // compute: 5e9 of 1e10 operations a second are 0.5 s, and 3 MB at 8 MB/s 0.375 s: the larger is its limit.
  CHECK_THAT(text, Contains("compute             1.00 s        3       1.0        50 %      50 %"));
  // write: 2 MB of results are 1 Mpix; at a file's 5 MB/s they take 0.4 s.
  CHECK_THAT(text, Contains("write               0.50 s        4       2.0        80 %     100 %"));
  CHECK_THAT(text, Contains("files in memory read at 0.0 and one written at 0.0 GB/s"));
}

TEST_CASE("reading and writing are compared with the limit of their medium") {
  const auto limit_fractions = [](const RunReport& report, const RunLimits& limits) {
    const std::vector<StepFacts> steps = step_facts(report, limits);
    return std::pair(steps.front().share_of_limit, steps.back().share_of_limit);
  };
  RunReport report = sample_report();
  // Memory is read and written, at 8 MB/s in all.
  report.source_codec = report.sink_codec = kInMemory;
  CHECK(limit_fractions(report, kLimits) == std::pair(std::optional(0.5), std::optional(1.0)));
  // Many files can be written faster than one, and that rate is not measured.
  report.source_codec = report.sink_codec = kUncompressed;
  report.has_many_writers = true;
  CHECK(limit_fractions(report, kLimits) == std::pair(std::optional(0.5), std::optional<double>()));
  // If files could not be measured, no limit is given.
  const RunLimits memory{.host = {.copy_bytes_per_second = 8e6, .fma_per_second = 1e10}};
  CHECK(limit_fractions(report, memory) == std::pair(std::optional<double>(), std::optional<double>()));
  CHECK_THAT(limits_text(report.plan, memory), !Contains("files"));
}

TEST_CASE("the summary gives the gain by overlapping") {
  RunReport report = sample_report();
  // 0.75 of the 1 second of reading and writing was hidden; 2 seconds of work were done in 2 - 0.5.
  report.startup_seconds = 0.5;
  CHECK(overlap_of(report).copy_hidden == Approx(0.75));
  CHECK(overlap_of(report).speed_up == Approx(2 / 1.5));
  CHECK_THAT(summary(report, kLimits),
             Contains("overlap: 75 % of the copying hidden, 1.33 x one step at a time"));
}

TEST_CASE("one band overlaps with nothing, and more memory would not change that") {
  RunReport report = sample_report();
  report.bands = {0, 1};
  report.plan.slots = 1;
  report.wall_seconds = 3;  // the steps were busy for 2 of them
  for (StepReport& step : report.steps) step.hidden_seconds = 0;
  CHECK(overlap_of(report).speed_up == 1);
  CHECK_THAT(summary(report, kLimits), Contains("0 % of the copying hidden, 1.00 x one step at a time"));
  CHECK_THAT(advice(report, kLimits),
             Contains("the steps wait for each other: one band has no other to overlap."));
  report.bands = {0, 4};
  CHECK_THAT(advice(report, kLimits),
             Contains("with 1 slot fewer bands than steps are in hand; more memory"));
  report.plan.asked.slots = 1;
  CHECK_THAT(advice(report, kLimits),
             Contains("PlanOptions::slots sets that number") && !Contains("more memory"));
}

TEST_CASE("the summary of a run on a GPU compares it with the duplex bus rate and the device's rates") {
  RunReport report = sample_report();
  report.plan.devices = {0};
  report.device = "cuda:0 Some GPU";
  report.plan.device_memory = {.slots = 1 << 20, .scratch = 1 << 20};
  report.plan.max_device_memory_bytes = 1 << 30;
  report.steps = {{"read", 0.5, 0.25, 1'000'000, 0},
                  {"upload", 0.25, 0.25, 1'000'000, 0},
                  {"compute", 1, 0.5, 3'000'000, 5e9},
                  {"download", 0.5, 0.125, 2'000'000, 0},
                  {"write", 0.5, 0.5, 2'000'000, 0}};
  RunLimits limits = kLimits;
  limits.device = {.duplex_bytes_per_second = 8e6, .copy_bytes_per_second = 6e6, .fma_f32_per_second = 2e10};
  const std::string text = summary(report, limits);
  // upload: 1 MB at 8 MB/s is 0.125 s, half of 0.25 s; download: 2 MB are 1 Mpix, 0.25 s of 0.5 s.
  CHECK_THAT(text, Contains("upload              0.25 s        4       4.0        50 %     100 %"));
  CHECK_THAT(text, Contains("download            0.50 s        4       2.0        50 %      25 %"));
  // compute: 3 MB at 6 MB/s take 0.5 s, 5e9 of 2e10 operations a second 0.25 s.
  CHECK_THAT(text, Contains("compute             1.00 s        3       1.0        50 %      50 %"));
  CHECK_THAT(text, Contains("overlap: 50 % of the copying hidden"));
  CHECK_THAT(text, Contains("device memory: 2.00 MiB planned on each GPU, ceiling 1.00 GiB"));
  const auto json = nlohmann::json::parse(to_json(report, limits));
  CHECK(json.at("limits").at("device").at("duplex_bytes_per_second") == 8e6);
  CHECK(json.at("plan").at("cuda").at("memory_bytes").at("total") == 2 << 20);
}

TEST_CASE("a run too short for the clock has a summary without infinities") {
  RunReport report = sample_report();
  report.wall_seconds = 0;
  for (StepReport& step : report.steps) step.busy_seconds = step.hidden_seconds = 0;
  const std::string text = summary(report, RunLimits());
  CHECK_THAT(text, !Contains("inf") && !Contains("nan"));
}

TEST_CASE("a step that encodes or decodes has no limit") {
  RunReport report = sample_report();
  report.source_codec = "deflate";
  CHECK_THAT(summary(report, kLimits),
             Contains("read                0.50 s        2       2.0           -      50 %"));
  CHECK_THAT(summary(report, kLimits),
             Contains("write               0.50 s        4       2.0        80 %     100 %"));
  CHECK(nlohmann::json::parse(to_json(report, kLimits)).at("steps").at(0).at("share_of_limit").is_null());
  CHECK_THAT(advice(report, kLimits),
             Contains("Computing the chain is the bottleneck: busy for 1.00 s of 2.00 s"));
  report.sink_codec = kPicture;
  CHECK(nlohmann::json::parse(to_json(report, kLimits)).at("steps").at(2).at("share_of_limit").is_null());
  // If a device decodes, reading only copies the stored bytes.
  report.plan.devices = {0};
  report.plan.decoded.emplace();
  CHECK(nlohmann::json::parse(to_json(report, kLimits)).at("steps").at(0).at("share_of_limit") == 0.5);
}

TEST_CASE("limits are measured only for runs that are long enough") {
  RunReport report = sample_report();
  report.plan.threads = 1;
  const RunLimits limits = measure_limits(report);
  CHECK((limits.host.copy_bytes_per_second > 0 && limits.host.fma_per_second > 0));
  report.wall_seconds = 0.9;
  const RunLimits unmeasured = measure_limits(report);
  CHECK(unmeasured.host.copy_bytes_per_second == 0);
  CHECK_THAT(summary(report, unmeasured), Contains("limits: not measured"));
  const auto json = nlohmann::json::parse(to_json(report, unmeasured));
  for (const auto& step : json.at("steps")) CHECK(step.at("share_of_limit").is_null());
}

TEST_CASE("the JSON has the same facts and the plan") {
  const auto json = nlohmann::json::parse(to_json(sample_report(), kLimits));
  CHECK(json.at("wall_seconds") == 2.0);
  CHECK(json.at("bottleneck") == "compute");
  CHECK(json.at("steps").at(0).at("share_of_limit").get<double>() == Approx(0.5));
  CHECK(json.at("steps").at(1).at("operations") == 5e9);
  CHECK(json.at("plan").at("bands") == 4);
  CHECK(json.at("plan").at("memory_bytes").at("total") == 1234);
  CHECK(json.at("plan").at("specs").at(1).at("type") == "u16");
  CHECK(json.at("plan") == nlohmann::json::parse(to_json(sample_report().plan)));
}

TEST_CASE("the JSON has the spans of each step, and merges neighbours among many") {
  RunReport report = sample_report();
  report.timeline.record({"read", 1, 0.5, 0.75, 0});
  report.timeline.record({"read", 0, 0, 0.25, 0});
  report.timeline.record({"write", Span::kClosing, 1, 1.5, 0});
  auto steps = nlohmann::json::parse(to_json(report, kLimits)).at("steps");
  CHECK(steps.at(0).at("spans") == nlohmann::json::parse("[[0.0, 0.25, 0, 1], [0.5, 0.75, 1, 1]]"));
  CHECK(steps.at(1).at("spans").empty());
  CHECK(steps.at(2).at("spans") == nlohmann::json::parse("[[1.0, 1.5, null, 1]]"));
  for (int band = 0; band < 5000; ++band)
    report.timeline.record({"compute", band, 2.0 * band / 5000, 2.0 * (band + 1) / 5000, 0});
  steps = nlohmann::json::parse(to_json(report, kLimits)).at("steps");
  const auto& spans = steps.at(1).at("spans");
  CHECK(spans.size() <= 1000);
  std::int64_t bands = 0;
  for (const auto& span : spans) {
    CHECK(span.at(2) == bands);
    bands += span.at(3).get<std::int64_t>();
  }
  CHECK(bands == 5000);
}

TEST_CASE("the page has no end of its script within the JSON, and other JSON has no page") {
  const RunFacts facts{.source = "</script><!--<script>",
                       .result = "out",
                       .plan = {},
                       .of_source = {},
                       .of_result = {},
                       .command = "sepconv"};
  const std::string page = to_html(to_json(sample_report(), kLimits, &facts));
  const std::string plain = to_html(to_json(sample_report(), kLimits));
  const auto count = [](std::string_view text, std::string_view word) {
    int found = 0;
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++found;
    return found;
  };
  for (const char* word : {"<script", "</script", "<!--"}) CHECK(count(page, word) == count(plain, word));
  CHECK_THAT(page, Contains("\\u003c/script>"));
  CHECK_THROWS_WITH(to_html("{}", "x.json"), Contains("x.json is not the JSON of a run"));
  CHECK_THROWS_AS(to_html("{\"wall_seconds\": 1"), IoError);
}

TEST_CASE("bytes are shown with three digits and binary units") {
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(999) == "999 B");
  CHECK(format_bytes(1000) == "0.98 KiB");
  CHECK(format_bytes(1.5 * 1024 * 1024 * 1024) == "1.50 GiB");
  CHECK(format_bytes(256 << 20) == "256 MiB");
  CHECK(format_bytes(12.345 * 1024) == "12.3 KiB");
  CHECK(format_bytes(0x1p62) == "4096 PiB");
}

// Wide bounds, and no comparison of two rates: other work on this machine may slow either.
TEST_CASE("measured limits are those of a machine") {
  for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64}) {
    const HostRates one_thread_busy = measure_host_limits(1, arithmetic);
    CHECK(one_thread_busy.copy_bytes_per_second > 1e8);
    CHECK(one_thread_busy.copy_bytes_per_second < 1e13);
    CHECK(one_thread_busy.fma_per_second > 1e8);
    CHECK(one_thread_busy.fma_per_second < 1e13);
  }
  const PageCacheRate files = measure_file_limits(1, 16 << 20);
  for (const double rate : {files.read_bytes_per_second, files.write_bytes_per_second})
    CHECK((rate > 1e7 && rate < 1e13));
}

TEST_CASE("limits measured on a busy machine are marked as rough") {
  const RunReport report = sample_report();
  CHECK_THAT(limits_text(report.plan, kLimits), !Contains("busy"));
  CHECK(nlohmann::json::parse(to_json(report, kLimits)).at("limits").at("busy") == false);
  for (const bool files_busy : {false, true}) {
    RunLimits busy = kLimits;
    (files_busy ? busy.file.processor_share : busy.host.processor_share) = 0.43;
    CHECK_THAT(summary(report, busy),
               Contains("the machine was busy while they were measured (with a "
                        "processor for 43 % of that time): shares of limits are rough"));
    const auto limits = nlohmann::json::parse(to_json(report, busy)).at("limits");
    CHECK(limits.at("busy") == true);
    CHECK(limits.at("processor_share") == 0.43);
  }
}

TEST_CASE("measuring detects that its threads have no processor") {
  using namespace std::chrono_literals;
  ThreadPool pool(2);
  // A sleeping thread uses no processor, like a waiting one.
  const BestTime all_asleep = best_round(pool, [](int) { std::this_thread::sleep_for(1ms); });
  CHECK(all_asleep.seconds >= 1e-3);
  CHECK(was_busy(all_asleep.processor_share));
  // One thread sleeps in every round, and the round takes as long as it.
  const BestTime one_thread_busy = best_round(pool, [](int thread) {
    if (thread == 0) std::this_thread::sleep_for(1ms);
  });
  CHECK(was_busy(one_thread_busy.processor_share));
  CHECK_FALSE(was_busy(1));
}

TEST_CASE("measuring limits does not count in a run's peak memory") {
  RunReport report = sample_report();
  report.peak_rss_bytes = 3 << 20;
  CHECK_THAT(summary(report, measure_limits(report)), Contains("memory: 3.00 MiB at the peak"));
  CHECK(nlohmann::json::parse(to_json(report, kLimits)).at("peak_rss_bytes") == 3 << 20);
}

TEST_CASE("the report says which limits could not be measured") {
  RunReport report = sample_report();
  report.plan.devices = {0};
  CHECK_THAT(limits_text(report.plan, kLimits),
             Contains("the GPU's rates could not be measured") && !Contains("bus"));
  // The memory ceiling also applies to measuring.
  report.plan.devices.clear();
  report.plan.threads = 64;
  report.plan.max_memory_bytes = 4 << 20;
  CHECK(measure_limits(report).file.read_bytes_per_second > 0);
}

TEST_CASE("the peak of the resident set grows with memory that is touched") {
  const std::int64_t before = peak_rss_bytes();
  REQUIRE(before > 0);
  const std::int64_t bytes = before + (64 << 20);  // exceeds any earlier peak once all of it is resident
  const Buffer buffer(bytes);
  std::memset(buffer.data(), 1, static_cast<std::size_t>(bytes));
  CHECK(peak_rss_bytes() >= bytes);
}
