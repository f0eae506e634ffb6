// File blocks decoded and encoded on a GPU: same pixels, bytes and errors as on the CPU.
#include <tiffio.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "../io/temporary_folder.hpp"
#include "../support/gpu.hpp"
#include "../support/image.hpp"
#include "../support/overlap_detector.hpp"
#include "../support/small_run.hpp"
#include "core/error.hpp"
#include "io/deflate/deflater.hpp"
#include "kernels/pointwise/pointwise.hpp"
#include "pipeline/run/run_file.hpp"

using namespace sepconv;
using namespace sepconv::test;
namespace fs = std::filesystem;

namespace {

struct Kind {
  ImageSpec spec;
  bool tiled;
  bool predictor;
  Extent tile;
  Compression compression = Compression::deflate;
};

FileLayout layout_of(const Kind& kind, int level) {
  FileLayout layout{.tiled = kind.tiled, .tile = kind.tile};
  if (!kind.tiled) layout.rows_per_strip = kind.tile.rows;
  layout.compression = kind.compression;
  layout.level = level;
  layout.predictor = kind.predictor;
  return layout;
}

/// The layout of a result that a GPU encodes with the source's codec.
FileLayout result_layout(const Kind& kind) { return layout_of(kind, deflate::kFast); }

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
                                  {.layout = result_layout(kind), .overwrite = true});
  return run(*source, *sink, chain, options);
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The error of a run, or "" if it succeeds.
std::string error_of(const fs::path& in, const fs::path& out, const Kind& kind, bool on_device) {
  try {
    filter(in, out, kind, on_device);
  } catch (const IoError& error) {
    return error.what();
  }
  return "";
}

bool has_step(const RunReport& report, const std::string& name) {
  return std::ranges::any_of(report.steps, [&](const StepReport& step) { return step.name == name; });
}

}  // namespace

