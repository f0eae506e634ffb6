// Zarr chunks decoded on a GPU: same pixels and errors as on the CPU.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../io/temporary_folder.hpp"
#include "../support/gpu.hpp"
#include "../support/image.hpp"
#include "core/error.hpp"
#include "pipeline/run/run_file.hpp"

using namespace sepconv;
using namespace sepconv::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kGaussian = "gaussian:sigma=1.5";

FileLayout zarr_layout(int version, Extent tile, const char* codec, Extent shard = {}) {
  FileLayout layout{.tiled = true, .tile = tile};
  layout.zarr.version = version;
  layout.zarr.shard = shard;
  layout.zarr.codecs = "[" + std::string(codec) + "]";
  layout.zarr.fill = "3";
  layout.zarr.is_array = true;
  return layout;
}

void save(const Image& image, const fs::path& path, const FileLayout& layout) {
  const auto sink = create_writer(path, image.spec(), {.layout = layout, .overwrite = true});
  run(*image.reader(), *sink, Chain());
}

struct FilterResult {
  Image image;
  Plan plan;
};

FilterResult filter(const fs::path& in, bool on_device, std::int64_t band_cols = 0,
                    const OpenOptions& open = {}) {
  RunOptions options;
  options.threads = 2;
  options.band_rows = 64;
  options.band_cols = band_cols;
  if (on_device) options.devices = {0};
  const auto source = open_reader(in, open);
  Image result(source->spec());
  Plan plan = run(*source, *result.writer(), Chain::parse({kGaussian}), options).plan;
  return {std::move(result), std::move(plan)};
}

std::string error_of(const fs::path& in, bool on_device) {
  try {
    filter(in, on_device);
  } catch (const IoError& error) {
    return error.what();
  }
  return "";
}

bool has_note(const Plan& plan, const std::string& part) {
  return std::ranges::any_of(plan.notes,
                             [&](const std::string& note) { return note.find(part) != note.npos; });
}

/// An image with a part that has only the fill value, so that chunks are missing.
Image with_holes(const ImageSpec& spec) {
  Image image = Image::of_pattern(spec, Pattern::natural, 9);
  const Rect hole{spec.extent.rows / 3, 0, spec.extent.rows / 3, spec.extent.cols};
  const PixelView pixels = image.view().crop(hole);
  for (std::int64_t row = 0; row < hole.rows; ++row) {
    visit_pixel_type(spec.type, [&]<class T>(std::type_identity<T>) {
      std::fill_n(pixels.row<T>(row), pixels.row_elements(), T{3});
    });
  }
  return image;
}

}  // namespace

TEST_CASE("A GPU decodes chunks of Zarr as the CPU does", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  using enum PixelType;
  struct Codec {
    int version;
    const char* text;
  };
  const Codec codec = GENERATE(Codec{3, R"({"name": "zstd", "configuration": {"level": 1}})"},
                               Codec{3, R"({"name": "zstd", "configuration": {"checksum": true}})"},
                               Codec{3, R"({"name": "gzip", "configuration": {"level": 6}})"},
                               Codec{2, R"({"name": "zlib"})"}, Codec{2, R"({"name": "lz4"})"});
  const Extent shard = codec.version == 3 ? GENERATE(Extent{}, Extent{128, 96}) : Extent{};
  const std::pair<ImageSpec, Extent> cases[] = {
      {{{200, 300}, 1, u8}, {64, 48}}, {{{130, 90}, 3, u16}, {32, 16}}, {{{97, 33}, 1, i16}, {7, 33}},
      {{{60, 70}, 1, u16}, {64, 128}}, {{{97, 70}, 1, f32}, {32, 48}},  {{{45, 33}, 2, f64}, {16, 33}}};
  const bool big_endian = GENERATE(false, true);
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.zarr";
  for (const auto& [spec, tile] : cases) {
    CAPTURE(codec.version, codec.text, shard.rows, spec.extent.rows, big_endian);
    const Image image = with_holes(spec);
    FileLayout layout = zarr_layout(codec.version, tile, codec.text, shard);
    layout.zarr.big_endian = big_endian;
    save(image, in, layout);
    CHECK(open_reader(in)->layout().coded->big_endian == (big_endian && size_of(spec.type) > 1));
    const std::int64_t band_cols = GENERATE(0, 80);
    const FilterResult gpu_result = filter(in, true, band_cols);
    CHECK(gpu_result.plan.decodes_on_devices());
    CHECK(gpu_result.image == filter(in, false, band_cols).image);
  }
}

