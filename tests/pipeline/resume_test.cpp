// Resumed runs on the CPU, on GPUs, and on both in turn.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <new>
#include <stop_token>
#include <string>
#include <vector>

#include "../io/temporary_folder.hpp"
#include "../support/gpu.hpp"
#include "../support/small_run.hpp"
#include "../support/tree_compare.hpp"
#include "core/error.hpp"
#include "io/test_pattern.hpp"
#include "pipeline/run/run_file.hpp"

using namespace sepconv;
using namespace sepconv::test;
namespace fs = std::filesystem;

namespace {

using Devices = std::vector<int>;

struct ResumeFixture {
  TemporaryFolder folder;
  std::filesystem::path in = folder.path() / "in.tif", out = folder.path() / "out.tif";
  FileOptions files;

  explicit ResumeFixture(Compression compression) {
    const auto pattern = make_pattern_reader(kSpec, Pattern::natural, 5);
    CreateOptions options;
    options.layout.tiled = true;
    options.layout.tile = {16, 16};
    options.layout.compression = compression;
    options.layout.level = compression == Compression::deflate ? 1 : 0;
    run(*pattern, *create_writer(in, pattern->spec(), options), Chain());
  }
  std::string run_once() const {
    run_file(in, folder.path() / "whole.tif", two_stages(), small_bands(), files);
    return folder.read("whole.tif");
  }
  /// Runs until `band`, counted among the bands that this run writes, and then calls `end`, which throws.
  template <class End>
  void run_until(std::int64_t band, const Devices& devices, const End& end) const {
    RunOptions options = small_bands(3, devices);
    options.sync_seconds = 0;
    std::stop_source stop;
    options.stop = stop.get_token();
    std::int64_t written = 0;
    options.written = [&](const Plan&, std::int64_t) {
      if (written++ == band) end(stop);
    };
    resume_file(in, out, two_stages(), options, files);
  }
  RunReport resume(const Devices& devices) const {
    return resume_file(in, out, two_stages(), small_bands(3, devices), files);
  }
};

/// Forwards to another set and records the opened images.
class RecordingSet final : public RasterSet {
 public:
  RecordingSet(std::unique_ptr<RasterSet> set, std::vector<std::int64_t>& opened)
      : RasterSet("noted", set->spec(), set->axes()), set_(std::move(set)), opened_(opened) {}

 private:
  std::unique_ptr<Reader> open_raster(std::int64_t index, bool) override {
    opened_.push_back(index);
    return set_->raster(index);
  }

  std::unique_ptr<RasterSet> set_;
  std::vector<std::int64_t>& opened_;
};

bool has_result(const std::filesystem::path& partial) {
  return std::ranges::any_of(std::filesystem::directory_iterator(partial), [](const auto& entry) {
    return entry.path().filename().native().starts_with("result-");
  });
}

void stop_and_wait(std::stop_source& stop) {
  stop.request_stop();
  throw Cancelled();
}

void check_on(const std::vector<Devices>& device_runs, bool compare_bytes) {
  for (const Compression compression : {Compression::none, Compression::deflate}) {
    const ResumeFixture fixture(compression);
    const std::string expected = fixture.run_once();
    std::int64_t runs = 0;
    for (const Devices& devices : device_runs) {
      if (++runs == std::ssize(device_runs)) break;
      CHECK_THROWS_AS(fixture.run_until(3, devices, stop_and_wait), Cancelled);
      CHECK(has_result(Checkpoint::checkpoint_folder_of(fixture.out)));
    }
    const RunReport report = fixture.resume(device_runs.back());
    CHECK(report.pixels < kSpec.extent.area());
    CHECK(uses(report.plan, device_runs.back()));
    if (compare_bytes) {
      CHECK(fixture.folder.read("out.tif") == expected);
    }
    CHECK(fixture.folder.files() == std::vector<std::string>{"in.tif", "out.tif", "whole.tif"});
    const auto a = open_reader(fixture.out), b = open_reader(fixture.folder.path() / "whole.tif");
    std::vector<std::byte> pixels[2];
    for (int i = 0; i < 2; ++i) {
      SerialExecutor executor;
      pixels[i].resize(static_cast<std::size_t>(kSpec.bytes()));
      (i == 0 ? a : b)->read(Rect::whole(kSpec.extent), dense_view(pixels[i].data(), kSpec), executor);
    }
    CHECK(pixels[0] == pixels[1]);
  }
}

}  // namespace

