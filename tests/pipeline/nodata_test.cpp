// Missing pixels: how they are declared, processed by stages, and stored.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "../support/image.hpp"
#include "core/error.hpp"
#include "kernels/pointwise/missing.hpp"
#include "pipeline/job/missing_pixels.hpp"
#include "pipeline/measure/measure.hpp"
#include "pipeline/run/apply.hpp"
#include "pipeline/run/run.hpp"
#include "pipeline/stages/alpha_stage.hpp"
#include "pipeline/stages/stages.hpp"

using namespace sepconv;
using namespace sepconv::test;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The result of run() on `values`, in bands of 3 rows.
template <class To, class From>
std::vector<To> run_on(const std::vector<From>& values, Extent extent, const Chain& chain,
                       const MissingOptions& missing, std::int64_t channels = 1) {
  const auto reader = make_memory_reader(view_of(values.data(), extent, channels));
  const ImageSpec spec = chain.result_spec(reader->spec());
  REQUIRE(spec.type == pixel_type_of<To>());
  std::vector<To> result(static_cast<std::size_t>(spec.extent.area() * spec.channels), To(99));
  const auto writer = make_memory_writer(view_of(result.data(), spec.extent, spec.channels));
  run(*reader, *writer, chain, {{.threads = 1, .band_rows = 3, .missing = missing}, {}});
  return result;
}

std::vector<std::uint8_t> row_of(std::initializer_list<int> values) { return {values.begin(), values.end()}; }

}  // namespace

TEST_CASE("a mean ignores missing pixels, which stay missing", "[missing]") {
  const auto values = row_of({10, 7, 30, 50, 50, 50});
  const Chain chain = Chain::parse({"box:radius=1,radius_y=0,border=replicate"});
  CHECK(run_on<std::uint8_t>(values, {1, 6}, chain, {.value = 7}) == row_of({10, 7, 40, 43, 50, 50}));
  CHECK(run_on<std::uint8_t>(values, {1, 6}, chain, {}) == row_of({9, 16, 29, 43, 50, 50}));
}

TEST_CASE("the key nodata fills holes, keeps them or lets them grow", "[missing]") {
  const auto values = row_of({10, 7, 30, 50, 7, 7, 7});
  const auto result_of = [&](const char* key) {
    return run_on<std::uint8_t>(
        values, {1, 7}, Chain::parse({std::string("box:radius=1,radius_y=0,border=replicate,nodata=") + key}),
        {.value = 7});
  };
  CHECK(result_of("fill") == row_of({10, 20, 40, 40, 50, 7, 7}));
  CHECK(result_of("ignore") == row_of({10, 7, 40, 40, 7, 7, 7}));
  CHECK(result_of("propagate") == row_of({7, 7, 7, 7, 7, 7, 7}));
}

TEST_CASE("pixels beyond a constant border are valid", "[missing]") {
  const auto values = row_of({7, 7, 7, 7});
  const Chain chain = Chain::parse({"box:radius=1,radius_y=0,border=constant,value=90,nodata=fill"});
  CHECK(run_on<std::uint8_t>(values, {1, 4}, chain, {.value = 7}) == row_of({90, 7, 7, 90}));
}

TEST_CASE("a difference is missing if its window contains a missing pixel", "[missing]") {
  const auto values = row_of({0, 10, 30, 7, 60, 60, 80, 99});
  const Chain chain = Chain::parse({"derivative:order=1,axis=x", "cast:type=f32"});
  const auto result_of = run_on<float>(values, {1, 8}, chain, {.value = 7, .result = -1});
  CHECK(result_of == std::vector<float>{0, 30, -1, -1, -1, 20, 39, 0});
}

TEST_CASE("a present value that would be stored as missing is stored as the next", "[missing]") {
  const auto values = row_of({7, 3, 4, 255});
  CHECK(run_on<std::uint8_t>(values, {1, 4}, Chain::parse({"scale:factor=1,offset=4"}),
                             {.value = 255, .result = 7}) == row_of({11, 8, 8, 7}));
  CHECK(run_on<std::uint8_t>(values, {1, 4}, Chain::parse({"scale:factor=1,offset=251"}),
                             {.value = 7, .result = 255}) == row_of({255, 254, 254, 254}));
  const std::vector<float> floats{1, -9999, 2};
  const auto result_of =
      run_on<float>(floats, {1, 3}, Chain::parse({"scale:factor=-9999"}), {.value = -9999});
  CHECK(result_of == std::vector<float>{std::nextafter(-9999.0F, 0.0F), -9999, -19998});
}