TEST_CASE("A GPU decodes and encodes blocks of deflate and zstd as the CPU does", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  using enum PixelType;
  Kind kind = GENERATE(
      Kind{{{200, 300}, 1, u8}, true, true, {64, 64}}, Kind{{{200, 300}, 1, u16}, true, true, {64, 32}},
      Kind{{{131, 77}, 3, u8}, true, true, {16, 48}}, Kind{{{130, 90}, 4, u16}, true, true, {32, 16}},
      Kind{{{129, 65}, 1, i16}, true, false, {64, 64}}, Kind{{{200, 300}, 1, u8}, false, true, {37, 0}},
      Kind{{{90, 1000}, 2, u16}, false, true, {8, 0}}, Kind{{{64, 64}, 1, u8}, false, false, {1, 0}},
      Kind{{{150, 130}, 1, f32}, true, true, {64, 64}}, Kind{{{75, 131}, 3, f32}, true, true, {16, 48}},
      Kind{{{90, 77}, 2, f64}, false, true, {13, 0}}, Kind{{{80, 70}, 1, f64}, true, false, {32, 16}},
      Kind{{{700, 600}, 1, u8}, true, true, {512, 512}});
  using Codec = std::pair<Compression, int>;
  const auto [compression, level] =
      GENERATE(Codec{Compression::deflate, deflate::kFast}, Codec{Compression::deflate, 1},
               Codec{Compression::deflate, 6}, Codec{Compression::deflate, 12},
               Codec{Compression::zstd, deflate::kFast});
  kind.compression = compression;
  CAPTURE(kind.spec.extent.rows, kind.spec.extent.cols, kind.spec.channels, kind.tiled, level);
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.tif", cpu_result = folder.path() / "cpu.tif",
                 gpu_result = folder.path() / "gpu.tif";
  for (const Pattern pattern : {Pattern::noise, Pattern::natural, Pattern::checkerboard}) {
    save(Image::of_pattern(kind.spec, pattern, 7), in, layout_of(kind, level));
    filter(in, cpu_result, kind, false);
    const RunReport report = filter(in, gpu_result, kind, true);
    CHECK(report.plan.decodes_on_devices());
    CHECK(report.plan.encodes_on_devices());
    CHECK(has_step(report, "encode"));
    const bool same = bytes_of(gpu_result) == bytes_of(cpu_result);
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
  Image expected(kind.spec), actual(kind.spec);
  run_whole_image(*image.reader(), *expected.writer(), Chain::parse({"gaussian:sigma=1.5"}));
  filter(in, out, kind, true, 128);
  run(*open_reader(out), *actual.writer(), Chain());
  CHECK(actual == expected);
}

TEST_CASE("Blocks of an image that a border repeats are the CPU's, to whichever side", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Kind kind{{{320, 300}, 1, PixelType::u8}, true, true, {64, 64}};
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.tif";
  const Image image = Image::of_pattern(kind.spec, Pattern::noise, 3);
  save(image, in, layout_of(kind, 6));
  const auto [stage, wraps] = GENERATE(
      std::pair("convolve:row=1,2,1,border=wrap", true), std::pair("convolve:col=1,2,1,border=wrap", true),
      std::pair("box:radius=2,border=wrap", true), std::pair("box:radius=2", false));
  const auto region = GENERATE(std::optional<Rect>(), std::optional(Rect{96, 0, 128, 120}));
  CAPTURE(stage, region.has_value());
  const Chain chain = Chain::parse({stage});
  const Rect part = region.value_or(Rect::whole(kind.spec.extent));
  Image expected(chain.result_spec(kind.spec));
  run_whole_image(*image.reader(), *expected.writer(), chain);
  ImageSpec spec = expected.spec();
  spec.extent = part.extent();
  const Image actual(spec), expected_part(spec);
  copy_pixels(expected.view().crop(part), expected_part.view());
  RunOptions options;
  options.threads = 2;
  options.band_rows = 64;
  options.devices = {0};
  options.region = part;
  const Plan plan = run(*open_reader(in), *actual.writer(), chain, options).plan;
  CHECK(actual == expected_part);
  // A part whose neighbours are all within the image needs no wrapped pixels.
  const bool stays_inside = region && std::string_view(stage).starts_with("convolve:col");
  CHECK(plan.decodes_on_devices() == (!wraps || stays_inside));
}

TEST_CASE("A GPU decodes floats of other writers: either byte order, any predictor, cut by bands", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const std::uint16_t bits = GENERATE(32, 64);
  const std::uint16_t predictor = GENERATE(PREDICTOR_NONE, PREDICTOR_HORIZONTAL, PREDICTOR_FLOATINGPOINT);
  const std::uint16_t compression = GENERATE(COMPRESSION_ADOBE_DEFLATE, COMPRESSION_ZSTD);
  const std::string order = GENERATE("l", "b");
  const std::uint16_t channels = GENERATE(1, 3);
  CAPTURE(bits, predictor, compression, order, channels);
  const Kind kind{{{75, 131}, channels, bits == 32 ? PixelType::f32 : PixelType::f64}, true, true, {16, 48}};
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.tif", cpu_result = folder.path() / "cpu.tif",
                 gpu_result = folder.path() / "gpu.tif";
  {
    TIFF* const tiff = TIFFOpen(in.c_str(), ("w" + order).c_str());
    REQUIRE(tiff != nullptr);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 131);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 75);
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, 48);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, 32);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, channels);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, compression);
    TIFFSetField(tiff, TIFFTAG_PREDICTOR, predictor);
    for (unsigned i = 0; i < TIFFNumberOfTiles(tiff); ++i) {
      // Rebuilt for each tile because libtiff swaps the bytes in place. Small integers are not NaN in either
      // byte order; NaN payloads differ between devices.
      const Image bytes = Image::of_pattern({{32, 48}, channels, PixelType::u8}, Pattern::noise, 4);
      const Image tile({{32, 48}, channels, kind.spec.type});
      pointwise_reference({}, bytes.view(), bytes.view(), tile.view(), Arithmetic::f64);
      REQUIRE(TIFFWriteEncodedTile(tiff, i, tile.view().data, tile.spec().bytes()) > 0);
    }
    TIFFClose(tiff);
  }
  for (const std::int64_t band_cols : {0, 100}) {
    filter(in, cpu_result, kind, false, band_cols);
    CHECK(filter(in, gpu_result, kind, true, band_cols).plan.decodes_on_devices());
    const bool same = bytes_of(gpu_result) == bytes_of(cpu_result);
    CHECK(same);
  }
}

