// Written Zarr stores: reading back, and no partial stores.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "io/formats.hpp"
#include "io/path_conflicts.hpp"
#include "io/raster_set.hpp"
#include "io/zarr/staging_directory.hpp"
#include "temporary_folder.hpp"
#include "test_image.hpp"
#include "zarr_files.hpp"

namespace sepconv {
namespace {

using Catch::Matchers::Contains;
using Kind = SampleType::Kind;

FileLayout layout_of(int version, Extent tile, Extent shard, std::string codecs = {}) {
  FileLayout layout;
  layout.tiled = true;
  layout.tile = tile;
  layout.zarr.version = version;
  layout.zarr.shard = shard;
  layout.zarr.codecs = std::move(codecs);
  layout.zarr.is_array = true;
  return layout;
}

/// The content of every file of a store, by relative path.
std::map<std::string, std::string> files_of(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file())
      files[entry.path().lexically_relative(folder).native()] = zarr_files::read(entry.path());
  }
  return files;
}

/// Random values that `type` can represent.
TestImage small_values(const ImageSpec& spec, SampleType type) {
  TestImage image = TestImage::random({spec.extent, spec.channels, PixelType::u8});
  TestImage values(spec);
  for (std::int64_t row = 0; row < spec.extent.rows; ++row) {
    for (std::int64_t i = 0; i < values.view().row_elements(); ++i) {
      const auto value = static_cast<std::uint8_t>(image.view().row<std::uint8_t>(row)[i] %
                                                   (type.kind == Kind::boolean ? 2 : 100));
      visit_pixel_type(spec.type, [&]<class T>(std::type_identity<T>) {
        values.view().row<T>(row)[i] = static_cast<T>(value);
      });
    }
  }
  return values;
}

TEST_CASE("Zarr round trip of every type, in chunks and in shards") {
  const TemporaryFolder folder;
  const SampleType type =
      GENERATE(SampleType(Kind::boolean, 8), SampleType(Kind::natural, 8), SampleType(Kind::natural, 16),
               SampleType(Kind::natural, 32), SampleType(Kind::natural, 64), SampleType(Kind::integer, 8),
               SampleType(Kind::integer, 16), SampleType(Kind::integer, 32), SampleType(Kind::integer, 64),
               SampleType(Kind::floating, 16), SampleType(Kind::floating, 32), SampleType(Kind::floating, 64),
               SampleType(Kind::complex, 64), SampleType(Kind::complex, 128));
  const int version = GENERATE(2, 3);
  const Extent shard = version == 2 ? Extent{} : GENERATE(Extent{}, Extent{20, 30}, Extent{1000, 1000});
  for (const std::int64_t channels : {1, 3}) {
    for (const bool planar : {false, true}) {
      for (const bool big_endian : {false, true}) {
        CAPTURE(name_of(type), version, shard.rows, channels, planar, big_endian);
        const TestImage image = small_values({{33, 57}, channels * type.parts(), type.pixels()}, type);
        CreateOptions options{
            .layout = layout_of(version, {8, 10}, shard), .stored = type, .overwrite = true};
        options.layout.compression = Compression::zstd;
        options.layout.planar = planar;
        options.layout.zarr.big_endian = big_endian;
        const auto path = folder.path() / "a.zarr";
        const auto writer = create_writer(path, image.spec(), options);
        ThreadedExecutor executor(3);
        for (const Rect& rect : {Rect{16, 20, 17, 37}, Rect{16, 0, 17, 20}, Rect{0, 0, 16, 57}})
          writer->write(rect, image.view().crop(rect), executor);
        writer->finish();
        const auto reader = open_reader(path);
        CHECK(reader->layout().stored == (type.is_pixels() ? std::nullopt : std::optional(type)));
        REQUIRE(reads_everywhere(*reader, image));
      }
    }
  }
  CHECK(folder.files() == std::vector<std::string>{"a.zarr"});
}

