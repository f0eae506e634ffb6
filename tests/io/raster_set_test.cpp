#include "io/raster_set.hpp"

#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "io/memory_image.hpp"

using namespace sepconv;
using Catch::Matchers::Contains;

namespace {

constexpr ImageSpec kSpec{{2, 3}, 1, PixelType::u8};

/// Records which rasters were opened, and which of them was opened as the first.
class RecordingSet final : public RasterSet {
 public:
  explicit RecordingSet(RasterAxes axes) : RasterSet("a.set", kSpec, std::move(axes)) {}
  std::vector<std::int64_t> opened, opened_first;

 private:
  std::unique_ptr<Reader> open_raster(std::int64_t index, bool is_first) override {
    opened.push_back(index);
    if (is_first) opened_first.push_back(index);
    return nullptr;
  }
};

std::vector<std::int64_t> rasters(const std::string& selection) {
  RecordingSet set({{"t", 2}, {"c", 3}, {"z", 4}});
  set.select(parse_selection(selection));
  for (std::int64_t i = 0; i < set.count(); ++i) set.raster(i);
  CHECK(set.opened_first == std::vector<std::int64_t>{set.opened.front()});
  return set.opened;
}

}  // namespace

TEST_CASE("a selection names rasters by axes or in their order") {
  CHECK(rasters("c=1") == std::vector<std::int64_t>{4, 5, 6, 7, 16, 17, 18, 19});
  CHECK(rasters("z=3,t=1") == std::vector<std::int64_t>{15, 19, 23});
  CHECK(rasters("t=1,z=1-2,c=0-1") == std::vector<std::int64_t>{13, 14, 17, 18});
  CHECK(rasters("9") == std::vector<std::int64_t>{9});
  CHECK(rasters("11-13") == std::vector<std::int64_t>{11, 12, 13});
  CHECK(rasters("0-23").size() == 24);
}

TEST_CASE("the selected rasters of a set keep its axes") {
  RecordingSet set({{"t", 2}, {"c", 1}, {"z", 4}});
  set.select(parse_selection("z=1-2"));
  CHECK(set.axes() == RasterAxes{{"t", 2}, {"c", 1}, {"z", 2, 1}});
  CHECK(to_string(set.axes()) == "t 2, z 2");
  CHECK(position_text(set.axes(), 3) == "t=1, z=2");

  RecordingSet one({{"z", 4}});
  one.select(parse_selection("2"));
  CHECK(one.axes() == RasterAxes{{"z", 1, 2, true}});

  RecordingSet pages({{"t", 2}, {"z", 4}});
  pages.select(parse_selection("2-6"));
  CHECK(pages.axes() == RasterAxes{{"page", 5, 2}});

  RecordingSet block({{"t", 2}, {"z", 4}, {"c", 3}});
  block.select(parse_selection("15-20"));
  CHECK(block.axes() == RasterAxes{{"t", 1, 1, true}, {"z", 2, 1}, {"c", 3}});
  CHECK(position_text(block.axes(), 5) == "z=2, c=2");
}

TEST_CASE("unnamed pages become z planes if a chain needs them") {
  RecordingSet pages({{"page", 4}}), times({{"t", 4}}), one({{"page", 1}});
  CHECK(pages.treat_pages_as_z());
  CHECK(pages.axes() == RasterAxes{{"z", 4}});
  CHECK_FALSE(times.treat_pages_as_z());
  CHECK_FALSE(one.treat_pages_as_z());
}

TEST_CASE("axes are named by one letter each, or an error says why not") {
  const RasterAxes file_axes{{"t", 6}, {"z", 1}, {"c", 2}};
  CHECK(named_axes(file_axes, "zqyx", 1, "a") == RasterAxes{{"z", 6}, {"q", 2}});
  CHECK(named_axes(file_axes, "abcyxs", 3, "a") == RasterAxes{{"a", 6}, {"b", 1}, {"c", 2}});
  CHECK(named_axes({}, "yxc", 3, "a").empty());
  CHECK(named_axes({}, "zyx", 1, "a") == RasterAxes{{"z", 1}});
  CHECK_THROWS_WITH(named_axes(file_axes, "zyx", 1, "a"),
                    Contains("one letter before yx") && Contains("2 axes"));
  for (const char* letters : {"", "x", "yxz", "zxy", "zzyx", "Zyx", "zyxc", "z,yx"})
    CHECK_THROWS_AS(named_axes(file_axes, letters, 1, "a"), InvalidArgument);
}

TEST_CASE("a selection of missing rasters is an error") {
  for (const char* text :
       {"", "x", "=1", "c=", "c=-1", "3-1", "c=1,c=2", "1,c=2", "c=1,2", "1,2", "c=99999999999"})
    CHECK_THROWS_AS(parse_selection(text), InvalidArgument);
  CHECK_THROWS_WITH(rasters("q=0"), Contains("a.set: has no axis q") && Contains("t 2, c 3, z 4"));
  CHECK_THROWS_WITH(rasters("c=3"), Contains("no c=3; it has 3"));
  CHECK_THROWS_WITH(rasters("20-24"), Contains("no page 24; it has 24 pages"));
}

TEST_CASE("a format of one image cannot hold a set") {
  CHECK_THROWS_WITH(create_set("a.png", {kSpec, {{"c", 3}, {"z", 4}}}, {}),
                    Contains("a.png cannot hold 12 images (c 3, z 4): PNG has one a file"));
  CHECK_NOTHROW(create_set("a.png", {kSpec, {}}, {}));
}
