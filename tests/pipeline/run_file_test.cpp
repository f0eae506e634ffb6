// run_file() and related functions: results, refused arguments, and no partial files.
#include "pipeline/run/run_file.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "../io/temporary_folder.hpp"
#include "core/error.hpp"
#include "io/memory_image.hpp"
#include "pipeline/stages/stages.hpp"

using namespace sepconv;
using Catch::Matchers::Contains;

namespace {

struct Files {
  TemporaryFolder folder;
  std::filesystem::path in = folder.path() / "in.tif", out = folder.path() / "out.tif";
  std::vector<std::uint8_t> pixels = std::vector<std::uint8_t>(40 * 30 * 2);

  Files() {
    std::iota(pixels.begin(), pixels.end(), std::uint8_t{3});
    const auto reader = make_memory_reader(view());
    CreateOptions options;
    options.layout.tiled = true;
    options.layout.tile = {16, 16};
    options.layout.compression = Compression::deflate;
    options.metadata.description = "kept";
    const auto writer = create_writer(in, reader->spec(), options);
    run(*reader, *writer, Chain());
  }

  ConstPixelView view() const { return view_of(pixels.data(), {40, 30}, 2); }
};

std::vector<std::uint8_t> pixels_of(const std::filesystem::path& path) {
  const auto reader = open_reader(path);
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(reader->spec().bytes()), 0xAA);
  const auto writer =
      make_memory_writer(view_of(pixels.data(), reader->spec().extent, reader->spec().channels));
  run(*reader, *writer, Chain());
  return pixels;
}

/// The caller's images, consecutive in memory, as a set of sources and of sinks.
struct CallerImages {
  ImageSpec spec{{40, 30}, 2, PixelType::u8};
  std::vector<std::uint8_t> pixels = std::vector<std::uint8_t>(2 * 40 * 30 * 2);

  PixelView image(std::int64_t index) {
    return dense_view(reinterpret_cast<std::byte*>(pixels.data()) + index * spec.bytes(), spec);
  }
};

class CallerSources final : public RasterSet {
 public:
  explicit CallerSources(CallerImages& images) : RasterSet("own", images.spec, {{"z", 2}}), images_(images) {}

 private:
  std::unique_ptr<Reader> open_raster(std::int64_t index, bool) override {
    return make_memory_reader(images_.image(index));
  }
  CallerImages& images_;
};

class CallerSinks final : public RasterSetWriter {
 public:
  explicit CallerSinks(CallerImages& images) : images_(images) {}
  std::unique_ptr<Writer> next(const Metadata&) override {
    return make_memory_writer(images_.image(next_++));
  }
  void finish() override { finished = true; }
  bool finished = false;

 private:
  CallerImages& images_;
  std::int64_t next_ = 0;
};

