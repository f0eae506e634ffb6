// JPEG-compressed TIFFs decoded on a GPU: same pixels as by libjpeg on the CPU, same errors.
#include <tiffio.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../io/temporary_folder.hpp"
#include "../kernels/decode_tiles_case.hpp"
#include "../kernels/jpeg_case.hpp"
#include "../support/fault_injection.hpp"
#include "../support/image.hpp"
#include "core/error.hpp"
#include "io/deflate/deflater.hpp"
#include "io/encoded_blocks.hpp"
#include "pipeline/run/run_file.hpp"

using namespace sepconv;
using namespace sepconv::test;
namespace fs = std::filesystem;

namespace {

/// Parameters of a file that libtiff writes.
struct Kind {
  std::uint16_t photometric, channels;
  std::uint16_t across, down;  // pixels per chroma sample
  Extent image, block;
  bool tiled = true;
  int quality = 80;
  int tables = JPEGTABLESMODE_QUANT | JPEGTABLESMODE_HUFF;  // shared by blocks
};

TIFF* create(const fs::path& path, const Kind& kind, const char* mode = "w") {
  TIFF* const tiff = TIFFOpen(path.c_str(), mode);
  REQUIRE(tiff != nullptr);
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(kind.image.cols));
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(kind.image.rows));
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, kind.channels);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_JPEG);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, kind.photometric);
  if (kind.photometric == PHOTOMETRIC_YCBCR) {
    TIFFSetField(tiff, TIFFTAG_YCBCRSUBSAMPLING, kind.across, kind.down);
    TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  }
  TIFFSetField(tiff, TIFFTAG_JPEGQUALITY, kind.quality);
  TIFFSetField(tiff, TIFFTAG_JPEGTABLESMODE, kind.tables);
  if (kind.tiled) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, static_cast<std::uint32_t>(kind.block.cols));
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, static_cast<std::uint32_t>(kind.block.rows));
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, static_cast<std::uint32_t>(kind.block.rows));
  }
  return tiff;
}

jpeg::Geometry geometry_of(const Kind& kind, std::int64_t rows) {
  return {static_cast<std::int32_t>(rows), static_cast<std::int32_t>(kind.block.cols), kind.channels,
          kind.across, kind.down};
}

std::int64_t rows_of_block(const Kind& kind, std::int64_t index) {
  return kind.tiled ? kind.block.rows : std::min(kind.block.rows, kind.image.rows - index * kind.block.rows);
}

void save(const fs::path& path, const Kind& kind) {
  Random random(6);
  const TIFFErrorHandler warning_handler =
      TIFFSetWarningHandler(nullptr);  // about coarse quantization tables
  TIFF* const tiff = create(path, kind);
  const std::uint32_t blocks = kind.tiled ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff);
  for (std::uint32_t i = 0; i < blocks; ++i) {
    Bytes pixels = jpeg_pixels(random, geometry_of(kind, rows_of_block(kind, i)));
    const auto bytes = static_cast<tmsize_t>(pixels.size());
    REQUIRE((kind.tiled ? TIFFWriteEncodedTile(tiff, i, pixels.data(), bytes)
                        : TIFFWriteEncodedStrip(tiff, i, pixels.data(), bytes)) > 0);
  }
  TIFFClose(tiff);
  TIFFSetWarningHandler(warning_handler);
}

