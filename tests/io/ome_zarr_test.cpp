// OME-Zarr metadata: parsing, writing, transforming with the pixels, and converting from and to OME-XML and
// ImageJ.
#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <span>

#include "core/error.hpp"
#include "io/stack/ngff.hpp"
#include "io/stack/stack.hpp"

using namespace sepconv;
using Catch::Matchers::Contains;

namespace {

const std::string kAxes =
    R"("axes":[{"name":"t","type":"time","unit":"second"},{"name":"c","type":"channel"},{"name":"z","type":"space","unit":"micrometer"},
       {"name":"y","type":"space","unit":"micrometer"},{"name":"x","type":"space","unit":"micrometer"}])";
const std::string kDatasets =
    R"("datasets":[{"path":"0","coordinateTransformations":[{"type":"scale","scale":[1,1,2,0.5,0.25]}]},
       {"path":"s/1","coordinateTransformations":[{"type":"scale","scale":[1,1,2,1,0.5]},{"type":"translation","translation":[0,0,0,0.25,0.125]}]}])";
const std::string kOmero =
    R"("omero":{"channels":[{"label":"DAPI","color":"0000FF","window":{"min":0,"max":255,"start":10,"end":200},"active":true},
       {"label":"GFP","color":"00ff00","window":{"min":0,"max":255,"start":0,"end":90}},{"label":"","color":"FFFFFF"}],"rdefs":{"model":"color"}})";

std::string in_ome_05(const std::string& inside) {
  return R"({"other":1,"ome":{"version":"0.5",)" + inside + "}}";
}
std::string image_05() {
  return in_ome_05(
      R"("multiscales":[{"name":"cells",)" + kAxes + "," + kDatasets +
      R"(,"coordinateTransformations":[{"type":"scale","scale":[0.1,1,1,1,1]},{"type":"translation","translation":[5,0,0,0,1]}]}],)" +
      kOmero);
}
std::string replace_once(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

const OmeAxis& axis_of(const OmeImage& image, const std::string& name) {
  return *std::find_if(image.axes.begin(), image.axes.end(),
                       [&](const auto& axis) { return axis.name == name; });
}

ImageChange change_to(const PixelTransform& map) {
  const SampleSpec spec({{100, 100}, 1, PixelType::u8}, {});
  return {.map = map, .from = spec, .to = spec};
}

OmeImage transformed_image(const OmeImage& image, const RasterAxes& axes, const ImageChange& change,
                           std::size_t warning_count = 0) {
  std::vector<std::string> lost;
  const std::string text = describe_stack(ngff_text(image), axes, change, lost);
  CHECK(lost.size() == warning_count);
  return parse_ngff_text(text);
}

Metadata metadata_with(std::string description, std::optional<Resolution> resolution = {}) {
  Metadata metadata;
  metadata.description = std::move(description);
  metadata.resolution = resolution;
  return metadata;
}

}  // namespace

TEST_CASE("OME-Zarr: an image has axes, levels and channels; transformations of all levels come last") {
  const NgffGroup group = read_ngff(image_05(), "a.zarr");
  REQUIRE(group.images.size() == 1);
  const NgffMultiscale& one = group.images[0];
  CHECK(group.version == "0.5");
  CHECK(group.others == R"({"other":1})");
  CHECK(one.image.name == "cells");
  CHECK(one.others == std::vector<std::string>{"rdefs"});
  REQUIRE(one.levels.size() == 2);
  CHECK(one.levels[1].path == "s/1");
  const OmeImage second = one.at_level(1);
  CHECK(axis_of(second, "t") == OmeAxis{"t", "time", "second", 0.1, 5});
  CHECK(axis_of(second, "c") == OmeAxis{"c", "channel", "", 1, 0});
  CHECK(axis_of(second, "y") == OmeAxis{"y", "space", "micrometer", 1, 0.25});
  CHECK(axis_of(second, "x") == OmeAxis{"x", "space", "micrometer", 0.5, 1.125});
  REQUIRE(second.channels.size() == 3);
  CHECK(second.channels[0] == OmeChannel{"DAPI", 0x0000ff, OmeWindow{0, 255, 10, 200}, R"({"active":true})"});
  CHECK(second.channels[1].rgb == 0x00ff00);
  CHECK_FALSE(second.channels[2].window);
}

