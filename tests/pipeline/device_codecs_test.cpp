// Blocks of files that a GPU decodes and encodes: the same pixels and the same bytes as by the CPU, and the
// same errors.
#include <tiffio.h>
#include <zlib.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../io/temporary_folder.hpp"
#include "../support/gpu.hpp"
#include "../support/image.hpp"
#include "sepconv/core/error.hpp"
#include "sepconv/io/deflate/deflater.hpp"
#include "sepconv/pipeline/run/run_file.hpp"

using namespace sepconv;
using namespace sepconv::test;
namespace fs = std::filesystem;

namespace {

struct Kind {
  ImageSpec spec;
  bool tiled;
  bool predictor;
  Extent tile;
};

FileLayout layout_of(const Kind& kind, int level) {
  FileLayout layout{.tiled = kind.tiled, .tile = kind.tile};
  if (!kind.tiled) layout.rows_per_strip = kind.tile.rows;
  layout.compression = Compression::deflate;
  layout.level = level;
  layout.predictor = kind.predictor;
  return layout;
}

void save(const Image& image, const fs::path& path, const FileLayout& layout) {
  const auto sink = create_writer(path, image.spec(), {.layout = layout, .overwrite = true});
  run(*image.reader(), *sink, Chain());
}

RunReport filter(const fs::path& in, const fs::path& out, const Kind& kind, bool on_device,
                 std::int64_t band_cols = 0) {
  RunOptions options;
  options.threads = 2;
  options.band_rows = 64;
  options.band_cols = band_cols;
  if (on_device) options.devices = {0};
  const auto source = open_reader(in);
  const auto chain = Chain::parse({"gaussian:sigma=1.5"});
  const auto sink = create_writer(out, chain.result_spec(source->spec()),
                                  {.layout = layout_of(kind, deflate::kFast), .overwrite = true});
  return run(*source, *sink, chain, options);
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool has_step(const RunReport& report, const std::string& name) {
  return std::ranges::any_of(report.steps, [&](const StepReport& step) { return step.name == name; });
}

}  // namespace

TEST_CASE("A GPU decodes and encodes deflate blocks as the CPU does", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  using enum PixelType;
  const Kind kind = GENERATE(
      Kind{{{200, 300}, 1, u8}, true, true, {64, 64}}, Kind{{{200, 300}, 1, u16}, true, true, {64, 32}},
      Kind{{{131, 77}, 3, u8}, true, true, {16, 48}}, Kind{{{130, 90}, 4, u16}, true, true, {32, 16}},
      Kind{{{129, 65}, 1, i16}, true, false, {64, 64}}, Kind{{{200, 300}, 1, u8}, false, true, {37, 0}},
      Kind{{{90, 1000}, 2, u16}, false, true, {8, 0}}, Kind{{{64, 64}, 1, u8}, false, false, {1, 0}},
      Kind{{{150, 130}, 1, f32}, true, true, {64, 64}}, Kind{{{700, 600}, 1, u8}, true, true, {512, 512}});
  const int level = GENERATE(int{deflate::kFast}, 1, 6, 12);
  CAPTURE(kind.spec.extent.rows, kind.spec.extent.cols, kind.spec.channels, kind.tiled, level);
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.tif", by_cpu = folder.path() / "cpu.tif",
                 by_gpu = folder.path() / "gpu.tif";
  for (const Pattern pattern : {Pattern::noise, Pattern::natural, Pattern::checkerboard}) {
    save(Image::of_pattern(kind.spec, pattern, 7), in, layout_of(kind, level));
    filter(in, by_cpu, kind, false);
    const RunReport report = filter(in, by_gpu, kind, true);
    CHECK(report.plan.decodes_on_devices == !is_floating(kind.spec.type));
    CHECK(report.plan.encodes_on_devices);
    CHECK(has_step(report, "encode"));
    const bool same = bytes_of(by_gpu) == bytes_of(by_cpu);
    CHECK(same);
  }
}

TEST_CASE("Blocks that bands cut are decoded on a GPU for each", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Kind kind{{{300, 500}, 1, PixelType::u8}, true, true, {32, 64}};
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.tif", out = folder.path() / "out.tif";
  const Image image = Image::of_pattern(kind.spec, Pattern::noise, 3);
  save(image, in, layout_of(kind, 6));
  Image expected(kind.spec), made(kind.spec);
  run_whole_image(*image.reader(), *expected.writer(), Chain::parse({"gaussian:sigma=1.5"}));
  filter(in, out, kind, true, 128);
  run(*open_reader(out), *made.writer(), Chain());
  CHECK(made == expected);
}

TEST_CASE("Streams of odd encoders are left to the CPU, block by block", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  constexpr std::int64_t kSide = 64;
  const Kind kind{{{2 * kSide, 2 * kSide}, 1, PixelType::u8}, true, false, {kSide, kSide}};
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.tif", by_cpu = folder.path() / "cpu.tif",
                 by_gpu = folder.path() / "gpu.tif";
  TIFF* tiff = TIFFOpen(in.c_str(), "w");
  REQUIRE(tiff != nullptr);
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 2 * kSide);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 2 * kSide);
  TIFFSetField(tiff, TIFFTAG_TILEWIDTH, kSide);
  TIFFSetField(tiff, TIFFTAG_TILELENGTH, kSide);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
  // More pixels than the tile has; stored, coded, and one that was never written.
  const std::size_t sizes[] = {kSide * kSide + 100, kSide * kSide, kSide * kSide};
  const int levels[] = {6, 0, 9};
  for (unsigned tile = 0; tile < 3; ++tile) {
    std::vector<unsigned char> pixels(sizes[tile]);
    for (std::size_t i = 0; i < pixels.size(); ++i)
      pixels[i] = static_cast<unsigned char>((i * 7 + i / 100 * tile) % 251);
    std::vector<unsigned char> stream(compressBound(pixels.size()));
    uLongf size = stream.size();
    REQUIRE(compress2(stream.data(), &size, pixels.data(), pixels.size(), levels[tile]) == Z_OK);
    REQUIRE(TIFFWriteRawTile(tiff, tile, stream.data(), static_cast<tmsize_t>(size)) > 0);
  }
  TIFFClose(tiff);
  filter(in, by_cpu, kind, false);
  CHECK(filter(in, by_gpu, kind, true).plan.decodes_on_devices);
  const bool same = bytes_of(by_gpu) == bytes_of(by_cpu);
  CHECK(same);
}

TEST_CASE("A damaged block is the same error on a GPU, and no result is left", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Kind kind{{{256, 256}, 1, PixelType::u8}, true, true, {64, 64}};
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.tif", out = folder.path() / "out.tif";
  save(Image::of_pattern(kind.spec, Pattern::natural, 5), in,
       layout_of(kind, GENERATE(int{deflate::kFast}, 6)));
  {
    std::fstream file(in, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(fs::file_size(in) / 2));
    file << std::string(512, '\x55');
  }
  const auto message = [&](bool on_device) -> std::string {
    try {
      filter(in, out, kind, on_device);
    } catch (const IoError& error) {
      return error.what();
    }
    return "";
  };
  const std::string by_cpu = message(false);
  if (by_cpu.empty()) std::filesystem::copy_file(in, "/tmp/dmg/t.tif", fs::copy_options::overwrite_existing);
  CHECK(!by_cpu.empty());
  CHECK(message(true) == by_cpu);
  CHECK(!fs::exists(out));
}