TEST_CASE("A run that is stopped is gone on with") { check_on({{}, {}, {}}, true); }

TEST_CASE("A run that is stopped is gone on with on another device", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  check_on({{0}, {0}, {0}}, true);
  check_on({{}, {0}, {}}, true);
}

TEST_CASE("A run on two GPUs is gone on with: bands that are left between those that are done", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  if (list_devices().size() < 2) return;
  check_on({{0, 1}, {1, 0}, {0, 1}}, false);
}

TEST_CASE("A run on the CPU and GPUs is resumed on others, and with the bands that are left", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  check_on({{kCpu, 0}, {kCpu, 0}, {kCpu, 0}}, false);
  check_on({{kCpu, 0}, {}, {0}, {kCpu, 0}}, false);
}

TEST_CASE("A run that ran out of memory is resumed with less") {
  const ResumeFixture fixture(Compression::deflate);
  const std::string expected = fixture.run_once();
  CHECK_THROWS_AS(fixture.run_until(5, {}, [](std::stop_source&) { throw std::bad_alloc(); }), OutOfMemory);
  RunOptions options = small_bands(1);
  options.threads = 1;
  const RunReport report = resume_file(fixture.in, fixture.out, two_stages(), options, fixture.files);
  CHECK(report.pixels == kSpec.extent.area() - 6 * 16 * kSpec.extent.cols);
  CHECK(fixture.folder.read("out.tif") == expected);
}

TEST_CASE("What is written to while it is read makes no result") {
  const auto append_to = [](const std::filesystem::path& in) {
    std::ofstream(in, std::ios::binary | std::ios::app) << 'x';
  };
  for (const Compression compression : {Compression::none, Compression::deflate}) {
    const ResumeFixture fixture(compression);
    RunOptions options = small_bands();
    options.written = [&](const Plan&, std::int64_t band) {
      if (band == 3) append_to(fixture.in);
    };
    using Catch::Matchers::Contains;
    CHECK_THROWS_WITH(run_file(fixture.in, fixture.out, two_stages(), options, fixture.files),
                      Contains("was written to while it was read"));
    CHECK(fixture.folder.files() == std::vector<std::string>{"in.tif"});
    CHECK_THROWS_WITH(resume_file(fixture.in, fixture.out, two_stages(), options, fixture.files),
                      Contains("was written to while it was read"));
    Checkpoint::discard(fixture.out);
    create_in_parts(fixture.in, fixture.out, two_stages(), small_bands(), fixture.files);
    CHECK_THROWS_WITH(run_part(fixture.in, fixture.out, two_stages(), 1, 1, options, fixture.files),
                      Contains("was written to while it was read"));
    CHECK_THROWS_AS(finish_file(fixture.out), InvalidArgument);  // the source has changed
    CHECK_FALSE(std::filesystem::exists(fixture.out));
  }
}

TEST_CASE("A part opens its own images, and those before only where their directories lie between") {
  using Opened = std::vector<std::int64_t>;
  struct Sink {
    const char* name;
    Compression compression;
    Opened opened;
  };
  const TemporaryFolder folder;
  const auto in = folder.path() / "in.npy";
  const auto images = create_set(in, {kSpec, {{"z", 5}}}, {});
  for (std::uint64_t i = 0; i < 5; ++i)
    run(*make_pattern_reader(kSpec, Pattern::noise, i), *images->next({}), Chain());
  images->finish();
  for (const Sink& sink :
       {Sink{"out.npy", Compression::none, {3}}, Sink{"out.zarr", Compression::none, {3}},
        Sink{"out.tif", Compression::deflate, {3}}, Sink{"out.tif", Compression::none, {1, 2, 3}}}) {
    const auto out = folder.path() / sink.name;
    FileOptions files;
    files.open.axes = "zyxc";
    if (std::string(sink.name) != "out.npy") files.output.compression = sink.compression;
    CAPTURE(sink.name, sink.compression);
    create_in_parts(in, out, two_stages(), small_bands(), files);
    for (const std::int64_t part : {4, 1, 5, 3, 2}) {
      ImageJob job = plan_part(in, out, two_stages(), part, 5, {}, files);
      Opened opened;
      job.sources = std::make_unique<RecordingSet>(std::move(job.sources), opened);
      run(job);
      if (part == 4) CHECK(opened == sink.opened);
    }
    finish_file(out);
    std::filesystem::remove_all(out);
  }
}

