// Zarr results without a search for strings.
#include <catch2/catch.hpp>

#include "sepconv/io/deflate/deflater.hpp"
#include "sepconv/io/formats.hpp"
#include "temporary_folder.hpp"
#include "test_image.hpp"
#include "zarr_files.hpp"

namespace sepconv {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("deflate:fast is coded without a search in Zarr, too, and read as any other") {
  const TemporaryFolder folder;
  const int version = GENERATE(2, 3);
  const TestImage noise = TestImage::random({{61, 83}, 3, PixelType::u16});
  FileLayout layout{
      .tiled = true, .tile = {16, 32}, .compression = Compression::deflate, .level = deflate::kFast};
  layout.zarr.version = version;
  layout.zarr.is_array = true;
  if (version == 3) layout.zarr.shard = GENERATE(Extent{}, Extent{32, 64});
  const auto path = folder.path() / "a.zarr", other = folder.path() / "b.zarr";
  const auto writer = create_writer(path, noise.spec(), {.layout = layout});
  CHECK_THAT(writer->layout().description,
             Contains(version == 2 ? "zlib without search" : "gzip without search"));
  CHECK(writer->layout().coded.has_value() == layout.zarr.shard.empty());
  write_all(*writer, noise);
  CHECK(reads_everywhere(*open_reader(path), noise));
  layout.level = 6;
  write_all(*create_writer(other, noise.spec(), {.layout = layout}), noise);
  const char* const chunk = version == 2 ? "0/0/0" : "c/0/0/0";
  CHECK(zarr_files::read(path / chunk) != zarr_files::read(other / chunk));
}

}  // namespace
}  // namespace sepconv