TEST_CASE("stages that turn NaN into numbers keep missing pixels missing", "[missing]") {
  const std::vector<float> values{-9999, 3, 200};
  for (const char* stage : {"threshold:at=2,above=5,below=6", "clamp:low=0,high=9", "abs", "cast:type=u8"}) {
    const Chain chain = Chain::parse({stage, "cast:type=f32"});
    CHECK(run_on<float>(values, {1, 3}, chain, {.value = -9999})[0] == -9999);
    CHECK(std::isnan(run_on<float>(values, {1, 3}, chain, {.value = -9999, .result = kNan})[0]));
  }
}

TEST_CASE("a pixel made of several channels is missing where one of them is", "[missing]") {
  const auto values = row_of({1, 2, 7, 2, 1, 7});
  const Chain chain = Chain::parse({"mix_channels:rows=1,values=1,0"});
  CHECK(run_on<std::uint8_t>(values, {1, 3}, chain, {.value = 7}, 2) == row_of({1, 7, 7}));
}

TEST_CASE("cells of reduce are means of their valid pixels", "[missing]") {
  const auto values = row_of({7, 20, 7, 7, 40, 60});
  CHECK(run_on<std::uint8_t>(values, {1, 6}, Chain::parse({"reduce:factor=2"}), {.value = 7}) ==
        row_of({20, 7, 50}));
  CHECK(run_on<std::uint8_t>(values, {1, 6}, Chain::parse({"reduce:factor=2,nodata=propagate"}),
                             {.value = 7}) == row_of({7, 7, 50}));
}

TEST_CASE("NaN is missing in an undeclared image where a key says so, and else a value", "[missing]") {
  const std::vector<float> values{1, 2, std::nanf(""), 4, 5};
  const Extent extent{1, 5};
  std::vector<float> result(5);
  const auto result_of = [&](const char* stage) {
    apply(Chain::parse({stage}), view_of(values.data(), extent), view_of(result.data(), extent));
    return result;
  };
  const auto plain_result = result_of("box:radius=1,radius_y=0");
  CHECK((std::isnan(plain_result[1]) && std::isnan(plain_result[2]) && std::isnan(plain_result[3]) &&
         plain_result[0] > 0));
  const auto ignored_result = result_of("box:radius=1,radius_y=0,nodata=ignore");
  CHECK(ignored_result[1] == Approx(1.5));
  CHECK(std::isnan(ignored_result[2]));
  CHECK(result_of("box:radius=1,radius_y=0,nodata=fill")[2] == Approx(3));
}

TEST_CASE("a window with nothing missing has the bits of the plain filter, in the tile of a hole too",
          "[missing]") {
  const ImageSpec spec{{40, 60}, 2, PixelType::f32};
  const Image complete_image = Image::of_pattern(spec, Pattern::noise, 3),
              image_with_hole = Image::of_pattern(spec, Pattern::noise, 3);
  fill_pixels(image_with_hole.view().crop({0, 0, 3, 3}), kNan);
  const Image plain_result(spec), ignored_result(spec);
  apply(Chain::parse({"gaussian:sigma=2"}), complete_image.view(), plain_result.view(),
        {.tile = spec.extent});
  apply(Chain::parse({"gaussian:sigma=2,nodata=ignore"}), image_with_hole.view(), ignored_result.view(),
        {.tile = spec.extent});
  for (std::int64_t row = 0; row < 40; ++row) {
    for (std::int64_t i = 0; i < 120; ++i) {
      const bool touched = row < 3 + 8 && i / 2 < 3 + 8;
      if (!touched)
        REQUIRE(ignored_result.view().row<float>(row)[i] == plain_result.view().row<float>(row)[i]);
    }
  }
}

TEST_CASE("apply_nodata_policy() works for pixels in memory", "[missing]") {
  const auto values = row_of({10, 7, 30});
  std::vector<std::uint8_t> result(3);
  const auto source = make_memory_reader(view_of(values.data(), {1, 3}));
  const Chain chain = Chain::parse({"box:radius=1,radius_y=0,border=replicate"});
  const MissingPixels missing = missing_pixels(*source, Chain(), {.value = 7});
  apply(apply_nodata_policy(missing, chain, source->spec()), view_of(values.data(), {1, 3}),
        view_of(result.data(), {1, 3}));
  CHECK(result == row_of({10, 7, 30}));
}

