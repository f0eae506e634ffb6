// The stage transpose, moving it to the end of a chain, and bands of transposed results.
#include "pipeline/stages/transpose.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "../support/fault_injection.hpp"
#include "../support/image.hpp"
#include "core/error.hpp"
#include "io/rows.hpp"
#include "pipeline/run/run.hpp"

using namespace sepconv;
using namespace sepconv::test;

namespace {

std::string reordered_text(std::vector<std::string> stages) {
  return Chain::parse(stages).transposes_last().text();
}

/// A stage without a transposed version.
class NonTransposable final : public Stage {
 public:
  NonTransposable() : Stage({.text = "stubborn"}) {}
  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker&) const override {
    apply_reference(in, out, arithmetic);
  }
  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    const ConstPixelView pixels = in.crop(out.rect).pixels;
    pointwise_reference({.kind = PointwiseOp::Kind::scale, .p = 2, .q = 1}, pixels, pixels, out.pixels,
                        arithmetic);
  }
};

/// Pixel (row, col) of item `item`; the items have the extent `matrix` and are stacked by `stacking`.
ConstPixelView pixel(const ConstPixelView& view, Stacking stacking, Extent matrix, std::int64_t item,
                     std::int64_t row, std::int64_t col) {
  if (stacking == Stacking::rows) return view.crop({item * matrix.rows + row, col, 1, 1});
  return view.crop({row, item * matrix.cols + col, 1, 1});
}

}  // namespace

TEST_CASE("transposes move to the end, cancel in pairs, and transpose the filters that they pass") {
  CHECK(reordered_text({"transpose"}) == "transpose");
  CHECK(reordered_text({"transpose", "transpose"}) == "copy");
  CHECK(reordered_text({"transpose", "scale:factor=2,offset=1", "transpose"}) == "scale:factor=2,offset=1");
  CHECK(reordered_text({"transpose", "scale:factor=2,offset=1"}) == "scale:factor=2,offset=1 | transpose");
  CHECK(reordered_text({"convolve:row=1,2,1,border=reflect", "transpose"}) ==
        "convolve:row=1,2,1,border=reflect,flip=false | transpose");
  CHECK(reordered_text({"transpose", "convolve:row=1,2,1,border=reflect"}) ==
        "convolve:row=1,2,1,border=reflect,flip=false (columns first) | transpose");
  CHECK(reordered_text({"transpose", "convolve:row=1,2,1,border=reflect", "transpose", "abs"}) ==
        "convolve:row=1,2,1,border=reflect,flip=false (columns first) | abs");
  CHECK(reordered_text({"transpose", "mix_channels:rows=2,values=1,2", "transpose", "transpose"}) ==
        "mix_channels:values=1,2,rows=2 | transpose");
}

TEST_CASE("a filter transposed twice is itself") {
  const StagePtr gaussian = parse_stage("gaussian:sigma=1.5");
  const StagePtr transposed_stage = gaussian->transposed();
  CHECK(transposed_stage->text() != gaussian->text());
  CHECK(transposed_stage->transposed()->text() == gaussian->text());
  const ImageSpec spec{{100, 200}};
  const StagePtr rows = parse_stage("convolve:row=1,1,1,1,1,1,1")->transposed();
  CHECK(rows->input_for({50, 60, 10, 10}, spec) == Rect{47, 60, 16, 10});
}

TEST_CASE("a stage without a transposed version keeps the transposes before it") {
  Chain chain;
  chain.then(parse_stage("abs"))
      .then(make_transpose())
      .then(std::make_shared<NonTransposable>())
      .then(make_transpose());
  CHECK(chain.transposes_last().text() == "abs | transpose | stubborn | transpose");
  const Image source = Image::of_pattern({{23, 41}, 3, PixelType::u8}, Pattern::noise, 5);
  const Image expected({{23, 41}, 3, PixelType::u8}), actual({{23, 41}, 3, PixelType::u8});
  run_whole_image(*source.reader(), *expected.writer(), chain);
  RunOptions options;
  options.band_rows = 7;
  options.band_cols = 9;
  run(*source.reader(), *actual.writer(), chain, options);
  CHECK(actual == expected);
}

TEST_CASE("many matrices transposed in one stage, cut in any way") {
  std::mt19937_64 random(3);
  const auto random_between = [&](std::int64_t min_value, std::int64_t max_value) {
    return min_value +
           static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(max_value - min_value + 1));
  };
  for (int i = 0; i < 120; ++i) {
    const Stacking stacking = i % 2 == 0 ? Stacking::rows : Stacking::cols;
    const std::int64_t items = random_between(1, 6);
    const Extent matrix{random_between(1, 20), random_between(1, 20)};
    const Extent extent = stacking == Stacking::rows ? Extent{items * matrix.rows, matrix.cols}
                                                     : Extent{matrix.rows, items * matrix.cols};
    const ImageSpec spec{extent, random_between(1, 3), kPixelTypes[random() % std::size(kPixelTypes)]};
    const Image source = Image::of_pattern(spec, Pattern::noise, random() % 100);
    const Chain chain = Chain().then(make_transpose(items, stacking));
    const Image result(chain.result_spec(spec)), whole(chain.result_spec(spec));
    RunOptions options;
    options.band_rows = random_between(1, result.spec().extent.rows);
    options.band_cols = random_between(1, result.spec().extent.cols);
    options.tile = {random_between(1, 9), random_between(1, 9)};
    run(*source.reader(), *result.writer(), chain, options);
    run_whole_image(*source.reader(), *whole.writer(), chain);
    INFO(items << " of " << matrix.rows << " x " << matrix.cols << ", bands of " << options.band_rows << " x "
               << options.band_cols);
    REQUIRE(result == whole);
    const auto bytes = static_cast<std::size_t>(spec.pixel_bytes());
    for (std::int64_t item = 0; item < items; ++item) {
      for (std::int64_t row = 0; row < matrix.rows; ++row) {
        for (std::int64_t col = 0; col < matrix.cols; ++col) {
          const ConstPixelView from = pixel(source.view(), stacking, matrix, item, row, col);
          const ConstPixelView to =
              pixel(result.view(), stacking, {matrix.cols, matrix.rows}, item, col, row);
          REQUIRE(std::memcmp(from.data, to.data, bytes) == 0);
        }
      }
    }
  }
}