TEST_CASE("OME-Zarr: 0.4 has the same metadata without the member ome") {
  const std::string text_04 =
      R"({"multiscales":[{"version":"0.4","name":"cells",)" + kAxes + "," + kDatasets + "}]," + kOmero + "}";
  const NgffGroup group = read_ngff(text_04, "a.zarr");
  CHECK(group.version == "0.4");
  CHECK(group.images.at(0).at_level(0).axes[4] == OmeAxis{"x", "space", "micrometer", 0.25, 0});
}

TEST_CASE("OME-Zarr: suffixes of a known version are accepted") {
  const NgffGroup version_05 = read_ngff(replace_once(image_05(), "0.5", "0.5-dev-spatialdata"), "a");
  CHECK(version_05.version == "0.5");
  CHECK(version_05.full_version == "0.5-dev-spatialdata");
  CHECK(version_05.images.at(0).levels.size() == 2);
  const std::string version_04_text =
      R"({"multiscales":[{"version":"0.4+x",)" + kAxes + "," + kDatasets + "}]}";
  CHECK(read_ngff(version_04_text, "a").version == "0.4");
  CHECK(read_ngff(version_04_text, "a").full_version == "0.4+x");
  for (const char* const other : {"0.50", "0.5dev", "0.4-dev", "-0.5"})
    CHECK_THROWS_WITH(read_ngff(replace_once(image_05(), "0.5", other), "a"),
                      Contains(fmt::format("version {}, and", other)));
}

TEST_CASE("OME-Zarr: of transformations to named coordinate systems only the first is used") {
  const auto image = [](const std::string& output) {
    return read_ngff(in_ome_05(R"("multiscales":[{)" + kAxes + "," + kDatasets +
                               R"(,"coordinateTransformations":[{"type":"scale","scale":[1,1,1,2,2])" +
                               output + R"(},{"type":"scale","scale":[1,1,1,4,4])" + output + "}]}]"),
                     "a")
        .images.at(0);
  };
  CHECK(image("").levels[0].scale[3] == 4);
  CHECK(image("").others.empty());
  const NgffMultiscale first = image(R"(,"output":{"name":"global"})");
  CHECK(first.levels[0].scale[3] == 1);
  CHECK(first.others == std::vector<std::string>{"coordinateTransformations but the first",
                                                 "output of coordinateTransformations"});
}

TEST_CASE("OME-Zarr: labels, plates, wells and groups without OME metadata") {
  CHECK(read_ngff(in_ome_05(R"("labels":["cells","nuclei"])"), "a").labels ==
        std::vector<std::string>{"cells", "nuclei"});
  CHECK(read_ngff(R"({"labels":["cells"]})", "a").labels == std::vector<std::string>{"cells"});
  CHECK(read_ngff(in_ome_05(R"("plate":{"wells":[{"path":"A/1"},{"path":"B/2"}]})"), "a").wells ==
        std::vector<std::string>{"A/1", "B/2"});
  CHECK(read_ngff(R"({"plate":{"version":"0.4","wells":[{"path":"A/1"}]}})", "a").wells.size() == 1);
  CHECK(read_ngff(in_ome_05(R"("well":{"images":[{"path":"0"},{"path":"1"}]})"), "a").fields.size() == 2);
  const auto label_of = [](const std::string& member) {
    return read_ngff(replace_once(image_05(), R"("multiscales")", member + R"("multiscales")"), "a")
        .images.at(0);
  };
  CHECK(label_of("").image.label.empty());
  CHECK(label_of(R"("image-label":{},)").image.label == "{}");
  const NgffMultiscale label = label_of(
      R"("image-label":{"version":"0.5","colors":[{"label-value":1}],"source":{"image":"../../"}},)");
  CHECK(label.image.label == R"({"colors":[{"label-value":1}]})");
  CHECK(label.others == std::vector<std::string>{"rdefs"});
  CHECK(label_of(R"("image-label":{"source":{"image":"../0"}},)").others ==
        std::vector<std::string>{"rdefs", "source of image-label"});
  CHECK(label_of(R"("_creator":{"name":"x"},)").others == std::vector<std::string>{"rdefs", "_creator"});
  CHECK(read_ngff(R"({"bioformats2raw.layout":3})", "a").version == "0.4");
  CHECK(read_ngff(R"({"units":"kg"})", "a").version.empty());
  CHECK(read_ngff("{}", "a").version.empty());
  CHECK(read_ngff("[", "a").version.empty());
}