/// Writes tiles that contain all their tables, cycling through the `encoders`, with an APP2 segment of
/// `profile_bytes` bytes if that is not 0.
void save_encoded(const fs::path& path, const Kind& kind, const std::vector<JpegEncoderSettings>& encoders,
                  std::uint16_t profile_bytes = 0, const char* mode = "w") {
  Random random(7);
  TIFF* const tiff = create(path, kind, mode);
  for (std::uint32_t i = 0; i < TIFFNumberOfTiles(tiff); ++i) {
    const JpegEncoderSettings& parameters = encoders[i % encoders.size()];
    Bytes stream = jpeg_of(jpeg_pixels(random, parameters.geometry), parameters);
    if (profile_bytes > 0) {
      Bytes segment(profile_bytes + std::size_t{2}, std::byte{0xC2});
      segment[0] = std::byte{0xFF}, segment[1] = std::byte{0xE2};
      segment[2] = static_cast<std::byte>(profile_bytes >> 8),
      segment[3] = static_cast<std::byte>(profile_bytes);
      stream.insert(stream.begin() + 2, segment.begin(), segment.end());
    }
    REQUIRE(TIFFWriteRawTile(tiff, i, stream.data(), static_cast<tmsize_t>(stream.size())) > 0);
  }
  TIFFClose(tiff);
}

RunReport filter(const fs::path& in, const fs::path& out, bool on_device, std::int64_t band_cols = 0) {
  RunOptions options;
  options.threads = 2;
  options.band_rows = 64;
  options.band_cols = band_cols;
  if (on_device) options.devices = {0};
  const auto source = open_reader(in);
  const auto chain = Chain::parse({"gaussian:sigma=1.5"});
  const auto sink = create_writer(out, chain.result_spec(source->spec()),
                                  {.layout = FileLayout{.tiled = true, .tile = {64, 64}}, .overwrite = true});
  return run(*source, *sink, chain, options);
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string error_of(const fs::path& in, const fs::path& out, bool on_device) {
  try {
    filter(in, out, on_device);
  } catch (const IoError& error) {
    return error.what();
  }
  return "";
}

/// For each tile of a file, why the GPU refuses it, or 0.
std::vector<std::int32_t> refusals(const fs::path& path) {
  const auto reader = open_reader(path);
  const EncodedTiles tiles = *reader->layout().coded;
  const Extent grid = tiles.grid(reader->spec().extent);
  std::vector<Bytes> streams;
  for (std::int64_t i = 0; i < grid.area(); ++i) {
    const std::int64_t row = i / grid.cols, col = i % grid.cols;
    streams.emplace_back(static_cast<std::size_t>(reader->encoded()->encoded_bytes(row, col)));
    reader->encoded()->read_encoded(row, col, streams.back());
  }
  return by_gpu(streams, tiles).refused;
}

bool gpu_equals_cpu(const fs::path& in, std::int64_t band_cols = 0) {
  const fs::path cpu_error = in.parent_path() / "cpu.tif", by_gpu = in.parent_path() / "gpu.tif";
  filter(in, cpu_error, false, band_cols);
  CHECK(filter(in, by_gpu, true, band_cols).plan.decodes_on_devices());
  return bytes_of(by_gpu) == bytes_of(cpu_error);
}

bool has_note(const Plan& plan, const std::string& part) {
  return std::ranges::any_of(plan.notes,
                             [&](const std::string& note) { return note.find(part) != note.npos; });
}

const Kind kYcc{PHOTOMETRIC_YCBCR, 3, 2, 2, {100, 130}, {64, 48}};

}  // namespace

TEST_CASE("A GPU decodes a TIFF's JPEGs as the CPU does", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  const Kind kind = GENERATE(Kind{kYcc}, Kind{PHOTOMETRIC_YCBCR, 3, 2, 1, {100, 130}, {32, 240}},
                             Kind{PHOTOMETRIC_YCBCR, 3, 1, 1, {97, 65}, {16, 16}},
                             Kind{PHOTOMETRIC_YCBCR, 3, 2, 2, {300, 260}, {256, 256}},
                             Kind{PHOTOMETRIC_RGB, 3, 1, 1, {100, 130}, {64, 48}},
                             Kind{PHOTOMETRIC_MINISBLACK, 1, 1, 1, {77, 131}, {48, 64}},
                             Kind{PHOTOMETRIC_YCBCR, 3, 2, 2, {100, 37}, {16, 37}, false},
                             Kind{PHOTOMETRIC_YCBCR, 3, 2, 2, {60, 3}, {16, 3}, false},
                             Kind{PHOTOMETRIC_RGB, 3, 1, 1, {53, 70}, {8, 70}, false});
  const int quality = GENERATE(20, 80, 100), tables = GENERATE(0, 3);
  Kind variant = kind;
  variant.quality = quality, variant.tables = tables;
  CAPTURE(kind.photometric, kind.across, kind.down, kind.block.rows, kind.block.cols, quality, tables);
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.tif";
  save(in, variant);
  CHECK(gpu_equals_cpu(in));
  if (!kind.tiled) return;
  CHECK(gpu_equals_cpu(in, 100));
  for (const std::int32_t refused : refusals(in)) CHECK(refused == 0);
}

