// A plan's JSON is validated, and a plan can be run in part.
#include "pipeline/job/plan_json.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <nlohmann/json.hpp>

#include "../support/image.hpp"
#include "../support/small_run.hpp"
#include "core/error.hpp"
#include "io/rows.hpp"
#include "pipeline/chain/graph_tile.hpp"
#include "pipeline/run/apply.hpp"
#include "pipeline/run/run.hpp"

using namespace sepconv;
using namespace sepconv::test;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

const PlanOptions kOptions{.max_memory_bytes = 64 << 20, .threads = 2, .band_rows = 20};

/// A reader whose file has another modification time.
class ChangedReader final : public Reader {
 public:
  explicit ChangedReader(Reader& reader) : reader_(reader) {}
  const ImageSpec& spec() const noexcept override { return reader_.spec(); }
  const SourceLayout& layout() const noexcept override { return reader_.layout(); }
  const Metadata& metadata() const noexcept override { return reader_.metadata(); }
  std::int64_t buffer_bytes(int concurrency) const override { return reader_.buffer_bytes(concurrency); }
  std::int64_t stored_bytes() const noexcept override { return reader_.stored_bytes(); }
  std::int64_t changed_ns() const noexcept override { return 1; }
  void read(const Rect& rect, const PixelView& out, Executor& executor) override {
    reader_.read(rect, out, executor);
  }

 private:
  Reader& reader_;
};

struct Files {
  Image from = Image::of_pattern(kSpec, Pattern::noise, 1);
  Image to{kSpec};
  std::unique_ptr<Reader> source = from.reader();
  std::unique_ptr<Writer> sink = to.writer();
  std::string text = to_json(plan(*source, *sink, two_stages(), kOptions));

  /// The error of the plan's text after a change, or "".
  std::string error_of(const std::function<void(json&)>& change) const {
    json document = json::parse(text);
    change(document);
    return error_of(document.dump());
  }
  std::string error_of(const std::string& modified) const {
    try {
      plan(*source, *sink, parse_plan(modified));
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }
};

}  // namespace

TEST_CASE("a plan that is read back is the plan that was made") {
  const Files files;
  const auto& in = files.source;
  const auto& out = files.sink;
  const Chain chain = Chain::parse(parse_plan(files.text).stages);
  const std::string text = sepconv::to_json(sepconv::plan(*in, *out, chain));
  CHECK(json::parse(text).at("chain") == json::parse(files.text).at("chain"));

  const sepconv::PlanRecord record = sepconv::parse_plan(text);
  const sepconv::Plan read = sepconv::plan(*in, *out, record);
  const sepconv::RunReport report = sepconv::run(*in, *out, read);
  CHECK(report.plan.memory.total() == json::parse(text).at("memory_bytes").at("total"));
  const Image whole(kSpec);
  run_whole_image(*in, *whole.writer(), two_stages());
  CHECK(files.to == whole);
}

TEST_CASE("the requested options are kept besides the chosen values") {
  const Files files;
  const Plan reread = plan(*files.source, *files.sink, parse_plan(files.text));
  CHECK(to_json(reread) == files.text);
  CHECK(reread.asked.band_rows == 20);
  CHECK(reread.asked.slots == 0);
}

TEST_CASE("a plan of another version, source, sink or chain is refused by what differs") {
  const Files files;
  CHECK_THAT(files.error_of([](json& document) { document["sepconv"] = "0.0.1"; }),
             Contains("made by sepconv \"0.0.1\" and this is"));
  CHECK_THAT(files.error_of([](json& document) { document["source"]["stored_bytes"] = 5; }),
             Contains("another source") && Contains("stored_bytes"));
  CHECK_THAT(files.error_of([](json& document) { document["sink"]["layout"] = "tiles"; }),
             Contains("another result"));
  CHECK_THAT(files.error_of([](json& document) { document["chain"] = {"abs"}; }), Contains("in it and"));
  ChangedReader modified(*files.source);
  CHECK_THROWS_WITH(plan(modified, *files.sink, parse_plan(files.text)),
                    Contains("another source") && Contains("changed_ns"));
  const Image small = Image::of_pattern({{100, 100}, 1, PixelType::u8}, Pattern::noise, 1);
  CHECK_THROWS_WITH(plan(*small.reader(), *files.sink, parse_plan(files.text)), Contains("another source"));
}

TEST_CASE("no number of a plan's text is believed") {
  const Files files;
  for (const char* pointer :
       {"/slots", "/threads", "/band/rows", "/band/cols", "/tile/rows", "/tile/cols", "/bands", "/bytes_read",
        "/bytes_written", "/memory_bytes/slots", "/memory_bytes/total", "/operations", "/specs/1/rows",
        "/region/rows", "/region/col", "/specs/0/cols"}) {
    for (const json& value : {json(1), json(1000), json(-1), json(1e300), json(0.5), json("3"), json(),
                              json(true), json(INT64_MAX), json(UINT64_MAX), json::array(), json::object()}) {
      INFO(pointer << " = " << value.dump());
      if (json::parse(files.text).at(json::json_pointer(pointer)) == value) continue;
      const std::string plan_error =
          files.error_of([&](json& document) { document[json::json_pointer(pointer)] = value; });
      CHECK_THAT(plan_error, Contains("create it again") || Contains("the number of") ||
                                 Contains("does not lie in") || Contains("the sink was not made"));
    }
  }
}