bool file_contains(const Files& files, const std::string& name, const std::string& text) {
  return files.folder.read(name).find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("run_file: the chain's result in its source's layout, and no other file") {
  const Files files;
  const Chain chain = Chain::parse({"box:radius=1", "abs"});
  std::vector<std::uint8_t> expected(files.pixels.size());
  run_whole_image(*make_memory_reader(files.view()),
                  *make_memory_writer(view_of(expected.data(), {40, 30}, 2)), chain);
  const RunReport report = run_file(files.in, files.out, chain);
  CHECK(report.plan.warnings.empty());
  CHECK(pixels_of(files.out) == expected);
  const auto result = open_reader(files.out);
  CHECK(result->layout().block == Extent{16, 16});
  CHECK(result->metadata().description == "kept");
  CHECK(files.folder.files() == std::vector<std::string>{"in.tif", "out.tif"});
}

TEST_CASE("run_file: hooks, and what is asked of plan and file, arrive") {
  const Files files;
  std::int64_t bands = 0;
  RunOptions options;
  options.band_rows = 16;
  options.region = {8, 4, 20, 10};
  options.progress = [&](const Progress& progress) { bands = progress.bands; };
  FileOptions file_options;
  file_options.output.compression = Compression::none;
  const RunReport report = run_file(files.in, files.out, Chain(), options, file_options);
  CHECK(bands == report.plan.band_count());
  const auto result = open_reader(files.out);
  CHECK(result->spec().extent == Extent{20, 10});
  CHECK(result->layout().file->compression == Compression::none);
}

TEST_CASE("run_file: a program's own formats are read and written") {
  const Files files;
  std::vector<Format> formats(built_in_formats().begin(), built_in_formats().end());
  for (Format& format : formats) {
    if (format.name == "NPY") format.endings = ".mine";
  }
  FileOptions file_options;
  file_options.formats = formats;
  const auto custom_path = files.folder.path() / "out.mine";
  run_file(files.in, custom_path, Chain(), {}, file_options);
  CHECK(file_contains(files, "out.mine", "NUMPY"));
  permute_file(files.in, files.folder.path() / "turned.mine", {{1, 0, 2}}, {}, file_options);
  CHECK(file_contains(files, "turned.mine", "(30, 40, 2)"));
}

TEST_CASE("run_file: an output is replaced only if that is asked for, and never the input") {
  const Files files;
  files.folder.write("out.tif", "precious");
  CHECK_THROWS_AS(run_file(files.in, files.out, Chain()), IoError);
  CHECK(files.folder.read("out.tif") == "precious");
  FileOptions overwriting;
  overwriting.output.overwrite = true;
  run_file(files.in, files.out, Chain(), {}, overwriting);
  CHECK(pixels_of(files.out) == files.pixels);
  const std::string original = files.folder.read("in.tif");
  CHECK_THROWS_WITH(run_file(files.in, files.in, Chain(), {}, overwriting),
                    Contains("both input and output"));
  CHECK(files.folder.read("in.tif") == original);
}

TEST_CASE("run_file: an output that a stage reads is refused") {
  const Files files;
  const auto table = files.folder.write("taps.txt", "1 2 1\n");
  const Chain chain = sepconv::convolve({.file = table});
  FileOptions overwriting;
  overwriting.output.overwrite = true;
  CHECK_THROWS_WITH(run_file(files.in, table, chain, {}, overwriting),
                    Contains("read by the stage convolve:file="));
}

TEST_CASE("run_file: failed and stopped runs leave no files") {
  const Files files;
  RunOptions stop_options;
  std::stop_source stop;
  stop.request_stop();
  stop_options.stop = stop.get_token();
  CHECK_THROWS_AS(run_file(files.in, files.out, Chain(), stop_options), Cancelled);
  RunOptions small_options;
  small_options.max_memory_bytes = 100;
  CHECK_THROWS_AS(run_file(files.in, files.out, Chain(), small_options), OutOfMemory);
  FileOptions planar;
  planar.output.planar = true;
  CHECK_THROWS_WITH(
      run_file(files.in, files.folder.path() / "out.npy", Chain(), {}, planar),
      Contains("OutputOptions::planar means nothing for NPY") && Contains("end the name in .tif"));
  RunOptions some_options;
  some_options.bands = BandRange{0, 1};
  CHECK_THROWS_AS(run_file(files.in, files.out, Chain(), some_options), InvalidArgument);
  CHECK(files.folder.files() == std::vector<std::string>{"in.tif"});
}

TEST_CASE("plan_file: a stored plan is the plan, in the layout that it was made for") {
  const Files files;
  const Chain chain = Chain::parse({"box:radius=1"});
  const PlanOptions options{.max_memory_bytes = 64 << 20,
                            .band_rows = 16};  // fixed, because free memory may change
  const Plan first = plan_file(files.in, files.out, chain, options).plan;
  const ImageJob reread_job = plan_file(files.in, files.out, chain, parse_plan(to_json(first)));
  CHECK(to_json(reread_job.plan) == to_json(first));
  const Chain other = Chain::parse({"box:radius=2"});
  CHECK_THROWS_AS(plan_file(files.in, files.out, other, parse_plan(to_json(first))), InvalidArgument);
  CHECK(files.folder.files() == std::vector<std::string>{"in.tif"});
}

TEST_CASE("plan_job: the caller's images as source, as sink, or as both") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "own.tif";
  const Chain chain = Chain::parse({"box:radius=1"});
  CallerImages in;
  std::iota(in.pixels.begin(), in.pixels.end(), std::uint8_t{3});
  const auto to_caller = [](CallerImages& images) {
    return [&images](const RasterSetSpec& spec, const CreateOptions&) -> std::unique_ptr<RasterSetWriter> {
      CHECK((spec.raster == images.spec && spec.count() == 2));
      return std::make_unique<CallerSinks>(images);
    };
  };
  CallerImages expected, direct_images, file_images;
  for (std::int64_t i = 0; i < 2; ++i)
    run_whole_image(*make_memory_reader(in.image(i)), *make_memory_writer(expected.image(i)), chain);

  JobEndpoints both_ends{.sources = std::make_unique<CallerSources>(in),
                         .make_sinks = to_caller(direct_images)};
  ImageJob job = plan_job(std::move(both_ends), chain);
  CHECK(run(job).rasters == 2);
  CHECK(direct_images.pixels == expected.pixels);
  CHECK(static_cast<CallerSinks&>(*job.sinks).finished);

  ImageJob stored = plan_job({.output = file, .sources = std::make_unique<CallerSources>(in)}, chain);
  run(stored);
  ImageJob read = plan_job({.input = file, .make_sinks = to_caller(file_images)}, Chain());
  run(read);
  CHECK(file_images.pixels == expected.pixels);
}

