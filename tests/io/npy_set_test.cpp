// NPY arrays of many axes as sets of images.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "core/error.hpp"
#include "io/flat/npy.hpp"
#include "temporary_folder.hpp"
#include "test_image.hpp"

namespace sepconv {
namespace {

using Catch::Matchers::Contains;

/// A u16 array whose elements are numbered in file order.
std::string counting_array(const std::vector<std::int64_t>& shape, bool fortran) {
  std::int64_t count = 1;
  for (const std::int64_t length : shape) count *= length;
  std::vector<std::uint16_t> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), std::uint16_t{0});
  const auto header = npy_header("<u2", shape);
  std::string file(reinterpret_cast<const char*>(header.data()), header.size());
  if (fortran) file.replace(file.find("False"), 5, "True ");
  return file.append(reinterpret_cast<const char*>(values.data()), 2 * values.size());
}

/// Strides along each axis, in elements.
std::vector<std::int64_t> strides_of(const std::vector<std::int64_t>& shape, bool fortran) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t axis = fortran ? i : shape.size() - 1 - i;
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

TEST_CASE("Every image of an array of many axes is read correctly, in C and in Fortran order") {
  const TemporaryFolder folder;
  const std::string axes = GENERATE("zyx", "tzyx", "yzx", "yxz", "tkzyxc", "xtyz", "tyxc", "cyx");
  const bool fortran = GENERATE(false, true);
  const std::string names = axes;
  std::vector<std::int64_t> shape;
  const std::string lengths = "x7y5z4t3c2k3";
  for (const char letter : names) shape.push_back(lengths[lengths.find(letter) + 1] - '0');
  CAPTURE(names, fortran);
  const auto path = folder.write("a.npy", counting_array(shape, fortran));
  const auto set = open_set(path, {.axes = names});
  const std::vector<std::int64_t> strides = strides_of(shape, fortran);
  const auto stride_of = [&](char letter) { return strides[names.find(letter)]; };
  const bool has_channels = names.ends_with("c");
  REQUIRE(set->spec() == ImageSpec{{5, 7}, has_channels ? 2 : 1, PixelType::u16});
  std::string axis_names;
  for (const RasterAxis& axis : set->axes()) axis_names += axis.name;
  std::string expected_names;
  std::ranges::copy_if(names, std::back_inserter(expected_names), [&](char letter) {
    return letter != 'y' && letter != 'x' && !(letter == 'c' && has_channels);
  });
  REQUIRE(axis_names == expected_names);
  for (std::int64_t index = 0; index < set->count(); ++index) {
    const std::vector<std::int64_t> position = position_of(set->axes(), index);
    std::int64_t base = 0;
    for (std::size_t i = 0; i < position.size(); ++i) base += position[i] * stride_of(axis_names[i]);
    TestImage expected(set->spec());
    for (std::int64_t row = 0; row < 5; ++row) {
      auto* const values = expected.view().row<std::uint16_t>(row);
      for (std::int64_t i = 0; i < expected.view().row_elements(); ++i) {
        const std::int64_t col = i / set->spec().channels;
        const std::int64_t channel = has_channels ? i % 2 * stride_of('c') : 0;
        values[i] = static_cast<std::uint16_t>(base + row * stride_of('y') + col * stride_of('x') + channel);
      }
    }
    CAPTURE(index);
    REQUIRE(reads_everywhere(*set->raster(index), expected));
  }
}

TEST_CASE("Warnings about an array of many axes are given once, with its first image") {
  const TemporaryFolder folder;
  const auto path = folder.write("a.npy", counting_array({5, 4, 7}, true) + "more");
  const auto set = open_set(path, {.axes = "yzx"});
  const std::vector<std::string> first_warnings = set->raster(0)->layout().warnings;
  REQUIRE(first_warnings.size() == 2);
  CHECK_THAT(first_warnings[0], Contains("4 bytes after"));
  CHECK_THAT(first_warnings[1], Contains("yzx is written as zyx"));
  CHECK(set->raster(1)->layout().warnings.empty());
  const auto slow = open_set(path, {.axes = "zyx"})->raster(0)->layout().warnings;
  REQUIRE(slow.size() == 2);
  CHECK_THAT(slow[1], Contains("axis z") && Contains("5 times"));
  const FileInfo info = file_info(path, {.axes = "yzx"});
  CHECK(info.images == 4);
}

TEST_CASE("One image of an array is read where it is named, else the array is several") {
  const TemporaryFolder folder;
  const auto path = folder.write("a.npy", counting_array({2, 3, 5, 7}, false));
  CHECK_THROWS_WITH(open_reader(path), Contains("OpenOptions::axes, like zyxc") && Contains("(2, 3, 5, 7)"));
  CHECK_THROWS_WITH(open_reader(path, {.axes = "tzyx"}), Contains("6 images (t 2, z 3)"));
  CHECK(read_all(*open_reader(path, {.page = 4, .axes = "tzyx"})).view().row<std::uint16_t>(0)[0] == 4 * 35);
  CHECK(read_all(*open_reader(path, {.select = "t=1,z=2", .axes = "tzyx"})).view().row<std::uint16_t>(0)[0] ==
        5 * 35);
  CHECK(open_set(path, {.select = "z=1-2", .axes = "tzyx"})->count() == 4);
  CHECK_THROWS_AS(open_reader(path, {.page = 6, .axes = "tzyx"}), IoError);
  for (const char* const axes : {"yyxz", "tzya", "TZYX", "tz y"})
    CHECK_THROWS_AS(open_reader(path, {.axes = axes}), InvalidArgument);
  CHECK_THROWS_AS(open_reader(path, {.axes = "zyx"}), IoError);
  const std::string whole = counting_array({2, 3, 5, 7}, false);
  const auto cut = folder.write("cut.npy", whole.substr(0, whole.size() - 1));
  CHECK_THROWS_WITH(open_reader(cut, {.page = 0, .axes = "tzyx"}), Contains("truncated"));
}

TEST_CASE("A set of images is written as an array, complete or not at all") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "out.npy";
  const ImageSpec image{{31, 17}, 3, PixelType::f64};
  const RasterSetSpec spec{image, {{"t", 2}, {"z", 1, 4, true}, {"c", 3}}};
  const CreateOptions options{.stored = SampleType(SampleType::Kind::integer, 32)};
  std::vector<TestImage> images;
  for (int i = 0; i < 6; ++i) {
    images.emplace_back(image);
    for (std::int64_t row = 0; row < 31; ++row) {
      for (std::int64_t k = 0; k < 51; ++k)
        images.back().view().row<double>(row)[k] = static_cast<double>(1000 * i - 60 * row + k);
    }
  }
  {
    const auto broken = create_set(path, spec, options);
    write_in_quarters(*broken->next({}), images[0]);
    CHECK_THROWS_WITH(broken->finish(), Contains("1 of 6"));
  }
  CHECK(std::filesystem::is_empty(folder.path()));
  const auto set = create_set(path, spec, options);
  for (const TestImage& image_pixels : images) write_in_quarters(*set->next({}), image_pixels);
  CHECK(!std::filesystem::exists(path));
  set->finish();
  const auto reread = open_set(path, {.axes = "tkyxc"});
  CHECK(parse_npy_array(InputFile(path)).descr == "<i4");
  CHECK(parse_npy_array(InputFile(path)).shape == std::vector<std::int64_t>{2, 3, 31, 17, 3});
  for (std::int64_t i = 0; i < 6; ++i)
    CHECK(reads_everywhere(*reread->raster(i), images[static_cast<std::size_t>(i)]));
}

}  // namespace
}  // namespace sepconv