TEST_CASE("Zarr round trip of every codec") {
  const TemporaryFolder folder;
  const std::string codecs = GENERATE(
      "[]", R"([{"name": "zstd", "configuration": {"level": 5}}])",
      R"([{"name": "gzip", "configuration": {"level": 1}}])",
      R"([{"name": "numcodecs.zlib", "configuration": {"level": 9}}])", R"([{"name": "numcodecs.lz4"}])",
      R"([{"name": "blosc", "configuration": {"cname": "lz4", "shuffle": "bitshuffle"}}])",
      R"([{"name": "blosc", "configuration": {"cname": "zstd", "shuffle": "shuffle", "clevel": 9}}])",
      R"([{"name": "blosc", "configuration": {"cname": "blosclz", "shuffle": "noshuffle"}}])",
      R"([{"name": "crc32c"}])", R"([{"name": "zstd"}, {"name": "crc32c"}])",
      R"([{"name": "crc32c"}, {"name": "gzip"}])");
  const Extent shard = GENERATE(Extent{}, Extent{32, 64});
  CAPTURE(codecs, shard.rows);
  const TestImage noise = TestImage::random({{61, 83}, 1, PixelType::u16});
  const auto path = folder.path() / "a.zarr";
  write_all(*create_writer(path, noise.spec(), {.layout = layout_of(3, {16, 32}, shard, codecs)}), noise);
  const auto reader = open_reader(path);
  CHECK(reads_everywhere(*reader, noise));
  CHECK(nlohmann::json::parse(reader->layout().file->zarr.codecs).size() ==
        nlohmann::json::parse(codecs).size());
}

TEST_CASE("A Zarr with its source's layout has the same bytes") {
  const TemporaryFolder folder;
  const Extent shard = GENERATE(Extent{}, Extent{32, 64});
  const TestImage noise = TestImage::random({{61, 83}, 3, PixelType::u16});
  CreateOptions options{.layout =
                            layout_of(3, {16, 32}, shard, R"([{"name": "blosc"}, {"name": "crc32c"}])")};
  options.layout.zarr.fill = "3";
  options.layout.zarr.big_endian = true;
  options.layout.zarr.separator = '.';
  options.layout.zarr.v2_chunk_keys = options.layout.zarr.index_at_start = GENERATE(false, true);
  options.layout.zarr.order = GENERATE("", "cxy", "xyc");
  options.metadata.attributes = R"({"who":"me"})";
  write_all(*create_writer(folder.path() / "a.zarr", noise.spec(), options), noise);
  const auto reader = open_reader(folder.path() / "a.zarr");
  CHECK(reads_everywhere(*reader, noise));
  const ZarrLayout& read_layout = reader->layout().file->zarr;
  CHECK(read_layout.order == options.layout.zarr.order);
  CHECK(read_layout.v2_chunk_keys == options.layout.zarr.v2_chunk_keys);
  CHECK(read_layout.index_at_start == (options.layout.zarr.index_at_start && !shard.empty()));
  CreateOptions same{.layout = *reader->layout().file, .metadata = reader->metadata()};
  write_all(*create_writer(folder.path() / "b.zarr", noise.spec(), same), read_all(*reader));
  CHECK(files_of(folder.path() / "a.zarr") == files_of(folder.path() / "b.zarr"));
}

TEST_CASE("Chunks keep the source's element order, or a warning says that it is not kept") {
  const TemporaryFolder folder;
  const auto type = GENERATE(SampleType(Kind::natural, 8), SampleType(Kind::integer, 32),
                             SampleType(Kind::floating, 16), SampleType(Kind::complex, 64));
  const int version = GENERATE(2, 3);
  const TestImage image = small_values({{33, 57}, 3 * type.parts(), type.pixels()}, type);
  const auto path = folder.path() / "a.zarr";
  for (const char* const order : {"cxy", "xyc", "ycx", "xy"}) {
    for (const bool planar : {false, true}) {
      CAPTURE(name_of(type), version, order, planar);
      CreateOptions options{.layout = layout_of(version, {8, 10}, {}), .stored = type, .overwrite = true};
      options.layout.zarr.order = order;
      options.layout.planar = planar;
      const auto writer = create_writer(path, image.spec(), options);
      const bool read_layout = version == 3 ? std::string(order) != "xy" : std::string(order) == "cxy";
      CHECK(writer->layout().warnings.size() == (read_layout ? 0 : 1));
      write_all(*writer, image);
      const auto reader = open_reader(path);
      CHECK(reader->layout().file->zarr.order == (read_layout ? order : ""));
      REQUIRE(reads_everywhere(*reader, image));
    }
  }
}