TEST_CASE("A GPU decodes blocks of zstd as the CPU does", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  using enum PixelType;
  constexpr auto kZstd = Compression::zstd;
  const Kind kind = GENERATE(Kind{{{200, 300}, 1, u8}, true, true, {64, 64}, kZstd},
                             Kind{{{131, 77}, 3, u8}, true, false, {16, 48}, kZstd},
                             Kind{{{130, 90}, 4, u16}, true, true, {32, 16}, kZstd},
                             Kind{{{129, 65}, 1, i16}, false, true, {37, 0}, kZstd},
                             Kind{{{700, 600}, 1, u16}, true, true, {512, 512}, kZstd},
                             Kind{{{64, 64}, 1, u8}, false, false, {1, 0}, kZstd});
  const int level = GENERATE(1, 3, 19);
  const std::int64_t band_cols = GENERATE(0, 48);
  if (band_cols > 0 && !kind.tiled) return;
  CAPTURE(kind.spec.extent.rows, kind.spec.extent.cols, kind.spec.channels, kind.tiled, level, band_cols);
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.tif", cpu_result = folder.path() / "cpu.tif",
                 gpu_result = folder.path() / "gpu.tif";
  for (const Pattern pattern : {Pattern::noise, Pattern::natural, Pattern::checkerboard}) {
    save(Image::of_pattern(kind.spec, pattern, 7), in, layout_of(kind, level));
    filter(in, cpu_result, kind, false, band_cols);
    CHECK(filter(in, gpu_result, kind, true, band_cols).plan.decodes_on_devices());
    const bool same = bytes_of(gpu_result) == bytes_of(cpu_result);
    CHECK(same);
  }
}

namespace {

constexpr std::int64_t kSide = 64;
constexpr ttag_t kNodataTag = 42113;

/// Registers the tag GDAL_NODATA with libtiff.
void register_nodata(TIFF* tiff) {
  static const TIFFFieldInfo kField{kNodataTag,   -1, -1, TIFF_ASCII,
                                    FIELD_CUSTOM, 1,  0,  const_cast<char*>("nodata")};
  TIFFMergeFieldInfo(tiff, &kField, 1);
}

/// A TIFF of `grid` tiles. Tiles with an empty stream are not written. The nodata value is 7.
void save_tiles(const fs::path& path, int compression,
                const std::function<std::vector<unsigned char>(unsigned tile)>& stream_of,
                Extent grid = {2, 2}) {
  TIFF* tiff = TIFFOpen(path.c_str(), "w");
  REQUIRE(tiff != nullptr);
  register_nodata(tiff);
  TIFFSetField(tiff, kNodataTag, "7");
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(grid.cols * kSide));
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(grid.rows * kSide));
  TIFFSetField(tiff, TIFFTAG_TILEWIDTH, kSide);
  TIFFSetField(tiff, TIFFTAG_TILELENGTH, kSide);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, compression);
  for (unsigned tile = 0; tile < grid.area(); ++tile) {
    std::vector<unsigned char> stream = stream_of(tile);
    if (stream.empty()) continue;
    REQUIRE(TIFFWriteRawTile(tiff, tile, stream.data(), static_cast<tmsize_t>(stream.size())) > 0);
  }
  TIFFClose(tiff);
}

std::vector<unsigned char> pixels_of(std::size_t size, unsigned tile) {
  std::vector<unsigned char> pixels(size);
  for (std::size_t i = 0; i < size; ++i)
    pixels[i] = static_cast<unsigned char>((i * 7 + i / 100 * tile) % 251);
  return pixels;
}

/// A zstd frame of the pixels from `first` to `end`.
std::vector<unsigned char> zstd_frame(const std::vector<unsigned char>& pixels, std::size_t first,
                                      std::size_t end, bool checked) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checked ? 1 : 0);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  std::vector<unsigned char> frame(ZSTD_compressBound(end - first));
  frame.resize(ZSTD_compress2(context, frame.data(), frame.size(), pixels.data() + first, end - first));
  ZSTD_freeCCtx(context);
  return frame;
}

/// Two zstd frames with checksums, which a GPU does not decode.
std::vector<unsigned char> two_frames(const std::vector<unsigned char>& pixels) {
  std::vector<unsigned char> frames = zstd_frame(pixels, 0, 100, true);
  const std::vector<unsigned char> rest = zstd_frame(pixels, 100, pixels.size(), true);
  frames.insert(frames.end(), rest.begin(), rest.end());
  return frames;
}

void check_same(const fs::path& in, const Kind& kind) {
  const fs::path cpu_result = in.parent_path() / "cpu.tif", gpu_result = in.parent_path() / "gpu.tif";
  filter(in, cpu_result, kind, false);
  CHECK(filter(in, gpu_result, kind, true).plan.decodes_on_devices());
  const bool same = bytes_of(gpu_result) == bytes_of(cpu_result);
  CHECK(same);
}

}  // namespace