TEST_CASE("damaged text, fields that are missing and unknown ones are refused") {
  const Files files;
  const json document = json::parse(files.text);
  for (std::size_t end = 0; end + 2 < files.text.size(); end += 7)
    CHECK_THAT(files.error_of(files.text.substr(0, end)), Contains("cannot be read"));
  for (const auto& [key, value] : document.items()) {
    INFO(key);
    const bool is_optional = key == "notes" || key == "warnings" || key == "predicted_seconds";
    CHECK(files.error_of([&key = key](json& modified) { modified.erase(key); }).empty() == is_optional);
  }
  CHECK_THAT(files.error_of([](json& modified) { modified["bonds"] = 3; }), Contains("bonds"));
  CHECK_THAT(files.error_of([](json& modified) { modified["asked"]["more"] = 3; }), Contains("more"));
  CHECK_THAT(files.error_of(std::string(100000, '[')), Contains("nested"));
  CHECK_THAT(files.error_of("[]"), Contains("cannot be read"));
}

TEST_CASE("a plan that no longer fits its ceiling is refused") {
  const Files files;
  CHECK_THAT(files.error_of([](json& document) { document["asked"]["max_memory_bytes"] = 4096; }),
             Contains("does not fit into the 4.00 KiB"));
}

TEST_CASE("the run of all bands finishes the sink, that of some leaves it to the caller") {
  const Files files;
  int finished = 0;
  std::int64_t rows = 0;
  const auto writer = [&] {
    return make_rows_writer(
        kSpec, [&](std::int64_t, const ConstPixelView& view) { rows += view.extent.rows; },
        [&] { ++finished; });
  };
  const auto sink = writer();
  const Plan first_plan = plan(*files.source, *sink, two_stages(), kOptions);
  REQUIRE(first_plan.band_count() == 10);
  std::int64_t progress = 0;
  ExecutionOptions options{.progress = [&](const Progress& current) { progress = current.pixels; },
                           .bands = BandRange{0, 4}};
  const RunReport report = run(*files.source, *sink, first_plan, options);
  CHECK(report.pixels == 80 * kSpec.extent.cols);
  CHECK(progress == report.pixels);
  CHECK(finished == 0);
  CHECK(rows == 80);
  // Rows pass once and in order: earlier bands and skipped bands are refused.
  for (const BandRange bands : {BandRange{0, 1}, BandRange{5, 10}})
    CHECK_THROWS_AS(run(*files.source, *sink, first_plan, {.bands = bands}), InvalidArgument);
  CHECK(rows == 80);
  run(*files.source, *sink, first_plan, {.bands = BandRange{4, 10}});
  CHECK(rows == 200);
  CHECK(finished == 0);
  sink->finish();
  CHECK(finished == 1);
  run(*files.source, *writer(), first_plan, {.bands = BandRange{0, 10}});
  CHECK(finished == 2);
}

TEST_CASE("bands that a plan does not have are refused, and bands of no plan") {
  const Files files;
  const Plan first_plan = plan(*files.source, *files.sink, two_stages(), kOptions);
  for (const BandRange bands : {BandRange{-1, 2}, BandRange{3, 3}, BandRange{4, 2}, BandRange{9, 11}})
    CHECK_THROWS_WITH(run(*files.source, *files.sink, first_plan, {.bands = bands}), Contains("0 to 9"));
  const ExecutionOptions some{.bands = BandRange{0, 1}};
  CHECK_THROWS_AS(run(*files.source, *files.sink, two_stages(), {kOptions, some}), InvalidArgument);
}

TEST_CASE("a region reads only its rows and columns with their halo, and must lie in the result") {
  const Files files;
  PlanOptions options = kOptions;
  options.region = {100, 30, 40, 20};
  const Image first_plan(region_spec(kSpec, options.region));
  const Plan part = plan(*files.source, *first_plan.writer(), two_stages(), options);
  CHECK(part.graph.source_rect(part.region).contains(part.region));
  CHECK(part.bytes_read == part.graph.source_rect(part.region).area() * kSpec.pixel_bytes());
  CHECK(part.bytes_written == first_plan.spec().bytes());
  CHECK(part.band_rect(0) == Rect{100, 30, 20, 20});
  CHECK(part.sink_rect(1) == Rect{20, 0, 20, 20});
  const RunReport report = run(*files.source, *first_plan.writer(), part);
  CHECK(report.steps.front().bytes == part.bytes_read);
  const Image applied(first_plan.spec());
  apply(two_stages(), ConstRegion::whole(files.from.view()), {applied.view(), options.region, kSpec.extent});
  CHECK(applied == first_plan);

  for (const Rect& outside : {Rect{0, 0, 201, 1}, Rect{200, 0, 1, 1}, Rect{-1, 0, 2, 2}, Rect{0, 0, 0, 5},
                              Rect{1, 1, 0, 0}, Rect{INT64_MAX, 0, INT64_MAX, 1}})
    CHECK_THROWS_WITH(region_spec(kSpec, outside), Contains("does not lie in the result of 200 rows"));
  const auto rows = make_rows_reader(kSpec, [](std::int64_t, const PixelView&) {});
  CHECK_THROWS_WITH(plan(*rows, *first_plan.writer(), two_stages(), options),
                    Contains("takes any rectangle"));
  CHECK_THROWS_AS(plan(*files.source, *files.sink, two_stages(), options), InvalidArgument);
}