TEST_CASE(
    "A chunk of nothing but fill values is not stored, but the first, and those at the edge are filled up") {
  const TemporaryFolder folder;
  TestImage image({{20, 20}, 1, PixelType::u16});
  for (std::int64_t row = 0; row < 20; ++row)
    std::fill_n(image.view().row<std::uint16_t>(row), 20, std::uint16_t{7});
  image.view().row<std::uint16_t>(17)[19] = 1;
  FileLayout layout = layout_of(3, {8, 8}, {});
  layout.zarr.fill = "7";
  const auto path = folder.path() / "a.zarr";
  write_all(*create_writer(path, image.spec(), {.layout = layout}), image);
  auto files = files_of(path);
  REQUIRE(files.size() == 3);
  CHECK(files.contains("c/0/0"));
  std::string expected;
  for (int i = 0; i < 64; ++i) expected += i == 8 + 3 ? std::string{1, 0} : std::string{7, 0};
  CHECK(files["c/2/2"] == expected);
  CHECK(reads_everywhere(*open_reader(path), image));
  layout.zarr.shard = {16, 16};
  write_all(*create_writer(path, image.spec(), {.layout = layout, .overwrite = true}), image);
  files = files_of(path);
  REQUIRE(files.size() == 3);
  CHECK(files["c/1/1"].size() == 128 + 4 * 16 + 4);
  CHECK(reads_everywhere(*open_reader(path), image));
}

TEST_CASE("An array of Zarr 2 in which nothing is missing has no fill value, and all chunks are stored") {
  const TemporaryFolder folder;
  TestImage zeros({{20, 20}, 1, PixelType::u16});
  for (std::int64_t row = 0; row < 20; ++row)
    std::fill_n(zeros.view().row<std::uint16_t>(row), 20, std::uint16_t{0});
  struct Case {
    const char* source;  ///< fill value of the source
    int source_version, version;
    const char* expected_fill;
    std::size_t chunks, warnings;
  };
  const Case test_case =
      GENERATE(Case{"", 0, 2, "null", 9, 0}, Case{"null", 2, 2, "null", 9, 0}, Case{"0", 2, 2, "0", 1, 0},
               Case{"0", 3, 2, "null", 9, 1}, Case{"7", 2, 2, "null", 9, 1}, Case{"", 0, 3, "0", 1, 0},
               Case{"null", 2, 3, "0", 1, 0}, Case{"7", 3, 3, "7", 9, 0});
  CAPTURE(test_case.source, test_case.source_version, test_case.version);
  FileLayout layout = layout_of(test_case.version, {8, 8}, {});
  layout.compression = GENERATE(Compression::none, Compression::zstd);
  if (layout.compression == Compression::zstd)
    layout.level = -1;  // zstd:fast, whose missing chunks are recognised by their bytes
  layout.zarr.fill = test_case.source;
  layout.zarr.fill_version = test_case.source_version;
  const auto path = folder.path() / "a.zarr";
  const auto writer = create_writer(path, zeros.spec(), {.layout = layout});
  CHECK(writer->layout().warnings.size() ==
        test_case.warnings + (layout.compression == Compression::zstd ? 1 : 0));
  write_all(*writer, zeros);
  auto files = files_of(path);
  const auto expected_fill = nlohmann::json::parse(files[test_case.version == 2 ? ".zarray" : "zarr.json"]);
  CHECK(expected_fill["fill_value"].dump() == test_case.expected_fill);
  CHECK(files.size() == test_case.chunks + (test_case.version == 2 ? 2 : 1));
  const auto reader = open_reader(path);
  CHECK(reads_everywhere(*reader, zeros));
  CHECK(reader->layout().file->zarr.fill == test_case.expected_fill);
}

TEST_CASE("The metadata of Zarr 2 do not say that zstd's frames have a checksum, and they have it") {
  const TemporaryFolder folder;
  const TestImage noise = TestImage::random({{20, 20}, 1, PixelType::u8});
  const int version = GENERATE(2, 3);
  const auto path = folder.path() / "a.zarr";
  const auto writer = create_writer(
      path, noise.spec(),
      {.layout = layout_of(version, {32, 32}, {},
                           R"([{"name": "zstd", "configuration": {"level": 1, "checksum": true}}])")});
  CHECK(writer->layout().warnings.size() == (version == 2 ? 1 : 0));
  write_all(*writer, noise);
  auto files = files_of(path);
  CHECK((files[version == 2 ? ".zarray" : "zarr.json"].find("checksum") == std::string::npos) ==
        (version == 2));
  const unsigned frame_header = static_cast<unsigned char>(files[version == 2 ? "0/0" : "c/0/0"].at(4));
  CHECK((frame_header & 4U) != 0);  // RFC 8878, "Content_Checksum_flag"
  CHECK(reads_everywhere(*open_reader(path), noise));
}