TEST_CASE("matrices that do not fill the image are refused") {
  const ImageSpec spec{{10, 9}};
  CHECK_THROWS_AS(make_transpose(3, Stacking::rows)->output_spec(spec), InvalidArgument);
  CHECK(make_transpose(3, Stacking::cols)->output_spec(spec).extent == Extent{3, 30});
  CHECK_THROWS_AS(make_transpose(0), InvalidArgument);
}

TEST_CASE("bands of a transposed result cover it once, follow the source downwards, and stay within items") {
  struct Case {
    std::int64_t items;
    Stacking stacking;
    Extent source, band;
  };
  for (const Case& c : {Case{1, Stacking::rows, {37, 53}, {10, 8}}, Case{4, Stacking::rows, {40, 9}, {4, 3}},
                        Case{4, Stacking::rows, {40, 9}, {18, 10}}, Case{5, Stacking::cols, {7, 55}, {4, 3}},
                        Case{5, Stacking::cols, {7, 55}, {11, 14}}}) {
    const Image source = Image::of_pattern({c.source}, Pattern::noise, 1);
    const Chain chain = Chain().then(make_transpose(c.items, c.stacking));
    const Image result(chain.result_spec(source.spec()));
    const auto reader = source.reader();
    const auto writer = result.writer();
    const Plan plan =
        sepconv::plan(*reader, *writer, chain, {.band_rows = c.band.rows, .band_cols = c.band.cols});
    REQUIRE(plan.turned);
    REQUIRE(plan.band == c.band);
    std::vector<int> covered(static_cast<std::size_t>(result.spec().extent.area()));
    std::int64_t read = 0;
    Rect previous{};
    int steps_down = 0;
    for (std::int64_t i = 0; i < plan.band_count(); ++i) {
      const Rect rect = plan.band_rect(i);
      REQUIRE(!rect.empty());
      for (std::int64_t row = rect.row; row < rect.row_end(); ++row) {
        for (std::int64_t col = rect.col; col < rect.col_end(); ++col)
          ++covered[static_cast<std::size_t>(row * result.spec().extent.cols + col)];
      }
      const Rect needed = plan.chain.input_for(rect, plan.source());
      read += needed.area();
      if (i > 0 && needed.row == previous.row_end() && needed.col == previous.col) ++steps_down;
      previous = needed;
    }
    CHECK(std::ranges::all_of(covered, [](int times) { return times == 1; }));
    CHECK(read == c.source.area());
    CHECK(plan.bytes_read == c.source.area());
    CHECK(2 * steps_down >= plan.band_count() - c.items);
  }
}

TEST_CASE("a transposed image keeps its plan in a small ceiling, and says how it is cut") {
  const Image source = Image::of_pattern({{2000, 3000}, 1, PixelType::f32}, Pattern::noise, 1);
  const Image result({{3000, 2000}, 1, PixelType::f32});
  const auto reader = source.reader();
  const auto writer = result.writer();
  const Chain chain = Chain::parse(std::vector<std::string>{"gaussian:sigma=1", "transpose"});
  const Plan plan = sepconv::plan(*reader, *writer, chain, {.max_memory_bytes = 3 << 20});
  CHECK(plan.memory.total() <= 3 << 20);
  CHECK(plan.turned);
  const std::string text = describe(plan, *reader, *writer);
  CHECK(text.find("rows of the source become columns of the result") != std::string::npos);
  CHECK(text.find("lowered to") == std::string::npos);
  const Chain first = Chain::parse(std::vector<std::string>{"transpose", "abs"});
  const std::string reordered_plan = describe(sepconv::plan(*reader, *writer, first, {}), *reader, *writer);
  CHECK(reordered_plan.find("chain      transpose | abs") != std::string::npos);
  CHECK(reordered_plan.find("lowered to abs | transpose") != std::string::npos);
}

TEST_CASE("a transpose from rows to rows is one band, and cannot be cut") {
  const ImageSpec spec{{30, 20}, 1, PixelType::u8};
  const Image source = Image::of_pattern(spec, Pattern::noise, 9);
  const ImageSpec transposed_spec{{20, 30}, 1, PixelType::u8};
  const Image expected(transposed_spec), actual(transposed_spec);
  run_whole_image(*source.reader(), *expected.writer(), Chain().then(make_transpose()));
  const auto reader = make_rows_reader(spec, [&](std::int64_t first, const PixelView& rows) {
    copy_pixels(source.view().crop({first, 0, rows.extent.rows, spec.extent.cols}), rows);
  });
  const auto writer = make_rows_writer(expected.spec(), [&](std::int64_t first, const ConstPixelView& rows) {
    copy_pixels(rows, actual.view().crop({first, 0, rows.extent.rows, 30}));
  });
  const Chain chain = Chain().then(make_transpose());
  CHECK_THROWS_AS(sepconv::plan(*reader, *writer, chain, {.band_rows = 5}), InvalidArgument);
  CHECK(sepconv::plan(*reader, *writer, chain, {}).band == Extent{20, 30});
  run(*reader, *writer, chain, {});
  CHECK(actual == expected);
}