TEST_CASE("Images along another axis are decoded each from chunks of its own", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const ImageSpec spec{{50, 60}, 1, PixelType::u16};
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.zarr";
  {
    const auto set =
        create_set(in, {spec, {{"t", 3}}}, {.layout = zarr_layout(3, {16, 32}, R"({"name": "zstd"})")});
    for (unsigned i = 0; i < 3; ++i)
      run(*Image::of_pattern(spec, Pattern::noise, i).reader(), *set->next({}), Chain());
    set->finish();
  }
  for (const char* t : {"t=0", "t=2"}) {
    const FilterResult gpu_result = filter(in, true, 0, {.select = t});
    CHECK(gpu_result.plan.decodes_on_devices());
    CHECK(gpu_result.image == filter(in, false, 0, {.select = t}).image);
  }
}

TEST_CASE("Chunks that a GPU does not decode are the CPU's, and the plan says which") {
  const Image image = Image::of_pattern({{64, 64}, 2, PixelType::u16}, Pattern::noise, 1);
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.zarr";
  const auto coded = [&](const FileLayout& layout) {
    save(image, in, layout);
    return open_reader(in)->layout().coded.has_value();
  };
  CHECK(coded(zarr_layout(3, {16, 16}, R"({"name": "zstd"})")));
  CHECK(!coded(zarr_layout(3, {16, 16}, R"({"name": "zstd"}, {"name": "crc32c"})")));
  CHECK(!coded(zarr_layout(3, {16, 16}, R"({"name": "blosc", "configuration": {"shuffle": "noshuffle"}})")));
  FileLayout planar = zarr_layout(3, {16, 16}, R"({"name": "zstd"})");
  planar.planar = true;
  CHECK(!coded(planar));
  if (list_devices().empty()) return;
  const Plan plan = filter(in, true).plan;
  CHECK(!plan.decodes_on_devices());
  CHECK(has_note(plan, "the CPU decodes the source's blocks: a GPU decodes deflate"));
}

namespace {

/// The content of every file of a store, by relative path.
std::map<std::string, std::string> files_of(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    if (entry.is_regular_file())
      files[entry.path().lexically_relative(folder).native()] = {std::istreambuf_iterator<char>(file), {}};
  }
  return files;
}

}  // namespace

TEST_CASE("A GPU encodes chunks of Zarr to the CPU's bytes, and leaves the same ones out",
          "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  using enum PixelType;
  const int version = GENERATE(2, 3);
  const auto compression = GENERATE(Compression::deflate, Compression::zstd);
  const std::pair<ImageSpec, Extent> cases[] = {{{{200, 300}, 1, u8}, {64, 48}},
                                                {{{130, 90}, 3, u16}, {32, 16}},
                                                {{{97, 33}, 1, f32}, {7, 33}},
                                                {{{60, 70}, 1, i16}, {64, 128}}};
  const TemporaryFolder folder;
  for (const auto& [spec, tile] : cases) {
    CAPTURE(version, name_of(compression), spec.extent.rows);
    const Image image = with_holes(spec);
    FileLayout layout = zarr_layout(version, tile, "");
    layout.zarr.codecs.clear();
    layout.compression = compression;
    layout.level = -1;  // deflate:fast, zstd:fast
    const auto write_on = [&](const fs::path& path, bool on_device) {
      RunOptions options;
      options.threads = 2;
      options.band_rows = 64;
      if (on_device) options.devices = {0};
      const auto sink = create_writer(path, spec, {.layout = layout, .overwrite = true});
      return run(*image.reader(), *sink, Chain(), options).plan;
    };
    write_on(folder.path() / "cpu.zarr", false);
    CHECK(write_on(folder.path() / "gpu.zarr", true).encodes_on_devices());
    const auto cpu_result = files_of(folder.path() / "cpu.zarr");
    CHECK(files_of(folder.path() / "gpu.zarr") == cpu_result);
    // Metadata are one file, or two for version 2. Four chunks are missing, except in version 2, where a fill
    // value would mean missing pixels and is not set.
    if (tile.rows == 7) CHECK(cpu_result.size() == (version == 2 ? 14U + 2 : 14U - 4 + 1));
    Image reread(spec);
    run(*open_reader(folder.path() / "gpu.zarr"), *reread.writer(), Chain());
    CHECK(reread == image);
  }
}