TEST_CASE("The bytes of a Zarr do not depend on threads") {
  const TemporaryFolder folder;
  const Extent shard = GENERATE(Extent{64, 64}, Extent{256, 256}, Extent{16, 16});
  TestImage noise = TestImage::random({{200, 210}, 1, PixelType::u8});
  for (std::int64_t row = 40; row < 100; ++row) std::fill_n(noise.view().row<std::uint8_t>(row), 130, 0);
  FileLayout layout = layout_of(3, {16, 16}, shard);
  layout.compression = GENERATE(Compression::none, Compression::zstd);
  for (const int threads : {1, 4}) {
    const auto writer =
        create_writer(folder.path() / fmt::format("{}.zarr", threads), noise.spec(), {.layout = layout});
    ThreadedExecutor executor(threads);
    for (const Rect& rect : {Rect{0, 0, 96, 210}, Rect{96, 0, 104, 210}})
      writer->write(rect, noise.view().crop(rect), executor);
    writer->finish();
  }
  CHECK(files_of(folder.path() / "1.zarr") == files_of(folder.path() / "4.zarr"));
  CHECK(reads_everywhere(*open_reader(folder.path() / "4.zarr"), noise));
}

TEST_CASE("A shard that cannot be written is an error, and no thread is left waiting") {
  const TemporaryFolder folder;
  const TestImage noise = TestImage::random({{200, 210}, 1, PixelType::u8});
  const auto writer =
      create_writer(folder.path() / "a.zarr", noise.spec(), {.layout = layout_of(3, {8, 8}, {256, 256})});
  ThreadedExecutor executor(4);
  const Rect above{0, 0, 96, 210}, below{96, 0, 104, 210};
  writer->write(above, noise.view().crop(above), executor);
  std::filesystem::remove(folder.path() / folder.files().front() / "c/0/0.part");
  CHECK_THROWS_AS(writer->write(below, noise.view().crop(below), executor), IoError);
  CHECK_THROWS_WITH(writer->finish(), Contains("was not given all"));
}

TEST_CASE("A set of images is written as a Zarr array, complete or not at all") {
  const TemporaryFolder folder;
  const int version = GENERATE(2, 3);
  const auto path = folder.path() / "out.zarr";
  const ImageSpec image{{31, 17}, 3, PixelType::u8};
  const RasterSetSpec spec{image, {{"t", 2}, {"z", 1, 4, true}, {"c", 3}}};
  const CreateOptions options{.layout = layout_of(version, {8, 8}, version == 3 ? Extent{16, 16} : Extent{})};
  std::vector<TestImage> images;
  for (unsigned i = 0; i < 6; ++i) images.push_back(TestImage::random(image, i));
  {
    const auto incomplete = create_set(path, spec, options);
    write_all(*incomplete->next({}), images[0]);
    CHECK_THROWS_WITH(incomplete->finish(), Contains("1 of 6"));
  }
  CHECK(std::filesystem::is_empty(folder.path()));
  const auto set = create_set(path, spec, options);
  for (const TestImage& test_case : images) write_all(*set->next({}), test_case);
  CHECK(!std::filesystem::exists(path));
  set->finish();
  const auto reread = open_set(path);
  CHECK(reread->axes() == RasterAxes{{"t", 2}, {"c", 3}});
  for (std::int64_t i = 0; i < 6; ++i)
    CHECK(reads_everywhere(*reread->raster(i), images[static_cast<std::size_t>(i)]));
}