TEST_CASE("JPEGs with tables of their own and restarts, and odd ones among them, are decoded block by block",
          "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.tif";
  const jpeg::Geometry geometry = geometry_of(kYcc, kYcc.block.rows);
  const JpegEncoderSettings plain{.geometry = geometry},
      restarts{.geometry = geometry, .restart_interval = 3},
      fitted{.geometry = geometry, .quality = 40, .optimises = true},
      progressive{.geometry = geometry, .is_progressive = true};
  save_encoded(in, kYcc, {plain, restarts, fitted});
  CHECK(gpu_equals_cpu(in));
  CHECK(std::ranges::count(refusals(in), 0) == 6);
  save_encoded(in, kYcc, {plain, progressive});
  CHECK(gpu_equals_cpu(in));
  CHECK(std::ranges::count(refusals(in), 0) == 3);
  save_encoded(in, kYcc, {progressive});
  const Plan plan = filter(in, folder.path() / "out.tif", true).plan;
  CHECK(!plan.decodes_on_devices());
  CHECK(has_note(plan, "the CPU decodes the source's blocks"));
}

TEST_CASE("A GPU decodes JPEGs whose frames stand behind a profile of colours", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Kind kind{PHOTOMETRIC_YCBCR, 3, 2, 2, {300, 260}, {256, 256}};
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.tif";
  save_encoded(in, kind, {{.geometry = geometry_of(kind, kind.block.rows)}}, 60000);
  CHECK(gpu_equals_cpu(in));
  CHECK(std::ranges::count(refusals(in), 0) == 4);
}

TEST_CASE("Pages whose JPEGs a GPU decodes, decodes otherwise and does not have plans of their own",
          "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Kind no_subsampling = kYcc;
  no_subsampling.across = no_subsampling.down = 1;
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.tif";
  const jpeg::Geometry geometry = geometry_of(kYcc, kYcc.block.rows);
  save_encoded(in, kYcc, {{.geometry = geometry}});
  save_encoded(in, kYcc, {{.geometry = geometry, .is_progressive = true}}, 0, "a");
  save_encoded(in, no_subsampling, {{.geometry = geometry_of(no_subsampling, no_subsampling.block.rows)}}, 0,
               "a");
  const Chain chain = Chain::parse({"gaussian:sigma=1.5"});
  const auto run_on = [&](const char* name, const std::vector<int>& devices) {
    RunOptions options;
    options.threads = 2;
    options.devices = devices;
    run_file(in, folder.path() / name, chain, options);
    return bytes_of(folder.path() / name);
  };
  const bool same = run_on("cpu.tif", {}) == run_on("gpu.tif", {0});
  CHECK(same);

  const auto pages = open_set(in);
  REQUIRE(pages->count() == 3);
  const test::Image result(pages->raster(0)->spec());
  PlanOptions options;
  options.devices = {0};
  const Plan first_plan = plan(*pages->raster(0), *result.writer(), chain, options);
  REQUIRE(first_plan.decodes_on_devices());
  for (const std::int64_t page : {1, 2})
    CHECK_THROWS_AS(run(*pages->raster(page), *result.writer(), first_plan), InvalidArgument);
  CHECK_NOTHROW(run(*pages->raster(0), *result.writer(), first_plan));
}