TEST_CASE("what cannot be missing, or be stored so, is refused in words", "[missing]") {
  const auto values = row_of({1, 2, 3});
  const auto run_with = [&](const MissingOptions& missing, const char* stage = "box") {
    return run_on<std::uint8_t>(values, {1, 3}, Chain::parse({stage}), missing);
  };
  using Catch::Contains;
  CHECK_THROWS_WITH(run_with({.value = -9999}), Contains("u8 have no value -9999"));
  CHECK_THROWS_WITH(run_with({.value = kNan}), Contains("u8 have no value nan"));
  CHECK_THROWS_WITH(run_with({.value = 1, .result = 256}), Contains("set MissingOptions::result"));
  CHECK_THROWS_WITH(run_with({.result = 1}), Contains("has no effect: the input has no nodata"));
  CHECK_THROWS_WITH(run_with({.none = true, .value = 1}), Contains("no pixel is missing, so"));
  for (const char* stage : {"gaussian:sigma=1,order=2,nodata=ignore", "convolve:row=-1,2,-1,nodata=ignore"})
    CHECK_THROWS_WITH(parse_stage(stage), Contains("use nodata=propagate"));
  for (const char* stage :
       {"sobel:nodata=ignore", "gaussian_laplace:sigma=1,nodata=fill", "derivative:nodata=fill"})
    CHECK_THROWS_WITH(parse_stage(stage), Contains("it is one of propagate"));
  for (const char* stage : {"unsharp:sigma=1,nodata=fill", "local_normalize:nodata=fill"})
    CHECK_THROWS_WITH(parse_stage(stage), Contains("it is one of ignore, propagate"));
  CHECK_THROWS_WITH(parse_stage("reduce:factor=2,nodata=fill"), Contains("it is one of ignore, propagate"));
}

TEST_CASE("f64 images with missing pixels cannot be computed in f32", "[missing]") {
  const std::vector<double> values{1, 2};
  std::vector<double> result(2);
  const auto reader = make_memory_reader(view_of(values.data(), {1, 2}));
  const auto writer = make_memory_writer(view_of(result.data(), {1, 2}));
  PlanOptions options{.arithmetic = Arithmetic::f32, .missing = {.value = 1}};
  CHECK_THROWS_WITH(plan(*reader, *writer, Chain::parse({"box"}), options),
                    Catch::Contains("compute in f64"));
}

TEST_CASE("transposing a filter and adding nodata handling commute", "[missing]") {
  const ImageSpec spec{{100, 80}, 1, PixelType::f32};
  for (const char* const text :
       {"box:radius=9,radius_y=1", "stddev:radius=9,radius_y=1", "local_normalize:radius=9,radius_y=1",
        "erode:radius=9,radius_y=1", "median:radius=9,radius_y=1", "gaussian:sigma=3,sigma_y=1"}) {
    CAPTURE(text);
    const StagePtr stage = parse_stage(text);
    const Rect pixel{50, 40, 1, 1};
    const StagePtr transposed_stage = stage->transposed()->with_nodata();
    CHECK(transposed_stage->input_for(pixel, spec) == stage->transposed()->input_for(pixel, spec));
  }
}

TEST_CASE("a stage of colours costs what the stage does", "[missing]") {
  const ImageSpec spec{{100, 80}, 4, PixelType::u8};
  const StagePtr stage = parse_stage("median:radius=20"), colour_stage = colours_only_stage(stage, 3);
  for (const Scratch where : {Scratch::host, Scratch::device})
    CHECK(colour_stage->operations_per_element(where, spec) == stage->operations_per_element(where, spec));
  CHECK(colour_stage->properties().tile_cols == stage->properties().tile_cols);
}

TEST_CASE("a chain's text names its nodata policy", "[missing]") {
  const auto reader = make_memory_reader(view_of(row_of({1, 2}).data(), {1, 2}));
  const MissingPixels missing{.value = 7, .result = 7};
  const Chain chain = Chain::parse({"gaussian:sigma=1", "sobel", "dog:sigma=1,sigma2=2", "reduce:factor=2"});
  const std::string text = apply_nodata_policy(missing, chain, reader->spec()).text();
  CHECK(text.find(
            "gaussian:sigma=1,truncate=4,order=0,method=exact,border=reflect101,flip=false,nodata=ignore") !=
        text.npos);
  CHECK(text.find("sobel:axis=x,border=reflect101,flip=false,nodata=propagate") != text.npos);
  CHECK(text.find("sigma2=2,border=reflect101,flip=false,nodata=ignore") != text.npos);
  CHECK(apply_nodata_policy(missing, Chain{}, reader->spec()).empty());
}