TEST_CASE("Chunks and shards of several images are written once and completely, in any element order") {
  const TemporaryFolder folder;
  const std::string order = GENERATE("", "cxy10", "1yx0c");
  const bool planar = GENERATE(false, true);
  const Extent shard = GENERATE(Extent{}, Extent{16, 16});
  const ImageSpec image{{31, 17}, 3, PixelType::u16};
  const RasterSetSpec spec{image, {{"t", 3}, {"z", 5}}};
  CreateOptions options{.layout = layout_of(3, {8, 8}, shard)};
  options.layout.zarr.order = order;
  options.layout.planar = planar;
  options.layout.zarr.chunk_others = {{"t", 2}, {"z", 3}};
  options.layout.zarr.shard_others = {{"t", 2}, {"z", 6}};
  std::vector<TestImage> images;
  for (unsigned i = 0; i < 15; ++i) images.push_back(TestImage::random(image, i));
  std::map<std::string, std::string> files;
  for (const int threads : {1, 3}) {
    const auto path = folder.path() / fmt::format("{}.zarr", threads);
    const auto set = create_set(path, spec, options);
    ThreadedExecutor executor(threads);
    for (const TestImage& test_case : images) {
      const auto writer = set->next({});
      for (const Rect& rect : {Rect{16, 0, 15, 17}, Rect{0, 0, 16, 17}})
        writer->write(rect, test_case.view().crop(rect), executor);
      writer->finish();
    }
    set->finish();
    const auto reread = open_set(path);
    CHECK(reread->axes() == spec.axes);
    for (std::int64_t i = 0; i < 15; ++i)
      CHECK(reads_everywhere(*reread->raster(i), images[static_cast<std::size_t>(i)]));
    const auto expected_fill = files_of(path);
    CHECK(expected_fill.size() == (shard.empty() ? 2 * 2 * 4 * 3 * (planar ? 3 : 1) : 2 * 1 * 2 * 2) + 1);
    CHECK((files.empty() || files == expected_fill));
    files = expected_fill;
    const ZarrLayout read_layout = reread->raster(0)->layout().file->zarr;
    CHECK(to_string(read_layout.chunk_others) == (planar ? "t 2, z 3" : "t 2, z 3, c 3"));
    CHECK(read_layout.order == order);
  }
  CHECK(folder.files() == std::vector<std::string>{"1.zarr", "3.zarr"});
}

TEST_CASE("A truncated file of buffered images is an error, and no file is left") {
  const TemporaryFolder folder;
  const TestImage noise = TestImage::random({{20, 20}, 1, PixelType::u8});
  CreateOptions options{.layout = layout_of(3, {8, 8}, {})};
  options.layout.zarr.chunk_others = {{"z", 2}};
  {
    const auto set = create_set(folder.path() / "a.zarr", {noise.spec(), {{"z", 2}}}, options);
    write_all(*set->next({}), noise);
    const auto directory = folder.path() / folder.files().front();
    std::filesystem::resize_file(directory / "c/0/1/1.waiting.part", 10);
    const auto last = set->next({});
    CHECK_THROWS_AS(write_all(*last, noise), IoError);
  }
  CHECK(folder.files().empty());
}

TEST_CASE("Block shapes are parsed from text with axis names") {
  const auto text = [](std::string_view of) {
    const BlockShape shape = parse_block_shape(of);
    return fmt::format("{}: {}",
                       shape.sides ? fmt::format("{}x{}", shape.sides->rows, shape.sides->cols) : "",
                       to_string(shape.others));
  };
  CHECK(text("512") == "512x512: ");
  CHECK(text("0") == "0x0: ");
  CHECK(text("512x256") == "512x256: ");
  CHECK(text("z=16,512x256") == "512x256: z 16");
  CHECK(text("z=16,x=256,t=2,y=512") == "512x256: z 16, t 2");
  CHECK(text("z=16") == ": z 16");
  for (const char* const none :
       {"", ",", "z", "z=", "z=0", "=3", "z=2,z=3", "y=3", "x=3,x=4", "16,16", "z=2,16,y=16,x=16", "0x0",
        "16x", "x16", "-3", "99999999999999999999", "16 ", "z=2,"})
    CHECK_THROWS_WITH(parse_block_shape(none), Contains("not a shape of a block"));
}

TEST_CASE("An unfinished Zarr is marked as such and removed") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "out.zarr";
  const TestImage noise = TestImage::random({{20, 20}, 1, PixelType::u8});
  SerialExecutor executor;
  {
    const auto writer = create_writer(path, noise.spec(), {});
    CHECK(folder.files().empty());
    writer->write(Rect::whole({20, 20}), noise.view(), executor);
    REQUIRE(folder.files().size() == 1);
    CHECK_THROWS_WITH(open_reader(folder.path() / folder.files().front()), Contains("never finished"));
  }
  CHECK(folder.files().empty());
}

