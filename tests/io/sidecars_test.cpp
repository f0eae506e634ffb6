#include "io/sidecars.hpp"

#include <catch2/catch.hpp>

#include "io/formats.hpp"
#include "temporary_folder.hpp"
#include "test_image.hpp"

namespace sepconv {
namespace {

using Catch::Contains;
using Strings = std::vector<std::string>;

const ImageSpec kSpec{{5, 4}, 1, PixelType::u8};

void write_image(const std::filesystem::path& path, const Metadata& metadata = {}) {
  const CreateOptions options{.metadata = metadata, .overwrite = true};
  write_all(*create_writer(path, kSpec, options), TestImage::random(kSpec));
}

TEST_CASE("What lies beside a source and is not read is named, in one sentence") {
  const TemporaryFolder folder;
  const auto [name, world] = GENERATE(table<std::string, Strings>({{"a.tif", {"a.tfw", "a.tifw", "a.wld"}},
                                                                   {"a.png", {"a.pgw", "a.pngw", "a.wld"}},
                                                                   {"a.jpg", {"a.jgw", "a.jpgw", "a.wld"}},
                                                                   {"a.npy", {"a.nyw", "a.npyw", "a.wld"}},
                                                                   {"A.TIF", {"A.TFW", "A.TIFW", "A.WLD"}},
                                                                   {"i.TIF", {"i.tfw", "i.tifw", "i.wld"}},
                                                                   {"j.tif", {"j.TFW", "j.TIFW", "j.WLD"}}}));
  CAPTURE(name);
  write_image(folder.path() / name);
  for (const std::string other : {"b.tif.aux.xml", "a.xml", "b.tfw", "a.w"}) folder.write(other, "x");
  std::filesystem::create_directory(folder.path() / (name + ".ovr"));
  CHECK(open_reader(folder.path() / name)->layout().warnings.empty());
  Strings sidecars = world;
  sidecars.insert(sidecars.end(), {name + ".aux.xml", name + ".msk", name + ".MSK", name + ".OVR"});
  for (const std::string& sidecar : sidecars) {
    folder.write(sidecar, "x");
    const Strings warnings = open_reader(folder.path() / name)->layout().warnings;
    REQUIRE(warnings.size() == 1);
    CHECK_THAT(warnings[0], Catch::StartsWith(sidecar + " next to it is not read"));
    std::filesystem::remove(folder.path() / sidecar);
  }
  std::filesystem::remove(folder.path() / (name + ".ovr"));
  for (const std::string& sidecar : {name + ".aux.xml", name + ".ovr"}) folder.write(sidecar, "x");
  CHECK(open_reader(folder.path() / name)->layout().warnings ==
        Strings{name + ".aux.xml, " + name + ".ovr next to it are not read"});
}

TEST_CASE("A nodata value that GDAL's metadata beside an image declare is said, with the way to honour it") {
  const TemporaryFolder folder;
  const std::string name = GENERATE("a.tif", "a.npy", "a.png");
  const auto [xml, value] = GENERATE(table<std::string, std::string>(
      {{"<NoDataValue>-9999</NoDataValue>", "-9999"},
       {R"(<Min>1</Min><NoDataValue le_hex_equiv="0"> nan </NoDataValue>)", "nan"},
       {"<NoDataValue>a</NoDataValue>", ""},
       {"<NoDataValue", ""},
       {"<Description>dem</Description>", ""}}));
  CAPTURE(name, xml);
  write_image(folder.path() / name);
  folder.write(name + ".aux.xml",
               "<PAMDataset><PAMRasterBand band=\"1\">" + xml + "</PAMRasterBand></PAMDataset>");
  const Strings warnings = open_reader(folder.path() / name)->layout().warnings;
  REQUIRE(warnings.size() == (value.empty() ? 1 : 2));
  if (!value.empty())
    CHECK_THAT(warnings[1], Contains("declares the nodata value " + value + ":") &&
                                Contains("MissingOptions::value " + value));
}

TEST_CASE("A world file beside a TIFF that says itself where it lies is nothing lost") {
  const TemporaryFolder folder;
  Metadata metadata;
  metadata.geo_tags = {{33922, 12, 6, std::vector<std::byte>(48)}};
  write_image(folder.path() / "a.tif", metadata);
  folder.write("a.tfw", "x");
  CHECK(open_reader(folder.path() / "a.tif")->layout().warnings.empty());
}

TEST_CASE("Files next to an output that describe an earlier one are named in a warning and kept") {
  const TemporaryFolder folder;
  for (const std::string name : {"a.tif", "a.npy", "a.png"}) {
    CAPTURE(name);
    write_image(folder.path() / name);
    const auto warnings = [&] {
      return create_writer(folder.path() / name, kSpec, {.overwrite = true})->layout().warnings;
    };
    CHECK(warnings().empty());
    folder.write(name + ".aux.xml", "x");
    REQUIRE(warnings().size() == 1);
    CHECK_THAT(warnings()[0], Catch::StartsWith(name + ".aux.xml beside ") &&
                                  Contains("describes an earlier file") && Contains("remove it"));
    folder.write(name + ".ovr", "x");
    REQUIRE(warnings().size() == 1);
    CHECK_THAT(warnings()[0],
               Contains(name + ".aux.xml, " + name + ".ovr beside ") && Contains("describe an earlier file"));
    write_image(folder.path() / name);
    CHECK(folder.read(name + ".aux.xml") == "x");
  }
}

}  // namespace
}  // namespace sepconv
