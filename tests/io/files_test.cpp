#include <catch2/catch.hpp>
#include <set>
#include <sstream>

#include "core/error.hpp"
#include "io/byte_file.hpp"
#include "io/formats.hpp"
#include "small_images.hpp"
#include "temporary_folder.hpp"
#include "test_image.hpp"

namespace sepconv {
namespace {

using Catch::Contains;

TEST_CASE("Compressions have names") {
  for (const char* const name : {"none", "lzw", "deflate", "zstd", "jpeg", "packbits"}) {
    REQUIRE(parse_compression(name).has_value());
    CHECK(name_of(*parse_compression(name)) == name);
  }
  CHECK_FALSE(parse_compression("gzip").has_value());
}

TEST_CASE("Every listed extension can be written, and is read back by the file's content") {
  const TemporaryFolder folder;
  const std::set<std::string> needs_colour{".ppm"};
  for (const Format& format : built_in_formats()) {
    std::istringstream endings{std::string(format.endings)};
    for (std::string ending; endings >> ending;) {
      CAPTURE(ending);
      const TestImage image =
          TestImage::random({{33, 21}, needs_colour.count(ending) != 0 ? 3 : 1, PixelType::u8});
      const std::string name = ending == ".raw" || ending == ".bin" ? "a_21x33_u8" + ending : "a" + ending;
      write_all(*create_writer(folder.path() / name, image.spec(), {}), image);
      CHECK(folder.files() == std::vector<std::string>{name});
      const auto reader = open_reader(folder.path() / name);
      CHECK(reader->spec() == image.spec());
      if (ending.find("jp") == ending.npos) CHECK(same_pixels(read_all(*reader).view(), image.view()));
      std::filesystem::remove_all(folder.path() / name);
    }
  }
}

TEST_CASE("The name does not matter to what is read, and its case not to what is written") {
  const TemporaryFolder folder;
  const TestImage image = TestImage::random({{5, 6}, 1, PixelType::u16});
  write_all(*create_writer(folder.path() / "a.NPY", image.spec(), {}), image);
  std::filesystem::rename(folder.path() / "a.NPY", folder.path() / "a.tif");
  CHECK(same_pixels(read_all(*open_reader(folder.path() / "a.tif")).view(), image.view()));
}

TEST_CASE("Raw when the caller or the name says so") {
  const TemporaryFolder folder;
  const auto path = folder.write("like.tif", std::string("II*\0\0\0", 6));
  CHECK(open_reader(path, {.raw = ImageSpec{{2, 3}, 1, PixelType::u8}})->spec() ==
        ImageSpec{{2, 3}, 1, PixelType::u8});
  CHECK(open_reader(folder.write("a_3x1_u16.raw", "BMabcd"))->spec() == ImageSpec{{1, 3}, 1, PixelType::u16});
  CHECK(open_reader(folder.write("a_3x1_u16.RAW", "BMabcd"))->spec() == ImageSpec{{1, 3}, 1, PixelType::u16});
  CHECK_THROWS_WITH(open_reader(folder.write("a.bin", "abcdef")), Contains("does not say its shape"));
}

TEST_CASE("Files that are not images are refused with a clear message") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(open_reader(folder.path() / "absent.tif"), Contains("no such file"));
  CHECK_THROWS_WITH(open_reader(folder.path()), Contains("is a folder"));
  CHECK_THROWS_WITH(open_reader(folder.write("empty.png", "")), Contains("empty"));
  CHECK_THROWS_WITH(open_reader(folder.write("a.png", "GIF89a, not a PNG")),
                    Contains("first bytes") && Contains("TIFF, NPY, Zarr, PNG"));
  for (const char* const little : {"I", "II", "II*", "\x93", "P", "B", "\xFF\xD8"}) {
    CHECK_THROWS_AS(open_reader(folder.write("a", little)), IoError);
  }
  CHECK_THROWS_WITH(open_reader(folder.write("a.ppm", "P6 1 1 255\nRGB"), {.page = 1}),
                    Contains("only TIFF, NPY, Zarr files have pages"));
}

TEST_CASE("Impossible targets are refused before anything is created") {
  const TemporaryFolder folder;
  const ImageSpec spec{{4, 4}, 1, PixelType::u8};
  CHECK_THROWS_WITH(create_writer(folder.path() / "a.gif", spec, {}), Contains(".gif") && Contains(".tif"));
  CHECK_THROWS_WITH(create_writer(folder.path() / "a", spec, {}), Contains("without an ending"));
  folder.write("b.npy", "old");
  folder.write("b.png", "old");
  folder.write("b.tif", "old");
  for (const char* const name : {"b.npy", "b.png", "b.tif"}) {
    CAPTURE(name);
    CHECK_THROWS_WITH(create_writer(folder.path() / name, spec, {}), Contains("CreateOptions::overwrite"));
    CHECK_NOTHROW(create_writer(folder.path() / name, spec, {.overwrite = true}));
    CHECK(folder.read(name) == "old");
    CHECK_THROWS_WITH(create_writer(folder.path() / "none" / name, spec, {}), Contains("does not exist"));
  }
  CHECK(folder.files().size() == 3);
}

TEST_CASE("Facts about a file") {
  const TemporaryFolder folder;
  const FileInfo raw = file_info(folder.write("a_3x2_u8.raw", "123456"));
  CHECK(raw.format == "raw");
  CHECK(raw.file_bytes == 6);
  CHECK(raw.pages.at(0).spec == ImageSpec{{2, 3}, 1, PixelType::u8});
  for (const small_images::Sample& sample : small_images::samples()) {
    const FileInfo info = file_info(folder.write(sample.name, sample.content));
    CHECK(info.pages.at(0).spec == sample.spec);
    CHECK_FALSE(info.pages.at(0).layout.streams);
    CHECK_FALSE(info.pages.at(0).facts.empty());
  }
  const TestImage image = TestImage::random({{5, 6}, 1, PixelType::u16});
  write_all(*create_writer(folder.path() / "a.npy", image.spec(), {}), image);
  CHECK(file_info(folder.path() / "a.npy").format == "NPY 1.0");
  write_all(*create_writer(folder.path() / "a.tif", image.spec(), {}), image);
  CHECK_THAT(file_info(folder.path() / "a.tif").format, Contains("TIFF"));
}

/// A reader that has a spec but no pixels.
class SpecReader final : public Reader {
 public:
  explicit SpecReader(std::int64_t channels) : spec_{{2, 3}, channels, PixelType::u8} {}
  const ImageSpec& spec() const noexcept override { return spec_; }
  const SourceLayout& layout() const noexcept override { return layout_; }
  const Metadata& metadata() const noexcept override { return metadata_; }
  void read(const Rect&, const PixelView&, Executor&) override { FAIL("nothing is to be read"); }
  std::int64_t buffer_bytes(int) const override { return 0; }

