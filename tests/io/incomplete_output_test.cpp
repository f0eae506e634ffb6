#include <catch2/catch.hpp>
#include <filesystem>
#include <string_view>
#include <vector>

#include "core/executor.hpp"
#include "io/formats.hpp"
#include "temporary_folder.hpp"

namespace sepconv {
namespace {

/// Writes a file of two bands; the first only if `first_too`.
void write_file(const std::filesystem::path& file, bool with_first) {
  const ImageSpec spec{{64, 48}, 1, PixelType::u8};
  CreateOptions options;
  options.overwrite = true;
  options.layout.rows_per_strip = 16;
  if (file.stem() == "deflate") options.layout.compression = Compression::deflate;
  if (file.stem() == "tiles") {
    options.layout.tiled = true;
    options.layout.tile = {16, 16};
  }
  const std::vector<std::byte> pixels(static_cast<std::size_t>(spec.bytes()), std::byte{7});
  const ConstPixelView band{pixels.data(), {32, 48}, 1, PixelType::u8, 48};
  SerialExecutor executor;
  const auto writer = create_writer(file, spec, options);
  if (with_first) writer->write({0, 0, 32, 48}, band, executor);
  writer->write({32, 0, 32, 48}, band, executor);
  writer->finish();
}

TEST_CASE("a file of which a part was never written is not finished, and leaves nothing behind") {
  const TemporaryFolder folder;
  for (const char* const name :
       {"a.raw", "a.npy", "a.tif", "deflate.tif", "tiles.tif", "a.png", "a.jpg", "a.pgm", "a.bmp"}) {
    INFO(name);
    const std::filesystem::path file = folder.path() / name;
    CHECK_THROWS_WITH(write_file(file, false), Catch::Contains("1536 of its 3072 pixels were written"));
    CHECK(std::filesystem::is_empty(file.parent_path()));
    CHECK_NOTHROW(write_file(file, true));
    CHECK(std::filesystem::remove(file));
  }
}

}  // namespace
}  // namespace sepconv
