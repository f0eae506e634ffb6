// Compressed TIFFs whose blocks are decoded in pairs if the cache budget has space for the decoders: same
// pixels and errors as one by one.
#include <catch2/catch.hpp>
#include <fstream>

#include "core/error.hpp"
#include "io/byte_file.hpp"
#include "io/deflate/deflater.hpp"
#include "io/tiff/tiff.hpp"
#include "temporary_folder.hpp"
#include "test_image.hpp"
#include "tiff_layouts.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kBudget = std::int64_t{1} << 30;

/// Noise with 5 random bits per byte.
TestImage faint_noise(Extent extent, PixelType type) {
  TestImage image = TestImage::random({extent, 1, type}, 5);
  for (std::int64_t row = 0; row < extent.rows; ++row)
    for (std::int64_t i = 0; i < image.spec().row_bytes(); ++i)
      image.view().row_data(row)[i] &= std::byte{31};
  return image;
}

/// Counts the tasks of a read.
class CountingExecutor final : public Executor {
 public:
  int concurrency() const noexcept override { return 2; }
  void for_each(std::int64_t count, const std::function<void(std::int64_t, int)>& task) override {
    tasks += count;
    ThreadedExecutor(2).for_each(count, task);
  }
  std::int64_t tasks = 0;
};

std::unique_ptr<Reader> opened(const std::filesystem::path& path, std::int64_t budget) {
  auto reader = open_tiff(InputFile(path), {.page = 0});
  reader->set_cache_budget(budget);
  return reader;
}

std::int64_t tasks_of(Reader& reader) {
  TestImage image(reader.spec());
  CountingExecutor executor;
  reader.read(Rect::whole(reader.spec().extent), image.view(), executor);
  return executor.tasks;
}

void save(const std::filesystem::path& path, const TestImage& image, FileLayout layout, int level) {
  layout.level = level;
  CreateOptions options;
  options.overwrite = true;
  options.layout = layout;
  write_all(*create_tiff(path, image.spec(), options), image);
}

std::string error_of(const std::filesystem::path& path, std::int64_t budget) {
  try {
    tasks_of(*opened(path, budget));
  } catch (const IoError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("TIFF blocks without matches are decoded in pairs with the same pixels") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "a.tif";
  for (const PixelType type : {PixelType::u8, PixelType::u16, PixelType::f32}) {
    const TestImage image = faint_noise({200, 300}, type);
    for (const FileLayout& layout :
         {tiles({64, 64}, Compression::deflate), strips(30, Compression::deflate)}) {
      save(path, image, layout, deflate::kFast);
      const auto reader = opened(path, kBudget);
      CHECK(reads_everywhere(*reader, image));
      CHECK(tasks_of(*reader) == (layout.tiled ? 10 : 4));
      CHECK(tasks_of(*opened(path, 0)) == (layout.tiled ? 20 : 7));
      CHECK(reads_everywhere(*opened(path, 0), image));
    }
  }
}

TEST_CASE("TIFF blocks with matches, or too few for the threads, are decoded one by one") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "a.tif";
  const TestImage image = faint_noise({128, 128}, PixelType::u8);
  save(path, image, tiles({128, 64}, Compression::deflate), deflate::kFast);
  CHECK(tasks_of(*opened(path, kBudget)) == 2);
  save(path, image, tiles({64, 64}, Compression::lzw), deflate::kAutomatic);
  CHECK(tasks_of(*opened(path, kBudget)) == 4);
  TestImage flat = image;
  std::fill_n(flat.view().row_data(0), 128 * 128, std::byte{7});
  save(path, flat, tiles({64, 64}, Compression::deflate), deflate::kMinLevel);
  const auto reader = opened(path, kBudget);
  CHECK(tasks_of(*reader) == 2);  // the codes are not known yet
  CHECK(tasks_of(*reader) == 4);
  CHECK(reads_everywhere(*reader, flat));
}

TEST_CASE("A damaged TIFF block gives the same error in a pair as alone") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "a.tif";
  save(path, faint_noise({128, 320}, PixelType::u8), tiles({64, 64}, Compression::deflate), deflate::kFast);
  const auto bytes = static_cast<std::streamoff>(std::filesystem::file_size(path));
  int errors = 0;
  for (std::streamoff at = 400; at + 400 < bytes; at += 97) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(at);
    const auto byte = static_cast<char>(file.get());
    const auto put = [&](char value) { file.seekp(at).put(value).flush(); };
    put(static_cast<char>(byte ^ 0x10));
    const std::string single_error = error_of(path, 0);
    CAPTURE(at);
    CHECK(error_of(path, kBudget) == single_error);
    errors += !single_error.empty();
    put(byte);
  }
  CHECK(errors > 100);
  CHECK(error_of(path, kBudget).empty());
}

}  // namespace
}  // namespace sepconv
