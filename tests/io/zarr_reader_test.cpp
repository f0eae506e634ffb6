// Zarr stores of other writers, valid and damaged.
#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "io/crc32c.hpp"
#include "io/formats.hpp"
#include "io/raster_set.hpp"
#include "io/volume_set.hpp"
#include "io/zarr/zarr_codecs.hpp"
#include "temporary_folder.hpp"
#include "test_image.hpp"
#include "zarr_files.hpp"

namespace sepconv {
namespace {

using Catch::Matchers::Contains;
using zarr_files::Shape;
using zarr_files::Store;

/// Checks every image of `set`. `letters` names the axes: y, x, optionally a last c, others.
void check_images(RasterSet& set, const Shape& shape, const std::string& letters) {
  const bool has_channels = letters.ends_with("c");
  REQUIRE(set.spec().channels == (has_channels ? shape.back() : 1));
  for (std::int64_t index = 0; index < set.count(); ++index) {
    const std::vector<std::int64_t> at = position_of(set.axes(), index);
    TestImage expected(set.spec());
    for (std::int64_t row = 0; row < set.spec().extent.rows; ++row) {
      for (std::int64_t i = 0; i < expected.view().row_elements(); ++i) {
        Shape position;
        std::size_t other = 0;
        for (std::size_t axis = 0; axis < letters.size(); ++axis) {
          const char letter = letters[axis];
          position.push_back(letter == 'y'                                ? row
                             : letter == 'x'                              ? i / set.spec().channels
                             : axis + 1 == letters.size() && has_channels ? i % set.spec().channels
                                                                          : at[other++]);
        }
        expected.view().row<std::uint16_t>(row)[i] = zarr_files::value_at(position, shape);
      }
    }
    CAPTURE(index);
    REQUIRE(reads_everywhere(*set.raster(index), expected));
  }
}

TEST_CASE("Every image of a Zarr array is read correctly, with any axes, order and version") {
  const TemporaryFolder folder;
  struct Case {
    std::string letters;
    Shape shape, chunk;
    std::vector<int> order;
  };
  const Case cases[] = {{"yx", {13, 17}, {4, 5}, {}},
                        {"yx", {13, 17}, {4, 5}, {1, 0}},
                        {"x", {17}, {5}, {}},
                        {"yx", {3, 5}, {8, 8}, {}},
                        {"zyx", {5, 13, 17}, {2, 4, 5}, {}},
                        {"yxz", {13, 17, 3}, {4, 5, 2}, {2, 1, 0}},
                        {"yxc", {13, 17, 3}, {4, 5, 3}, {}},
                        {"yxc", {13, 17, 3}, {4, 5, 1}, {2, 1, 0}},
                        {"yxc", {13, 17, 3}, {4, 5, 2}, {}},
                        {"tczyx", {2, 3, 2, 7, 9}, {1, 2, 2, 4, 5}, {4, 3, 2, 1, 0}}};
  const int version = GENERATE(2, 3);
  const bool big_endian = GENERATE(false, true);
  const std::string separator = version == 2 && big_endian ? "." : "/";
  for (const auto& [letters, shape, chunk, order] : cases) {
    CAPTURE(letters, version, big_endian, order);
    const std::filesystem::path path = folder.path() / "a.zarr";
    zarr_files::make({shape, chunk, order, big_endian, version, separator}, path);
    check_images(*open_set(path, {.axes = letters}), shape, letters);
    std::filesystem::remove_all(path);
  }
}

TEST_CASE("The names of a Zarr array's axes are used if they include rows and columns") {
  const TemporaryFolder folder;
  const auto opened = [&](const std::string& names) {
    const auto path = folder.path() / "a.zarr";
    std::filesystem::remove_all(path);
    return open_set(zarr_files::make({{2, 3, 5}, {1, 3, 5}, {}, false, 3, "/", names}, path));
  };
  CHECK(opened(R"(["time", "lat", "lon"])")->axes() == RasterAxes{{"time", 2}});
  CHECK(opened(R"(["x", "y", "channel"])")->spec() == ImageSpec{{3, 2}, 5, PixelType::u16});
  CHECK(opened(R"(["x", "q", "y"])")->axes() == RasterAxes{{"q", 3}});
  CHECK_THROWS_WITH(opened(R"([null, "b", "c"])"), Contains("OpenOptions::axes"));
  CHECK_THROWS_WITH(opened(""), Contains("OpenOptions::axes"));
}

TEST_CASE(
    "Chunks that hold several images are kept from one to the next where there is room for all of them") {
  const TemporaryFolder folder;
  const Store store{{4, 10, 10}, {2, 4, 4}};
  const auto path = zarr_files::make(store, folder.path() / "a.zarr");
  const auto read_after_removal = [&](std::int64_t budget) {
    zarr_files::make(store, path);
    const auto set = open_set(path, {.axes = "zyx"});
    const auto first = set->raster(0);
    first->set_cache_budget(budget);
    read_all(*first);
    std::filesystem::remove_all(path / "c");
    return read_all(*set->raster(1)).view().row<std::uint16_t>(0)[0];
  };
  constexpr std::int64_t kCachedBytes = 64 + 512;  // chunk bytes and bookkeeping
  CHECK(read_after_removal(9 * kCachedBytes) == 100);
  CHECK(read_after_removal(0) == 0);  // the fill value
  CHECK(read_after_removal(9 * kCachedBytes - 1) == 0);
}

TEST_CASE(
    "Chunks that hold several planes of a volume are held for all of these, or read a row of chunks at a "
    "time") {
  const TemporaryFolder folder;
  const Store store{{4, 10, 10}, {2, 4, 4}};
  const auto path = zarr_files::make(store, folder.path() / "a.zarr");
  const auto volume_of = [&] {
    auto planes = open_set(path, {.axes = "zyx"});
    const auto axes = volume_axes(planes->axes(), "z");
    return volumes_of(std::move(planes), *axes).set->raster(0);
  };
  const Reader::SharedBlocks shared = volume_of()->shared_blocks();
  CHECK(shared.all_bytes == 3 * shared.row_bytes);
  const auto read_second_plane = [&](std::int64_t budget) {
    zarr_files::make(store, path);
    const auto volume = volume_of();
    volume->set_cache_budget(budget);
    read_rect(*volume, {0, 0, 1, 100});
    std::filesystem::remove_all(path / "c");
    return read_rect(*volume, {1, 0, 1, 100}).view().row<std::uint16_t>(0)[0];
  };
  CHECK(read_second_plane(shared.all_bytes) == 100);
  CHECK(read_second_plane(shared.all_bytes - 1) == 0);  // the fill value
  // Read in the order of planes or of rows of chunks.
  for (const std::int64_t budget : {std::int64_t{0}, shared.row_bytes, shared.all_bytes}) {
    zarr_files::make(store, path);
    const auto volume = volume_of();
    volume->set_cache_budget(budget);
    const TestImage member_count = read_rect(*volume, {1, 0, 3, 100});
    for (std::int64_t i = 0; i < 300; ++i)
      REQUIRE(member_count.view().row<std::uint16_t>(i / 100)[i % 100] == 100 + i);
  }
}

TEST_CASE("Chunks at the edge of a rectangle are cached for the next one") {
  const TemporaryFolder folder;
  const Store store{{10, 10}, {4, 4}};
  const auto path = zarr_files::make(store, folder.path() / "a.zarr");
  const bool budget = GENERATE(false, true);
  const auto reader = open_reader(path);
  reader->set_cache_budget(budget ? 1 << 20 : 0);
  read_rect(*reader, {0, 0, 6, 10});
  std::filesystem::remove_all(path / "c");
  CHECK(read_rect(*reader, {6, 0, 1, 1}).view().row<std::uint16_t>(0)[0] == (budget ? 60 : 0));
  CHECK(read_rect(*reader, {0, 0, 1, 1}).view().row<std::uint16_t>(0)[0] == 0);
  CHECK(read_rect(*reader, {0, 9, 1, 1}).view().row<std::uint16_t>(0)[0] == 0);
}

TEST_CASE("Missing chunks of a Zarr array have its fill value") {
  const TemporaryFolder folder;
  const Store store{{10, 10}, {4, 4}, {}, false, 3, "/", {}, {}, "513"};
  const auto path = zarr_files::make(store, folder.path() / "a.zarr");
  std::filesystem::remove(zarr_files::chunk_file(store, path, {1, 2}));
  const TestImage image = read_all(*open_reader(path));
  for (std::int64_t row = 0; row < 10; ++row) {
    for (std::int64_t col = 0; col < 10; ++col) {
      const bool hole = row / 4 == 1 && col / 4 == 2;
      CHECK(image.view().row<std::uint16_t>(row)[col] == (hole ? 513 : 10 * row + col));
    }
  }
}

std::string little_endian_64(std::uint64_t value) {
  std::string bytes(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> 8 * i & 0xFF);
  return bytes;
}

/// A shard index followed by its checksum.
std::string with_checksum(const std::string& index) {
  const std::uint32_t sum = crc32c(std::as_bytes(std::span(index)));
  return index + little_endian_64(sum).substr(0, 4);
}

/// An array of one shard with chunks of 2 x 2 elements, the last of which is missing.
struct Sharded {
  Store store{{4, 4}, {2, 2}, {}, false, 3, "/", {}, {}, "7"};
  std::filesystem::path path;
  std::string index, chunks;

