// Zarr outputs compressed without a match search.
#include <algorithm>
#include <catch2/catch.hpp>

#include "io/deflate/deflater.hpp"
#include "io/formats.hpp"
#include "temporary_folder.hpp"
#include "test_image.hpp"
#include "zarr_files.hpp"

namespace sepconv {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("Zarr: deflate:fast and zstd:fast are written without a match search and read back") {
  const TemporaryFolder folder;
  const int version = GENERATE(2, 3);
  const auto compression = GENERATE(Compression::deflate, Compression::zstd);
  const bool is_zstd = compression == Compression::zstd;
  const TestImage noise = TestImage::random({{61, 83}, 3, PixelType::u16});
  FileLayout layout{.tiled = true, .tile = {16, 32}, .compression = compression, .level = deflate::kFast};
  layout.zarr.version = version;
  layout.zarr.is_array = true;
  if (version == 3) layout.zarr.shard = GENERATE(Extent{}, Extent{32, 64});
  const auto path = folder.path() / "a.zarr", other = folder.path() / "b.zarr";
  const auto writer = create_writer(path, noise.spec(), {.layout = layout});
  const std::string codec = is_zstd ? "zstd" : version == 2 ? "zlib" : "gzip";
  CHECK_THAT(writer->layout().description, Contains(codec + " without search"));
  CHECK(writer->layout().codec == (is_zstd ? "zstd:fast" : "deflate:fast"));
  CHECK(writer->layout().coded.has_value() == layout.zarr.shard.empty());
  const std::string warning_prefix =
      std::string(is_zstd ? "zstd" : "deflate") + ":fast hardly shrinks smooth images";
  CHECK(std::ranges::count_if(writer->layout().warnings, [&](const std::string& warning) {
          return warning.starts_with(warning_prefix);
        }) == 1);
  write_all(*writer, noise);
  CHECK(reads_everywhere(*open_reader(path), noise));
  layout.level = is_zstd ? 1 : 6;
  write_all(*create_writer(other, noise.spec(), {.layout = layout}), noise);
  const auto same = [&](const char* name) {
    return zarr_files::read(path / name) == zarr_files::read(other / name);
  };
  CHECK_FALSE(same(version == 2 ? "0/0/0" : "c/0/0/0"));
  // The metadata have a level that other zstd implementations know.
  if (is_zstd) CHECK(same(version == 2 ? ".zarray" : "zarr.json"));
}

TEST_CASE("A deflate level that Zarr does not have becomes its highest, with a warning") {
  const TemporaryFolder folder;
  const int level = GENERATE(9, 10, deflate::kBestLevel);
  FileLayout layout{.tiled = true, .tile = {16, 32}, .compression = Compression::deflate, .level = level};
  layout.zarr.version = GENERATE(2, 3);
  layout.zarr.is_array = true;
  const auto writer =
      create_writer(folder.path() / "a.zarr", {{20, 20}, 1, PixelType::u8}, {.layout = layout});
  const std::vector<std::string>& warnings = writer->layout().warnings;
  REQUIRE(warnings.size() == (level > 9 ? 1 : 0));
  if (level > 9) CHECK_THAT(warnings[0], Contains("level 9") && Contains(std::to_string(level)));
}

}  // namespace
}  // namespace sepconv