TEST_CASE("find_missing_state() tells none, some and all missing", "[missing]") {
  const std::vector<float> values{1, std::nanf(""), 7};
  const auto state_of = [&](std::int64_t first, std::int64_t count, double value) {
    return find_missing_state(view_of(values.data() + first, {1, count}), value);
  };
  CHECK(state_of(0, 1, 7) == MissingState::none_missing);
  CHECK(state_of(0, 3, 7) == MissingState::some_missing);
  CHECK(state_of(1, 2, 7) == MissingState::all_missing);
  CHECK(state_of(2, 1, kNan) == MissingState::none_missing);
  for (const std::size_t count : {1, 31, 1000}) {  // a vector's tail, and many vectors
    for (const double missing : {7.0, kNan}) {
      std::vector<float> row(count, 5);
      const auto view = view_of(row.data(), {1, static_cast<std::int64_t>(count)});
      CHECK(find_missing_state(view, missing) == MissingState::none_missing);
      row.back() = static_cast<float>(missing);
      CHECK(find_missing_state(view, missing) ==
            (count == 1 ? MissingState::all_missing : MissingState::some_missing));
      fill_pixels(view, missing);
      CHECK(find_missing_state(view, missing) == MissingState::all_missing);
    }
  }
  const auto bytes = row_of({7, 7});
  CHECK(find_missing_state(view_of(bytes.data(), {1, 2}), 7) == MissingState::all_missing);
  CHECK(find_missing_state(view_of(bytes.data(), {1, 2}), 7.5) == MissingState::none_missing);
  CHECK(find_missing_state(view_of(bytes.data(), {1, 0}), 7) == MissingState::none_missing);
}

TEST_CASE("statistics leave out missing pixels and count them", "[missing]") {
  const auto values = row_of({7, 1, 7, 3, 7, 7});
  const auto stats_of = [](const auto& pixels, Extent extent, const MissingOptions& missing) {
    return image_stats(*make_memory_reader(view_of(pixels.data(), extent)), {{.missing = missing}, {}})[0];
  };
  const ChannelStats counted = stats_of(values, {2, 3}, {.value = 7});
  CHECK((counted.count == 2 && counted.missing_count == 4 && counted.min == 1 && counted.max == 3));
  CHECK(counted.mean == 2);
  CHECK(stats_of(values, {2, 3}, {}).missing_count == 0);
  const ChannelStats empty_stats = stats_of(row_of({7, 7}), {1, 2}, {.value = 7});
  CHECK((empty_stats.count == 0 && empty_stats.missing_count == 2));
  const std::vector<float> floats{-9999, 2, 4, std::nanf("")};
  const ChannelStats floating = stats_of(floats, {2, 2}, {.value = -9999});
  CHECK((floating.count == 2 && floating.missing_count == 2 && floating.nan_count == 0));
  CHECK((floating.min == 2 && floating.mean == 3));
  CHECK(stats_of(floats, {2, 2}, {}).nan_count == 1);
}

TEST_CASE("pixels missing in both images are equal, those missing in one differ infinitely", "[missing]") {
  const auto compare = [](const auto& a, const auto& b, const MissingOptions& missing) {
    const Extent extent{1, static_cast<std::int64_t>(a.size())};
    return compare_images(*make_memory_reader(view_of(a.data(), extent)),
                          *make_memory_reader(view_of(b.data(), extent)), 0, {{.missing = missing}, {}});
  };
  CHECK(compare(row_of({7, 1}), row_of({7, 1}), {.value = 7}).equal());
  const Comparison one_missing = compare(row_of({7, 1}), row_of({8, 1}), {.value = 7});
  CHECK(
      (one_missing.different == 1 && one_missing.max_difference == std::numeric_limits<double>::infinity()));
  CHECK(compare(row_of({7, 1}), row_of({8, 1}), {}).max_difference == 1);
  const std::vector<float> valued{-9999, 5}, nan{std::nanf(""), 5};
  CHECK(compare(valued, nan, {.value = -9999}).equal());
  CHECK_FALSE(compare(valued, nan, {}).equal());
}