  Sharded(const std::filesystem::path& folder, bool at_start) : path(folder) {
    const std::uint64_t first = at_start ? 4 * 16 + 4 : 0;
    for (std::uint64_t i = 0; i < 3; ++i) {
      index += little_endian_64(first + 8 * i) + little_endian_64(8);
      chunks += zarr_files::chunk_bytes(store,
                                        {static_cast<std::int64_t>(i / 2), static_cast<std::int64_t>(i % 2)});
    }
    index += little_endian_64(~std::uint64_t{0}) + little_endian_64(~std::uint64_t{0});
    zarr_files::write(path / "zarr.json",
                      fmt::format(R"({{"zarr_format": 3, "node_type": "array", "shape": [4, 4],
      "data_type": "uint16", "fill_value": 7, "chunk_key_encoding": {{"name": "default"}},
      "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [4, 4]}}}},
      "codecs": [{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [2, 2], "index_location": "{}",
        "codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}],
        "index_codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}, {{"name": "crc32c"}}]}}}}]}})",
                                  at_start ? "start" : "end"));
  }
  void put(const std::string& bytes) const { zarr_files::write(path / "c/0/0", bytes); }
};

TEST_CASE("Chunks of a shard are where its index says, at its start or at its end") {
  const TemporaryFolder folder;
  const bool at_start = GENERATE(false, true);
  const Sharded shard(folder.path() / "a.zarr", at_start);
  shard.put(at_start ? with_checksum(shard.index) + shard.chunks : shard.chunks + with_checksum(shard.index));
  const TestImage image = read_all(*open_reader(shard.path));
  for (std::int64_t row = 0; row < 4; ++row) {
    for (std::int64_t col = 0; col < 4; ++col)
      CHECK(image.view().row<std::uint16_t>(row)[col] == (row > 1 && col > 1 ? 7 : 4 * row + col));
  }
  std::filesystem::remove(shard.path / "c/0/0");
  CHECK_THROWS_WITH(open_reader(shard.path), Contains("none of its 1 shard is stored"));
  const auto filled = open_reader(shard.path, {.missing_chunks = MissingChunks::fill});
  CHECK(read_all(*filled).view().row<std::uint16_t>(0)[0] == 7);
}

TEST_CASE("A damaged shard is an error that names it") {
  const TemporaryFolder folder;
  const Sharded shard(folder.path() / "a.zarr", false);
  const auto check_error = [&](const std::string& bytes, const std::string& why) {
    shard.put(bytes);
    const auto reader = open_reader(shard.path);
    CHECK_THROWS_WITH(read_all(*reader), Contains(why) && Contains("a.zarr"));
  };
  std::string wrong = with_checksum(shard.index);
  wrong[0] = static_cast<char>(wrong[0] ^ 1);
  check_error(shard.chunks + wrong, "checksum (crc32c) of its index");
  check_error("short", "too short for the index");
  std::string bad_index = shard.index;
  bad_index.replace(16, 8, little_endian_64(1000));
  check_error(shard.chunks + with_checksum(bad_index), "lies at 1000 and has 8 bytes");
  bad_index.replace(16, 16, little_endian_64(~std::uint64_t{0} - 3) + little_endian_64(8));
  check_error(shard.chunks + with_checksum(bad_index), "lies at");
  std::string short_index = shard.index;
  short_index.replace(8, 8, little_endian_64(3));
  check_error(shard.chunks + with_checksum(short_index), "it has 3 bytes where a chunk has 8");
}

TEST_CASE("A damaged chunk is an error that names it") {
  const TemporaryFolder folder;
  const std::string codecs =
      GENERATE("", R"(, {"name": "zstd", "configuration": {"level": 1}})", R"(, {"name": "gzip"})",
               R"(, {"name": "numcodecs.zlib"})", R"(, {"name": "numcodecs.lz4"})", R"(, {"name": "blosc"})",
               R"(, {"name": "crc32c"})");
  const Store store{{10, 10}, {4, 4}, {}, false, 3, "/", {}, codecs};
  const auto path = zarr_files::make(store, folder.path() / "a.zarr");
  const auto file = zarr_files::chunk_file(store, path, {1, 2});
  for (const std::string& bytes :
       {std::string(), std::string("x"), std::string(31, 'x'), std::string(200000, 'x')}) {
    zarr_files::write(file, bytes);
    const auto reader = open_reader(path);
    CHECK_THROWS_WITH(read_rect(*reader, {4, 8, 1, 1}),
                      Contains("the chunk at 1, 2 is damaged") && Contains("a.zarr"));
  }
}

TEST_CASE("Damaged or unsupported Zarr metadata are an error") {
  const TemporaryFolder folder;
  const Store store{{10, 10}, {4, 4}};
  const auto path = zarr_files::make(store, folder.path() / "a.zarr");
  const std::string good = zarr_files::metadata(store);
  const auto check_error = [&](const std::string& text, const std::string& why) {
    zarr_files::write(path / "zarr.json", text);
    CAPTURE(text);
    CHECK_THROWS_WITH(open_reader(path), Contains(why) && Contains("zarr.json"));
  };
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    REQUIRE(text.find(from) != text.npos);
    return text.replace(text.find(from), from.size(), to);
  };
  for (std::size_t cut = 0; cut < good.size(); cut += 7) check_error(good.substr(0, cut), "JSON");
  check_error(std::string(100000, '[') + std::string(100000, ']'), "64 levels");
  check_error("[1]", "JSON");
  check_error(R"({"zarr_format": 3, "node_type": "array", "attributes": )" + std::string(1000, '[') +
                  std::string(1000, ']') + "}",
              "64 levels");
  check_error(with("[10, 10]", "[10, 10.5]"), "its shape");
  check_error(with("[10, 10]", "[10, -1]"), "its shape");
  check_error(with("[10, 10]", "[10, 10, 10]"), "do not fit");
  check_error(with("[4, 4]", "[4, 0]"), "chunk_shape");
  check_error(with("[4, 4]", "[4000000000000, 4000000000000]"), "do not fit");
  check_error(with("uint16", "float8_e5m2"), "float8_e5m2");
  check_error(with("regular", "rectilinear"), "rectilinear");
  check_error(with("\"bytes\"", "\"vlen-utf8\""), "vlen-utf8");
  check_error(with("\"fill_value\": 0", "\"fill_value\": 65536"), "fill_value");
  check_error(with("\"fill_value\": 0", "\"fill_value\": \"NaN\""), "fill_value");
  check_error(with("\"zarr_format\": 3", "\"zarr_format\": 4"), "zarr_format");
  check_error(good.substr(0, good.find(",\n          \"codecs\"")) + "}", "no codec bytes, which every");
  check_error(with(R"({"name": "bytes", "configuration": {"endian": "little"}})",
                   R"({"name": "gzip", "configuration": {"level": 6}})"),
              "no codec bytes, which every");
  check_error(with(R"({"name": "bytes", "configuration": {"endian": "little"}})", ""),
              "no codec bytes, which every");
  check_error(with("\"fill_value\"", "\"new\": 1, \"fill_value\""), "the member new");
  zarr_files::write(path / "zarr.json",
                    with("\"fill_value\"", "\"new\": {\"must_understand\": false}, \"fill_value\""));
  CHECK_NOTHROW(open_reader(path));
  check_error(with("\"little\"}}", R"("little"}}, {"name": "pcodec"})"), "the codec pcodec");
}

TEST_CASE("A Zarr group with one array is opened, else an error lists its arrays") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "a.zarr";
  zarr_files::write(path / "zarr.json", R"({"zarr_format": 3, "node_type": "group"})");
  CHECK_THROWS_WITH(open_reader(path), Contains("without arrays"));
  zarr_files::make({{10, 10}, {4, 4}}, path / "b" / "one");
  zarr_files::write(path / "b" / "zarr.json", R"({"zarr_format": 3, "node_type": "group"})");
  CHECK(open_reader(path)->spec().extent == Extent{10, 10});
  CHECK(open_reader(path / "b" / "one")->spec().extent == Extent{10, 10});
  zarr_files::make({{10, 10}, {4, 4}}, path / "two");
  CHECK_THROWS_WITH(open_reader(path), Contains("b/one, two"));
  CHECK_THROWS_WITH(open_reader(path / "b" / "one" / "c"), Contains("is a folder"));
}

std::string little_endian(std::uint64_t value, std::size_t bytes) {
  return little_endian_64(value).substr(0, bytes);
}

/// A zip file of these members, deflated or stored; `large`: with ZIP64 records.
std::string zip_file(const std::vector<std::pair<std::string, std::string>>& members, bool deflated,
                     bool large) {
  std::string file, directory;
  for (const auto& [name, bytes] : members) {
    std::string stored = bytes;
    if (deflated) {  // one stored block
      const std::uint64_t size = bytes.size();
      stored = '\1' + little_endian(size, 2) + little_endian(~size, 2) + bytes;
    }
    const auto sum = libdeflate_crc32(0, bytes.data(), bytes.size());
    const std::string method_and_crc =
        little_endian(deflated ? 8 : 0, 2) + little_endian(0, 4) + little_endian(sum, 4);
    const std::string sizes =
        little_endian(stored.size(), 4) + little_endian(bytes.size(), 4) + little_endian(name.size(), 2);
    const std::string extra =
        large ? little_endian(1, 2) + little_endian(8, 2) + little_endian_64(file.size()) : "";
    directory += "PK\1\2" + little_endian(20, 2) + little_endian(20, 2) + little_endian(0, 2) +
                 method_and_crc + sizes + little_endian(extra.size(), 2) + little_endian(0, 2) +
                 little_endian(0, 8) + little_endian(large ? 0xFFFFFFFF : file.size(), 4) + name + extra;
    file += "PK\3\4" + little_endian(20, 2) + little_endian(0, 2) + method_and_crc + sizes +
            little_endian(0, 2) + name + stored;
  }
  const std::uint64_t offset = file.size(), member_count = members.size();
  file += directory;
  if (large)
    file += "PK\6\6" + little_endian_64(44) + std::string(12, 0) + little_endian_64(member_count) +
            little_endian_64(member_count) + little_endian_64(directory.size()) + little_endian_64(offset) +
            "PK\6\7" + little_endian(0, 4) + little_endian_64(offset + directory.size()) +
            little_endian(1, 4);
  return file + "PK\5\6" + little_endian(0, 4) + little_endian(member_count, 2) +
         little_endian(member_count, 2) + little_endian(directory.size(), 4) +
         little_endian(large ? 0xFFFFFFFF : offset, 4) + little_endian(0, 2);
}

TEST_CASE("A Zarr store in a zip file is read, by its content or by a path within") {
  const TemporaryFolder folder;
  const bool deflated = GENERATE(false, true), large = GENERATE(false, true);
  const Store store{{10, 10}, {4, 4}};
  std::vector<std::pair<std::string, std::string>> members{
      {"zarr.json", R"({"zarr_format": 3, "node_type": "group"})"},
      {"a/zarr.json", zarr_files::metadata(store)}};
  for (std::int64_t i = 0; i < 9; ++i)
    members.emplace_back(fmt::format("a/c/{}/{}", i / 3, i % 3),
                         zarr_files::chunk_bytes(store, {i / 3, i % 3}));
  members.emplace_back("zarr.json.bak", "none");
  const std::string whole = zip_file(members, deflated, large);
  const auto path = folder.write("a.ozx", whole);
  check_images(*open_set(path), {10, 10}, "yx");
  check_images(*open_set(path / "a"), {10, 10}, "yx");
  CHECK_THROWS_WITH(open_reader(path / "b"), Contains("no Zarr array") && Contains("a.ozx/b"));
  CHECK_THROWS_WITH(open_reader(folder.write("a.pgm", "P5 1 1 255\nx") / "b"), Contains("no such file"));

  std::string damaged = whole;
  damaged[whole.find("PK\1\2") - 1] ^= 1;  // in the last member
  CHECK_NOTHROW(open_reader(folder.write("b.zip", damaged)));
  damaged = whole;
  const std::string chunk = zarr_files::chunk_bytes(store, {1, 1});
  damaged[whole.find(chunk)] ^= 1;
  CHECK_THROWS_WITH(read_all(*open_reader(folder.write("b.zip", damaged))),
                    Contains("CRC-32") && Contains("a/c/1/1"));
  for (std::size_t cut = 4; cut < whole.size(); cut += 37)
    CHECK_THROWS_AS(read_all(*open_reader(folder.write("b.zip", whole.substr(0, cut)))), IoError);
  for (std::size_t at = whole.find("PK\1\2"); at < whole.size(); ++at) {
    damaged = whole;
    damaged[at] = static_cast<char>(~damaged[at]);
    try {
      read_all(*open_reader(folder.write("b.zip", damaged)));
    } catch (const IoError&) {  // any other exception fails
    }
  }
}

TEST_CASE("No link leads out of a Zarr store") {
  const TemporaryFolder folder;
  const Store store{{8, 8}, {4, 4}};
  const auto path = zarr_files::make(store, folder.path() / "a.zarr");
  const auto file = zarr_files::chunk_file(store, path, {1, 1});
  const auto outside = folder.write("secret", zarr_files::chunk_bytes(store, {1, 1}));
  std::filesystem::remove(file);
  std::filesystem::create_symlink(outside, file);
  CHECK_THROWS_WITH(read_all(*open_reader(path)), Contains("leads out"));
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  CHECK(read_all(*open_reader(path)).view().row<std::uint16_t>(7)[7] == 0);
}

TEST_CASE("The checksum of a chunk is Castagnoli's") {
  const auto sum = [](std::string_view text) { return crc32c(std::as_bytes(std::span(text))); };
  CHECK(sum("123456789") == 0xE3069283);  // RFC 3720, B.4 has further test values
  CHECK(sum(std::string(32, '\0')) == 0x8A9136AA);
  CHECK(sum("") == 0);
}

}  // namespace
}  // namespace sepconv