TEST_CASE("Folders and second images that are written to while they are read make no result") {
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.zarr", second_image = folder.path() / "dark.npy",
                 out = folder.path() / "out.npy";
  const auto pattern = make_pattern_reader({kSpec.extent, 1, PixelType::u16}, Pattern::natural, 5);
  CreateOptions options;
  options.layout.tiled = true;
  options.layout.tile = {16, 16};
  run(*pattern, *create_writer(in, pattern->spec(), options), Chain());
  run(*pattern, *create_writer(second_image, pattern->spec(), {}), Chain());
  const Chain chain =
      Chain::parse(std::vector<std::string>{"gaussian:sigma=1", "subtract:file=" + second_image.native()});
  const auto touch = [](const fs::path& file) {
    fs::last_write_time(file, fs::file_time_type::clock::now());
  };
  fs::path chunk;
  for (const auto& entry : fs::recursive_directory_iterator(in))
    if (entry.path().native().ends_with("/c/0/0")) chunk = entry.path();  // the chunk that is read first
  const auto changes = {std::function<void()>([&] { touch(chunk); }),
                        std::function<void()>([&] { touch(second_image); })};
  for (const auto& change : changes) {
    RunOptions running = small_bands();
    running.written = [&](const Plan&, std::int64_t band) {
      if (band == 5) change();
    };
    using Catch::Matchers::Contains;
    CHECK_THROWS_WITH(run_file(in, out, chain, running), Contains("was written to while it was read"));
    CHECK_THROWS_WITH(resume_file(in, out, chain, running), Contains("was written to while it was read"));
    Checkpoint::discard(out);
    create_in_parts(in, out, chain, small_bands());
    CHECK_THROWS_WITH(run_part(in, out, chain, 1, 1, running), Contains("was written to while it was read"));
    Checkpoint::discard(out);
    CHECK_FALSE(fs::exists(out));
  }
  run_file(in, out, chain, small_bands());  // succeeds if no file changes
}

TEST_CASE("A first band of many chunks has no more samples per line than any other") {
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.npy", out = folder.path() / "out.zarr";
  const auto pattern = make_pattern_reader({kSpec.extent, 1, PixelType::u16}, Pattern::natural, 5);
  run(*pattern, *create_writer(in, pattern->spec(), {}), Chain());
  FileOptions files;
  files.output.tile = Extent{4, 4};  // 1900 chunks
  RunOptions options = small_bands();
  options.band_rows = 200;
  const auto stops = [&](const Plan&, std::int64_t) { throw InjectedError("planted"); };
  options.written = stops;
  CHECK_THROWS_AS(resume_file(in, out, Chain(), options, files), InjectedError);
  std::ifstream journal(Checkpoint::checkpoint_folder_of(out) / "journal");
  std::size_t all = 0;
  for (std::string line; std::getline(journal, line);) {
    std::size_t samples = 0;
    for (std::size_t at = line.find("[\"result"); at != line.npos; at = line.find("[\"result", at + 1))
      ++samples;
    CHECK(samples <= 1024);
    all += samples;
  }
  CHECK(all == 1900);
  options.written = {};
  resume_file(in, out, Chain(), options, files);
  const auto resumed = read_tree(out);
  fs::remove_all(out);
  run_file(in, out, Chain(), options, files);
  CHECK(read_tree(out) == resumed);
}