TEST_CASE("A damaged chunk is the same error on a GPU", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const char* const codec =
      GENERATE(R"({"name": "zstd"})", R"({"name": "gzip"})", R"({"name": "numcodecs.lz4"})");
  const Image image = Image::of_pattern({{100, 100}, 1, PixelType::u8}, Pattern::natural, 5);
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.zarr", chunk = in / "c" / "1" / "1";
  save(image, in, zarr_layout(3, {32, 32}, codec));
  const bool truncated = GENERATE(true, false);
  REQUIRE(fs::exists(chunk));
  if (truncated) {
    fs::resize_file(chunk, fs::file_size(chunk) / 2);
  } else {
    std::ofstream(chunk, std::ios::app) << "more";
  }
  const std::string cpu_result = error_of(in, false);
  CHECK(!cpu_result.empty());
  CHECK(error_of(in, true) == cpu_result);
}

TEST_CASE("A chunk with more behind its stream than a chunk can take is the same error on a GPU", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Image image = Image::of_pattern({{100, 100}, 1, PixelType::u8}, Pattern::natural, 5);
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.zarr";
  save(image, in, zarr_layout(3, {32, 32}, R"({"name": "numcodecs.zlib"})"));
  const fs::path chunk = in / "c" / "1" / "1";
  REQUIRE(fs::exists(chunk));
  fs::resize_file(chunk, fs::file_size(chunk) + 100'000);
  const std::string cpu_result = error_of(in, false);
  CHECK_THAT(cpu_result, Catch::Contains("the chunk at 1, 1 is damaged"));
  CHECK(error_of(in, true) == cpu_result);
}

TEST_CASE("A chunk's codec is the one that takes the time, for predictions") {
  const Image image = Image::of_pattern({{64, 64}, 1, PixelType::u8}, Pattern::noise, 1);
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.zarr";
  const auto [codecs, name] = GENERATE(
      std::pair("", kUncompressed), std::pair(R"({"name": "crc32c"})", "CRC-32C"),
      std::pair(R"({"name": "zstd"}, {"name": "crc32c"})", "zstd"),
      std::pair(R"({"name": "gzip"})", "deflate"),
      std::pair(R"({"name": "blosc", "configuration": {"cname": "lz4", "shuffle": "noshuffle"}})", "LZ4"),
      std::pair(R"({"name": "blosc", "configuration": {"cname": "zstd", "shuffle": "noshuffle"}})", "zstd"),
      std::pair(R"({"name": "blosc", "configuration": {"cname": "zlib", "shuffle": "noshuffle"}})",
                "deflate"));
  save(image, in, zarr_layout(3, {16, 16}, codecs));
  CHECK(open_reader(in)->layout().codec == name);
  CHECK((name == std::string(kUncompressed) ||
         std::ranges::any_of(FileModel().codecs,
                             [&](const FileModel::Codec& codec) { return codec.name == name; })));
}

TEST_CASE("An image seen as another is decoded and encoded by the CPU", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Image image = Image::of_pattern({{64, 48}, 3, PixelType::u8}, Pattern::noise, 2);
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.tif", cpu_result = folder.path() / "cpu.tif",
                 gpu_result = folder.path() / "gpu.tif";
  FileLayout layout{.tiled = true, .tile = {16, 16}};
  layout.compression = Compression::deflate;
  layout.level = -1;  // deflate:fast
  save(image, in, layout);
  const Permutation permutation{GENERATE(std::array{0, 2, 1}, std::array{2, 1, 0}, std::array{1, 2, 0})};
  FileOptions files;
  files.output.compression = Compression::deflate;
  files.output.level = layout.level;
  files.output.tile = Extent{16, 16};
  permute_file(in, cpu_result, permutation, {}, files);
  RunOptions options;
  options.devices = {0};
  permute_file(in, gpu_result, permutation, options, files);
  std::ifstream a(cpu_result, std::ios::binary), b(gpu_result, std::ios::binary);
  const bool same = std::equal(std::istreambuf_iterator<char>(a), {}, std::istreambuf_iterator<char>(b), {});
  CHECK(same);
}