TEST_CASE("OME-Zarr: what is damaged, or of another version, is one sentence that names the file") {
  const auto refused = [](const std::string& from, const std::string& to) {
    try {
      read_ngff(replace_once(image_05(), from, to), "dir/a.zarr");
      return std::string("nothing is refused");
    } catch (const IoError& error) {
      return std::string(error.what());
    }
  };
  CHECK_THAT(refused("0.5", "0.1"),
             Contains("dir/a.zarr: ") && Contains("version 0.1, and in \"ome\" 0.5 is read"));
  CHECK_THAT(refused(R"("0.5")", "5"), Contains("version is not text"));
  CHECK_THAT(refused(R"("name":"t")", R"("name":"x")"), Contains("two axes x"));
  CHECK_THAT(refused(R"("name":"y")", R"("name":"w")"), Contains("do not end the axes with y and x"));
  CHECK_THAT(refused(R"("path":"s/1")", R"("path":"../1")"), Contains("leads out"));
  CHECK_THAT(refused(R"("path":"s/1")", R"("path":"/etc")"), Contains("leads out"));
  CHECK_THAT(refused(R"("path":"s/1")", R"("path":"a//b")"), Contains("leads out"));
  CHECK_THAT(refused(R"("path":"s/1")", R"("path":7)"), Contains("path is not text"));
  CHECK_THAT(refused(R"("path":"s/1",)", ""), Contains("has no path"));
  CHECK_THAT(refused("[1,1,2,0.5,0.25]", "[1,1]"), Contains("2 numbers for 5 axes"));
  CHECK_THAT(refused("[1,1,2,0.5,0.25]", "[1,1,2,0.5,\"1\"]"), Contains("not a number"));
  CHECK_THAT(refused("[1,1,2,0.5,0.25]", "\"scale\""), Contains("scale is not a list"));
  CHECK_THAT(refused("[1,1,2,0.5,0.25]", "[1e308,1,2,0.5,0.25]"), Contains("nothing is refused"));
  CHECK_THAT(refused("[0.1,1,1,1,1]", "[0.1,1,1,1,1e308]"), Contains("nothing is refused"));
  CHECK_THAT(
      refused("[0,0,0,0.25,0.125]", "[0,0,0,0.25,1e308]}, {\"type\":\"scale\",\"scale\":[1,1,1,1,100]"),
      Contains("lead to no number"));
  CHECK_THAT(refused(R"("type":"translation")", R"("type":"affine")"), Contains("affine"));
  CHECK_THAT(refused(kDatasets, R"("datasets":[])"), Contains("0 levels"));
  CHECK_THAT(refused(kAxes, R"("axes":["y","x"])"), Contains("not an object"));
  CHECK_THAT(refused(kAxes, R"("axes":[{"name":"x"}])"), Contains("1 axes"));
  CHECK_THAT(refused(R"({"label":"DAPI")", R"(7,{"label":"DAPI")"), Contains("a channel is not an object"));
}

TEST_CASE("OME-Zarr: pyramid levels are centred on the pixels that they average") {
  const OmeImage image = read_ngff(image_05(), "a").images[0].at_level(0);
  for (const int zarr : {2, 3}) {
    const std::string text =
        ngff_attributes(image, {{"0", {1, 1, 1, 1, 1}}, {"1", {1, 1, 1, 4, 2}}}, zarr, false);
    const NgffGroup reread = read_ngff(text, "b");
    CHECK(reread.version == (zarr == 2 ? "0.4" : "0.5"));
    const NgffMultiscale& one = reread.images.at(0);
    CHECK(one.at_level(0) == image);
    CHECK(one.levels.at(1).scale == std::vector<double>{0.1, 1, 2, 2, 0.5});
    CHECK(one.levels[1].translation == std::vector<double>{5, 0, 0, 0.75, 1.125});
  }
}

TEST_CASE("OME-Zarr: metadata are transformed with the pixels") {
  const OmeImage image = read_ngff(image_05(), "a").images[0].at_level(0);
  const RasterAxes axes{{"t", 2, 3}, {"c", 2, 1}, {"z", 1, 4, true}};
  const OmeImage part = transformed_image(image, axes, change_to({.row = 10, .col = 20}));
  CHECK(axis_of(part, "t").translation == Approx(5 + 3 * 0.1));
  CHECK(axis_of(part, "z").translation == 8);
  CHECK(axis_of(part, "y") == OmeAxis{"y", "space", "micrometer", 0.5, 5});
  CHECK(axis_of(part, "x") == OmeAxis{"x", "space", "micrometer", 0.25, 6});
  REQUIRE(part.channels.size() == 2);
  CHECK(part.channels[0].name == "GFP");

  const OmeImage smaller = transformed_image(image, {}, change_to({.rows = 3, .cols = 2}));
  CHECK(axis_of(smaller, "y") == OmeAxis{"y", "space", "micrometer", 1.5, 0.5});
  CHECK(axis_of(smaller, "x") == OmeAxis{"x", "space", "micrometer", 0.5, 1.125});
  const OmeImage transposed = transformed_image(image, {}, change_to({.rows = 1, .turned = true}));
  CHECK(axis_of(transposed, "y") == OmeAxis{"y", "space", "micrometer", 0.25, 1});
  CHECK(axis_of(transposed, "x") == OmeAxis{"x", "space", "micrometer", 0.5, 0});

  ImageChange product = change_to({});
  product.map.reset();
  CHECK(axis_of(transformed_image(image, {}, product, 1), "y") == OmeAxis{"y", "space", "", 1, 0});
  ImageChange channels = change_to({});
  channels.channels = true;
  CHECK(transformed_image(image, {}, channels, 1).channels.empty());
}

TEST_CASE("OME-Zarr: pixel sizes are kept if the images are numbered by other axes") {
  const OmeImage image = read_ngff(image_05(), "a").images[0].at_level(0);
  OmeImage counted = transformed_image(image, {{"page", 7}}, change_to({.cols = 2}), 1);
  CHECK(counted.name == "cells");
  CHECK(counted.channels.empty());
  REQUIRE(counted.axes.size() == 2);
  CHECK(counted.axes[0] == OmeAxis{"y", "space", "micrometer", 0.5, 0});
  CHECK(counted.axes[1].scale == 0.5);
}

TEST_CASE("OME-Zarr: sizes that are not numbers in a result are left out") {
  OmeImage image{"", {{"y", "space", "micrometer", 1e308}, {"x", "space", "micrometer", 0.5}}, {}};
  for (const double rows : {1.0, 16.0}) {
    const OmeImage result = transformed_image(image, {}, change_to({.rows = rows}), 1);
    CHECK(axis_of(result, "y") == OmeAxis{"y", "space", ""});
    CHECK(axis_of(result, "x") == OmeAxis{"x", "space", "micrometer", 0.5});
  }
}

TEST_CASE("OME-Zarr: label metadata are kept while pixels are only moved") {
  OmeImage image{"", {{"y", "space", ""}, {"x", "space", ""}}, {}, R"({"colors":[]})"};
  CHECK(transformed_image(image, {}, change_to({.col = 3, .turned = true})).label == image.label);
  ImageChange values = change_to({});
  values.values = true;
  CHECK(transformed_image(image, {}, values, 1).label.empty());
  const NgffGroup group_04 = read_ngff(ngff_attributes(image, {{"0", {1, 1}}}, 2, true), "a");
  CHECK(group_04.version == "0.4");
  CHECK(group_04.images.at(0).image.label == image.label);
}

TEST_CASE("OME-XML, ImageJ and TIFF tags convert to the same image metadata") {
  std::vector<std::string> lost;
  const SampleSpec spec({{4, 5}, 1, PixelType::u16}, {});
  const OmeImage image = read_ngff(image_05(), "a").images[0].at_level(0);
  const std::string xml = create_ome_xml(spec, {{"t", 2}, {"c", 3}, {"z", 4}}, image);
  CHECK_THAT(xml, Contains(R"(PhysicalSizeX="0.25")") && Contains(R"(PhysicalSizeXUnit="µm")") &&
                      Contains(R"(TimeIncrement="0.1")") && Contains(R"(Name="DAPI")") &&
                      Contains(R"(Color="65535")") && Contains(R"(Image ID="Image:0" Name="cells")"));
  const OmeImage back = ome_image_of(metadata_with(xml), lost);
  CHECK(lost.empty());
  CHECK(back.name == "cells");
  CHECK(axis_of(back, "z") == OmeAxis{"z", "space", "micrometer", 2, 0});
  CHECK(axis_of(back, "t") == OmeAxis{"t", "time", "second", 0.1, 0});
  CHECK(back.channels.at(1) == OmeChannel{"GFP", 0x00ff00, {}, ""});

  const Metadata imagej =
      metadata_with("ImageJ=1.53\nimages=4\nslices=4\nunit=micron\r\nspacing=3.5\nfinterval=0.25\n",
                    Resolution{4, 2, Resolution::Unit::none});
  const OmeImage stack = ome_image_of(imagej, lost);
  CHECK(axis_of(stack, "x") == OmeAxis{"x", "space", "micrometer", 0.25, 0});
  CHECK(axis_of(stack, "y").scale == 0.5);
  CHECK(axis_of(stack, "z") == OmeAxis{"z", "space", "micrometer", 3.5, 0});
  CHECK(axis_of(stack, "t") == OmeAxis{"t", "time", "second", 0.25, 0});

  CHECK(axis_of(ome_image_of(metadata_with("", Resolution{100, 50, Resolution::Unit::centimetre}), lost),
                "x") == OmeAxis{"x", "space", "centimeter", 0.01, 0});
  Metadata geo = metadata_with("", Resolution{72, 72, Resolution::Unit::inch});
  const auto tag = [&](std::uint32_t number, std::uint16_t type, const auto& values) {
    const auto bytes = std::as_bytes(std::span(values));
    geo.geo_tags.push_back({number, type, values.size(), {bytes.begin(), bytes.end()}});
  };
  tag(33550, 12, std::array<double, 3>{10, 20, 0});
  tag(34735, 3, std::array<std::uint16_t, 8>{1, 1, 0, 1, 1024, 0, 1, 1});  // projected
  CHECK(axis_of(ome_image_of(geo, lost), "y") == OmeAxis{"y", "space", "meter", 20, 0});
  CHECK(axis_of(ome_image_of(geo, lost), "x") == OmeAxis{"x", "space", "meter", 10, 0});
  geo.geo_tags.back().data[14] = std::byte{2};  // geographic: degrees are not an OME-Zarr unit
  CHECK(axis_of(ome_image_of(geo, lost), "x").unit == "inch");
  CHECK(ome_image_of(metadata_with("", Resolution{1, 1, Resolution::Unit::none}), lost).axes.empty());
}