TEST_CASE("Of two that begin a result at once the later is refused") {
  const ResumeFixture fixture(Compression::none);
  auto first = std::make_unique<Checkpoint>(fixture.out, Checkpoint::Use::all_parts);
  Checkpoint second(fixture.out, Checkpoint::Use::all_parts);
  first->begin("the first");
  CHECK_THROWS_AS(second.begin("the second"), IoError);  // while the first exists
  const std::filesystem::path result_path = first->place(false);
  std::ofstream(result_path) << "made";
  first.reset();
  CHECK_THROWS_AS(second.begin("the second"), IoError);  // and after it was destroyed
  CHECK(read_tree(result_path).begin()->second == "made");
  CHECK(Checkpoint::look(fixture.out).manifest == "the first");
}

TEST_CASE("Parts are all bands, each once, and about as many in each") {
  const ResumeFixture fixture(Compression::none);
  const ImageJob job = plan_file(fixture.in, fixture.out, two_stages(), small_bands());
  REQUIRE(job.plan.band_count() == 13);
  for (std::int64_t count = 1; count <= 13; ++count) {
    std::int64_t next = 0;
    for (const BandRange part : parts(job.plan, job.sink->layout(), count)) {
      CHECK(part.first == next);
      CHECK(part.count() >= 13 / count);
      CHECK(part.count() <= ceil_div(13, count));
      next = part.end;
    }
    CHECK(next == 13);
  }
  CHECK_THROWS_AS(parts(job.plan, job.sink->layout(), 14), InvalidArgument);
  // Parts of five images may end within an image.
  CHECK(max_parts(job.plan, job.sink->layout(), 5) == 65);
  CHECK(parts(job.plan, job.sink->layout(), 2, 5) == std::vector<BandRange>{{0, 32}, {32, 65}});
  CHECK(bands_in({10, 40}, 0, job.plan) == BandRange{10, 13});
  CHECK(bands_in({10, 40}, 1, job.plan) == BandRange{0, 13});
  CHECK(bands_in({10, 40}, 3, job.plan) == BandRange{0, 1});
  CHECK(bands_in({10, 40}, 4, job.plan).count() == 0);
  SinkLayout shards = job.sink->layout();
  shards.shard = {64, 64};  // four bands per shard
  CHECK(parts(job.plan, shards, 4) == std::vector<BandRange>{{0, 4}, {4, 8}, {8, 12}, {12, 13}});
  CHECK_THROWS_AS(parts(job.plan, shards, 5), InvalidArgument);
  shards.shard = {24, 64};  // bands of 16 rows divide shards: three bands are two rows of shards
  CHECK(parts(job.plan, shards, 5) == std::vector<BandRange>{{0, 3}, {3, 6}, {6, 9}, {9, 12}, {12, 13}});
  SinkLayout levels = job.sink->layout();
  levels.levels.resize(6);  // one row of the smallest level covers 64 rows
  CHECK(parts(job.plan, levels, 4) == std::vector<BandRange>{{0, 4}, {4, 8}, {8, 12}, {12, 13}});
  CHECK_THROWS_AS(parts(job.plan, levels, 5), InvalidArgument);
}

TEST_CASE("Each row of a level belongs to one part, which writes those of whole blocks") {
  const OverviewRows level{.index = 2, .rows = 250, .row_bytes = 1, .unit = 32};
  const auto has = [](const PartRows& rows, std::int64_t begin, std::int64_t end, std::int64_t written_begin,
                      std::int64_t written_end) {
    return rows.begin == begin && rows.end == end && rows.written_begin == written_begin &&
           rows.written_end == written_end;
  };
  CHECK(has(level.of_part(0, 400, 999), 0, 100, 0, 96));
  CHECK(has(level.of_part(400, 520, 999), 100, 130, 0, 0));
  CHECK(has(level.of_part(520, 999, 999), 130, 250, 160, 250));
  CHECK(level.of_part(520, 999, 999).kept() == 30);
  CHECK(OverviewRows{.index = 2, .rows = 250, .row_bytes = 1, .unit = 0}.of_part(520, 999, 999).kept() ==
        120);
}