TEST_CASE("A killed run's Zarr folder is removed by the next run, other folders are kept") {
  const TemporaryFolder folder;
  const auto stale = folder.path() / ".out.zarr.sepconv-abc123";
  const auto other_folder = folder.path() / ".out.zarr.sepconv-abc124";
  zarr_files::write(stale / kUnfinishedMark, "");
  zarr_files::write(stale / "c/0/0", "chunk");
  zarr_files::write(other_folder / "notes", "mine");
  const TestImage noise = TestImage::random({{20, 20}, 1, PixelType::u8});
  const auto writer = create_writer(folder.path() / "out.zarr", noise.spec(), {});
  REQUIRE(writer->layout().warnings.size() == 1);
  CHECK_THAT(writer->layout().warnings[0], Contains("abc123;") && Contains("removed"));
  write_all(*writer, noise);
  CHECK(folder.files() == std::vector<std::string>{other_folder.filename(), "out.zarr"});
}

TEST_CASE("A Zarr output replaces only a Zarr") {
  const TemporaryFolder folder;
  const TestImage noise = TestImage::random({{20, 20}, 1, PixelType::u8});
  const auto path = folder.path() / "out.zarr";
  const auto make = [&](bool overwrite) {
    write_all(*create_writer(path, noise.spec(), {.overwrite = overwrite}), noise);
  };
  zarr_files::write(path / "thesis.tex", "years");
  CHECK_THROWS_WITH(make(true), Contains("is not Zarr"));
  CHECK(zarr_files::read(path / "thesis.tex") == "years");
  std::filesystem::remove_all(path);
  folder.write("out.zarr", "a file");
  CHECK_THROWS_WITH(make(true), Contains("is not Zarr"));
  std::filesystem::remove(path);
  std::filesystem::create_symlink(folder.path(), path);
  CHECK_THROWS_WITH(make(true), Contains("symbolic link"));
  std::filesystem::remove(path);
  make(false);
  CHECK_THROWS_WITH(make(false), Contains("CreateOptions::overwrite"));
  zarr_files::write(path / "c/9/9", "of the one before");
  make(true);
  CHECK(!std::filesystem::exists(path / "c/9/9"));
  CHECK(folder.files() == std::vector<std::string>{"out.zarr"});
  CHECK_THROWS_WITH(check_not_read(path, {{path / "0", "the input image"}}), Contains("lies in"));
  CHECK_NOTHROW(check_not_read(folder.path() / "out.zar", {{path / "0", "the input image"}}));
}

TEST_CASE("Nothing is written into the folder of a Zarr array") {
  const TemporaryFolder folder;
  const TestImage noise = TestImage::random({{20, 20}, 1, PixelType::u8});
  const auto array = folder.path() / "g.zarr" / "a.zarr";
  zarr_files::write(folder.path() / "g.zarr/zarr.json", R"({"zarr_format": 3, "node_type": "group"})");
  zarr_files::make({.shape = {8, 8}, .chunk = {4, 4}, .version = GENERATE(2, 3)}, array);
  std::filesystem::create_directories(array / "below");
  std::filesystem::create_directory_symlink(array, folder.path() / "link");
  for (const auto& directory : {array, array / "below", folder.path() / "link"}) {
    for (const char* const name : {"n.zarr", "n.npy"}) {
      CHECK_THROWS_WITH(create_writer(directory / name, noise.spec(), {}),
                        Contains("inside the Zarr array") && Contains("g.zarr/a.zarr; choose another path"));
      CHECK_THROWS_WITH(check_writable(directory / name, false), Contains("inside the Zarr array"));
      CHECK(!std::filesystem::exists(directory / name));
    }
  }
  CHECK_NOTHROW(check_writable(folder.path() / "g.zarr/b.zarr", false));
  CHECK_NOTHROW(check_writable(array, true));
}

TEST_CASE("Options that Zarr does not support are refused before anything is created") {
  const TemporaryFolder folder;
  const ImageSpec spec{{20, 20}, 1, PixelType::u8};
  const auto create = [&](const CreateOptions& options) {
    create_writer(folder.path() / "a.zarr", spec, options);
  };
  CHECK_THROWS_WITH(create({.layout = layout_of(2, {8, 8}, {8, 8})}), Contains("no shards"));
  CHECK_THROWS_WITH(create({.layout = layout_of(4, {8, 8}, {})}), Contains("Zarr 4"));
  FileLayout layout;
  layout.compression = Compression::lzw;
  CHECK_THROWS_WITH(create({.layout = layout}), Contains("lzw"));
  CHECK(folder.files().empty());
}

}  // namespace
}  // namespace sepconv