 private:
  ImageSpec spec_;
  SourceLayout layout_;
  Metadata metadata_;
};

template <int kChannels>
std::unique_ptr<Reader> open_spec_reader(InputFile, const OpenOptions&) {
  return std::make_unique<SpecReader>(kChannels);
}

TEST_CASE("Formats are tried in order: by path, by first bytes, by extension") {
  const Format formats[] = {
      {.name = "A", .endings = ".a .x", .reads = "", .writes = "", .open = open_spec_reader<1>},
      {.name = "B",
       .endings = ".b",
       .reads = "",
       .writes = "",
       .has_pages = true,
       .begins = [](std::span<const std::byte> head) { return begins_with(head, "B"); },
       .open = open_spec_reader<2>},
      {.name = "C",
       .endings = ".c",
       .reads = "",
       .writes = "",
       .has_axes = true,
       .begins = [](std::span<const std::byte> head) { return begins_with(head, "BC"); },
       .open = open_spec_reader<3>},
      {.name = "D",
       .endings = ".d",
       .reads = "",
       .writes = "",
       .matches_path = [](const std::filesystem::path& path,
                          const OpenOptions&) { return path.stem() == "d"; },
       .open = open_spec_reader<4>},
      {.name = "written", .endings = ".w", .reads = "", .writes = ""},
  };
  const TemporaryFolder folder;
  const auto opened = [&](const char* name, const char* content, const OpenOptions& options = {}) {
    return open_reader(folder.write(name, content), options, formats)->spec().channels;
  };
  CHECK(opened("f.a", "?") == 1);
  CHECK(opened("f.X", "?") == 1);
  CHECK(opened("f.a", "BC") == 2);
  CHECK(opened("d.a", "BC") == 4);
  CHECK(opened("f", "B", {.page = 7}) == 2);
  CHECK_THROWS_WITH(opened("f.b", "?"), Contains("no format that is read (B, C)"));
  CHECK_THROWS_WITH(opened("f.w", "?"), Contains("no format that is read (B, C)"));
  CHECK_THROWS_WITH(opened("f.a", "?", {.page = 7}), Contains("only B files have pages"));
  CHECK_THROWS_WITH(opened("f.a", "?", {.axes = "yx"}), Contains("is for C,"));
  CHECK_THROWS_WITH(create_writer(folder.path() / "f.a", {{2, 3}, 1, PixelType::u8}, {}, formats),
                    Contains("names no format that is written"));
}

TEST_CASE("Only a TIFF has a layout to copy") {
  const TemporaryFolder folder;
  CHECK_FALSE(open_reader(folder.write("a.ppm", "P6 1 1 255\nRGB"))->layout().file.has_value());
  const TestImage image = TestImage::random({{50, 60}, 1, PixelType::u8});
  CreateOptions options;
  options.layout = {.tiled = true, .tile = {16, 32}, .compression = Compression::deflate};
  write_all(*create_writer(folder.path() / "a.tif", image.spec(), options), image);
  const auto layout = open_reader(folder.path() / "a.tif")->layout().file;
  REQUIRE(layout.has_value());
  CHECK(layout->tiled);
  CHECK(layout->tile == Extent{16, 32});
  CHECK(layout->compression == Compression::deflate);
}

}  // namespace
}  // namespace sepconv