TEST_CASE("Streams of odd encoders are left to the CPU, block by block", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Kind kind{{{2 * kSide, 2 * kSide}, 1, PixelType::u8}, true, false, {kSide, kSide}};
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.tif";
  save_tiles(in, COMPRESSION_ADOBE_DEFLATE, [](unsigned tile) {
    if (tile == 3) return std::vector<unsigned char>();
    // A stream of more pixels than the tile has, a stored one, a compressed one.
    const std::size_t sizes[] = {kSide * kSide + 100, kSide * kSide, kSide * kSide};
    const int levels[] = {6, 0, 9};
    const std::vector<unsigned char> pixels = pixels_of(sizes[tile], tile);
    std::vector<unsigned char> stream(compressBound(pixels.size()));
    uLongf size = stream.size();
    REQUIRE(compress2(stream.data(), &size, pixels.data(), pixels.size(), levels[tile]) == Z_OK);
    stream.resize(size);
    return stream;
  });
  check_same(in, kind);
}

TEST_CASE("NaN in blocks that a GPU decodes is warned of in the CPU's words", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Kind kind{{{128, 192}, 1, PixelType::f32}, true, true, {64, 64}};
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.tif", out = folder.path() / "out.tif";
  const Image image = Image::of_pattern(kind.spec, Pattern::natural, 2);
  const auto warnings = [&](bool on_device) {
    save(image, in, layout_of(kind, 6));
    const Plan plan = filter(in, out, kind, on_device).plan;
    CHECK(plan.decodes_on_devices() == on_device);
    return plan.warnings;
  };
  const auto base_warnings = warnings(true);
  CHECK(base_warnings == warnings(false));
  image.view().row<float>(100)[170] = std::numeric_limits<float>::quiet_NaN();
  const auto cpu_result = warnings(false);
  CHECK(warnings(true) == cpu_result);
  CHECK(cpu_result.size() == base_warnings.size() + 1);
}

namespace {

constexpr Extent kGrid{3, 5};
const Kind kGridKind{
    {{kGrid.rows * kSide, kGrid.cols* kSide}, 1, PixelType::u8}, true, false, {kSide, kSide}};

/// The blocks that a GPU does not decode.
struct Refusals {
  std::function<bool(unsigned block)> refused, unwritten;
  std::int64_t count() const {
    std::int64_t sum = 0;
    for (unsigned i = 0; i < kGrid.area(); ++i) sum += refused(i) || unwritten(i) ? 1 : 0;
    return sum;
  }
};

/// Writes one zstd frame per tile, two for refused tiles.
void save_grid(const fs::path& path, const Refusals& refusals) {
  save_tiles(
      path, COMPRESSION_ZSTD,
      [&](unsigned tile) {
        if (refusals.unwritten(tile)) return std::vector<unsigned char>();
        const std::vector<unsigned char> pixels = pixels_of(kSide * kSide, tile);
        return refusals.refused(tile) ? two_frames(pixels) : zstd_frame(pixels, 0, kSide * kSide, true);
      },
      kGrid);
}

}  // namespace

TEST_CASE("What a GPU refuses all threads of the CPU read, in memory that the plan counts", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const auto never = [](unsigned) { return false; };
  const Refusals refusals =
      GENERATE_COPY(Refusals{never, never}, Refusals{[](unsigned i) { return i % 5 % 2 == 0; }, never},
                    Refusals{[](unsigned) { return true; }, never},
                    Refusals{[](unsigned i) { return i % 2 == 0; }, [](unsigned i) { return i % 5 > 2; }},
                    Refusals{never, [](unsigned i) { return i != 7; }});
  const int threads = GENERATE(1, 2, 4);
  CAPTURE(refusals.count(), threads);
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.tif", cpu_result = folder.path() / "cpu.tif",
                 gpu_result = folder.path() / "gpu.tif";
  save_grid(in, refusals);
  filter(in, cpu_result, kGridKind, false);

  Rendezvous rendezvous(2);
  std::atomic<std::int64_t> reads = 0;
  const auto source = open_reader(in);
  HookedReader reader(*source, [&](std::int64_t call) {
    ++reads;
    if (threads > 1 && call < 2) rendezvous.arrive_and_wait();
  });
  FailingMemory pinned(-1, pinned_resource()), memory(-1, device_resource());
  RunOptions options = small_bands(3, {0});
  options.threads = threads;
  options.band_rows = kSide;
  options.pinned_memory = &pinned;
  options.device_memory = &memory;
  const auto sink =
      create_writer(gpu_result, kGridKind.spec, {.layout = result_layout(kGridKind), .overwrite = true});
  const Plan plan = run(reader, *sink, Chain::parse({"gaussian:sigma=1.5"}), options).plan;
  CHECK(plan.decodes_on_devices());
  CHECK(reads == refusals.count());
  if (threads > 1 && reads > 0) CHECK(rendezvous.all_arrived());
  CHECK(pinned.peak_bytes() == plan.memory.slots);
  CHECK(memory.peak_bytes() == plan.device_memory.total());
  const bool same = bytes_of(gpu_result) == bytes_of(cpu_result);
  CHECK(same);
}