TEST_CASE("permute_file: each permutation of an image equals permute_reference()") {
  const Files files;
  for (const Permutation& permutation : all_permutations()) {
    CAPTURE(to_string(permutation));
    const auto out = files.folder.path() / (to_string(permutation) + ".npy");
    RunOptions options;
    options.max_memory_bytes = 8 << 20;
    permute_file(files.in, out, permutation, options);
    std::vector<std::uint8_t> expected(files.pixels.size());
    permute_reference({40, 30, 2}, permutation, 1, reinterpret_cast<const std::byte*>(files.pixels.data()),
                      reinterpret_cast<std::byte*>(expected.data()));
    const std::string file = files.folder.read(out.filename());
    REQUIRE(file.size() > expected.size());
    const auto* const result =
        reinterpret_cast<const std::uint8_t*>(file.data() + file.size() - expected.size());
    CHECK(std::equal(expected.begin(), expected.end(), result));
  }
}

TEST_CASE("permute_file: what cannot be is said in the library's own words") {
  const Files files;
  RunOptions options;
  options.max_memory_bytes = 10;
  CHECK_THROWS_WITH(permute_file(files.in, files.out, {{1, 0, 2}}, options),
                    Contains("PlanOptions::max_memory_bytes"));
  options = {};
  options.region = {0, 0, 1, 1};
  CHECK_THROWS_WITH(permute_file(files.in, files.out, {{1, 0, 2}}, options), Contains("PlanOptions::region"));
  CHECK_THROWS_WITH(permute_file(files.in, files.in, {{1, 0, 2}}), Contains("both input and output"));
  CHECK_THROWS_AS(permute_file(files.in, files.out, {{1, 1, 2}}), InvalidArgument);
  CHECK(files.folder.files() == std::vector<std::string>{"in.tif"});
}

TEST_CASE("permute_file: two axes stay two unless the third moves") {
  const Files files;
  const auto matrix = files.folder.path() / "matrix.npy", out = files.folder.path() / "out.npy";
  const auto reader = make_memory_reader(view_of(files.pixels.data(), {40, 60}));
  run(*reader, *create_writer(matrix, reader->spec(), {}), Chain());
  FileOptions overwriting;
  overwriting.output.overwrite = true;
  permute_file(matrix, out, {{1, 0, 2}}, {}, overwriting);
  CHECK(file_contains(files, "out.npy", "(60, 40)"));
  permute_file(matrix, out, {{2, 0, 1}}, {}, overwriting);
  CHECK(file_contains(files, "out.npy", "(1, 40, 60)"));
}