TEST_CASE("What a GPU is to decode has to be there, and what it is to encode", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.tif";
  save(in, kYcc);
  const auto source = open_reader(in);
  const test::Image pixels(source->spec());
  run(*source, *pixels.writer(), Chain());
  const FileLayout layout{
      .tiled = true, .tile = {64, 64}, .compression = Compression::deflate, .level = deflate::kFast};
  const auto sink = create_writer(folder.path() / "out.tif", source->spec(), {.layout = layout});
  PlanOptions options;
  options.devices = {0};
  const Plan decodes = plan(*source, *pixels.writer(), Chain(), options);
  const Plan encodes = plan(*pixels.reader(), *sink, Chain(), options);
  REQUIRE(decodes.decodes_on_devices());
  REQUIRE(encodes.encodes_on_devices());
  CHECK_THROWS_AS(run(*pixels.reader(), *pixels.writer(), decodes), InvalidArgument);
  CHECK_THROWS_AS(run(*pixels.reader(), *pixels.writer(), encodes), InvalidArgument);
}

TEST_CASE("JPEGs with more bytes than pixels go to a GPU, as many as there is room for", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.tif";
  const auto reads_of_cpu = [&] {
    const auto source = open_reader(in);
    std::int64_t reads = 0;
    HookedReader reader(*source, [&](std::int64_t) { ++reads; });
    const test::Image result(source->spec());
    RunOptions options;
    options.threads = 1;
    options.devices = {0};
    CHECK(run(reader, *result.writer(), Chain(), options).plan.decodes_on_devices());
    CHECK(gpu_equals_cpu(in));
    return reads;
  };
  const Kind grey{PHOTOMETRIC_MINISBLACK, 1, 1, 1, {64, 64}, {16, 16}};
  const jpeg::Geometry geometry = geometry_of(grey, grey.block.rows);
  save_encoded(in, grey, {{.geometry = geometry, .quality = 100}});
  CHECK(fs::file_size(in) > 16 * 256);
  CHECK(reads_of_cpu() == 0);
  Kind noise_kind = kYcc;
  noise_kind.across = noise_kind.down = 1;
  save_encoded(in, noise_kind,
               {{.geometry = geometry_of(noise_kind, noise_kind.block.rows), .quality = 100}});
  CHECK(reads_of_cpu() < 2);  // of 6 blocks of noise
}

TEST_CASE("A damaged JPEG is the same error on a GPU, and no result is left", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const bool at_its_end = GENERATE(false, true);
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.tif", out = folder.path() / "out.tif";
  save(in, kYcc);
  const std::string good = bytes_of(in);
  const std::size_t middle = good.size() / 2;
  {
    std::fstream file(in, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(at_its_end ? good.rfind("\xFF\xD9", middle) : middle));
    file << (at_its_end ? std::string("\xFF\xD8") : std::string(64, '\xFF'));
  }
  const std::string cpu_error = error_of(in, out, false);
  CHECK(!cpu_error.empty());
  CHECK(error_of(in, out, true) == cpu_error);
  CHECK(!fs::exists(out));
}

TEST_CASE("JPEGs of four components and of odd sampling are the CPU's, and the plan says so", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.tif";
  for (const Kind& kind : {Kind{PHOTOMETRIC_SEPARATED, 4, 1, 1, {100, 130}, {64, 48}},
                           Kind{PHOTOMETRIC_YCBCR, 3, 1, 2, {100, 130}, {64, 48}}}) {
    save(in, kind);
    const Plan plan = filter(in, folder.path() / "out.tif", true).plan;
    CHECK(!plan.decodes_on_devices());
    CHECK(has_note(plan, "a GPU decodes JPEGs of 1 or 3 components"));
  }
}