TEST_CASE("A damaged block among those that a GPU refuses is the CPU's error", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.tif", out = folder.path() / "out.tif";
  save_tiles(
      in, COMPRESSION_ZSTD,
      [](unsigned tile) {
        auto frames = two_frames(pixels_of(kSide * kSide, tile));
        if (tile == 8) frames.back() ^= 1;
        return frames;
      },
      kGrid);
  const std::string cpu_result = error_of(in, out, kGridKind, false);
  CHECK(cpu_result.find("block 8") != cpu_result.npos);
  CHECK(error_of(in, out, kGridKind, true) == cpu_result);
  CHECK(!fs::exists(out));
}

TEST_CASE("Frames of zstd that a GPU does not take are left to the CPU, block by block", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Kind kind{{{2 * kSide, 2 * kSide}, 1, PixelType::u8}, true, false, {kSide, kSide}};
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.tif", out = folder.path() / "out.tif";
  constexpr std::size_t kSize = kSide * kSide;
  // One frame without a content size, two frames, one frame with a checksum.
  const auto stream_of = [](unsigned tile) {
    if (tile == 3) return std::vector<unsigned char>();
    const std::vector<unsigned char> pixels = pixels_of(kSize, tile);
    return tile == 1 ? two_frames(pixels) : zstd_frame(pixels, 0, kSize, tile == 2);
  };
  save_tiles(in, COMPRESSION_ZSTD, stream_of);
  check_same(in, kind);
  // A wrong checksum is an error.
  save_tiles(in, COMPRESSION_ZSTD, [&](unsigned tile) {
    std::vector<unsigned char> frames = stream_of(tile);
    if (tile == 2) frames.back() ^= 1;
    return frames;
  });
  const std::string cpu_result = error_of(in, out, kind, false);
  CHECK(!cpu_result.empty());
  CHECK(error_of(in, out, kind, true) == cpu_result);
}

TEST_CASE("A damaged block is the same error on a GPU, and no result is left", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const auto compression = GENERATE(Compression::deflate, Compression::zstd);
  const int level = compression == Compression::zstd ? 3 : GENERATE(int{deflate::kFast}, 6);
  const Kind kind{{{256, 256}, 1, PixelType::u8}, true, true, {64, 64}, compression};
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.tif", out = folder.path() / "out.tif";
  save(Image::of_pattern(kind.spec, Pattern::natural, 5), in, layout_of(kind, level));
  {
    std::fstream file(in, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(fs::file_size(in) / 2));
    file << std::string(512, '\x55');
  }
  const std::string cpu_result = error_of(in, out, kind, false);
  CHECK(!cpu_result.empty());
  CHECK(error_of(in, out, kind, true) == cpu_result);
  CHECK(!fs::exists(out));
}

TEST_CASE("What is predicted has what a GPU takes to decode, also where that is nearly all", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Kind kind{{{512, 512}, 1, PixelType::u8}, true, true, {64, 64}};
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in.tif";
  save(Image::of_pattern(kind.spec, Pattern::natural, 3), in, layout_of(kind, 6));
  const auto source = open_reader(in);
  const Chain chain = Chain::parse({"reduce:factor=8"});
  const Image result(chain.result_spec(source->spec()));
  PlanOptions options;
  options.devices = {0};
  options.machine.device.codecs[static_cast<std::size_t>(BlockCodec::zlib)].decode_rate = 512 * 512;
  for (const int slots : {1, 2, 3}) {
    options.slots = slots;
    const Plan actual = plan(*source, *result.writer(), chain, options);
    CAPTURE(slots, to_string(actual.predicted));
    CHECK(actual.predicted.decode >= 1);
    CHECK(actual.predicted.total >= actual.predicted.decode);
  }
}
