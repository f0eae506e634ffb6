#include "io/rows.hpp"

#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "io/memory_image.hpp"
#include "test_image.hpp"

namespace sepconv {
namespace {

TEST_CASE("Rows pass through callbacks once and in order") {
  const TestImage image = TestImage::random({{10, 7}, 3, PixelType::u16});
  TestImage copy(image.spec());
  int finished = 0;
  const auto reader = make_rows_reader(image.spec(), [&](std::int64_t first_row, const PixelView& out) {
    copy_pixels(image.view().crop({first_row, 0, out.extent.rows, 7}), out);
  });
  const auto writer = make_rows_writer(
      image.spec(),
      [&](std::int64_t first_row, const ConstPixelView& rows) {
        copy_pixels(rows, copy.view().crop({first_row, 0, rows.extent.rows, 7}));
      },
      [&] { ++finished; });
  CHECK(reader->layout().access == Access::sequential);
  CHECK(writer->layout().access == Access::sequential);
  SerialExecutor executor;
  for (const Rect& rect : {Rect{0, 0, 1, 7}, Rect{1, 0, 6, 7}, Rect{7, 0, 3, 7}}) {
    const TestImage rows = read_rect(*reader, rect);
    writer->write(rect, rows.view(), executor);
  }
  writer->finish();
  CHECK(finished == 1);
  CHECK(same_pixels(image.view(), copy.view()));
}

TEST_CASE("Rows asked for twice, out of order or in parts are refused") {
  const ImageSpec spec{{10, 7}, 1, PixelType::u8};
  int calls = 0;
  const auto reader = make_rows_reader(spec, [&](std::int64_t, const PixelView&) { ++calls; });
  CHECK_THROWS_AS(read_rect(*reader, {1, 0, 1, 7}), InvalidArgument);
  CHECK_THROWS_AS(read_rect(*reader, {0, 0, 1, 6}), InvalidArgument);
  CHECK_THROWS_AS(read_rect(*reader, {0, 0, 11, 7}), InvalidArgument);
  CHECK(calls == 0);
  read_rect(*reader, {0, 0, 4, 7});
  CHECK_THROWS_AS(read_rect(*reader, {0, 0, 4, 7}), InvalidArgument);
  CHECK(calls == 1);
  CHECK_THROWS_AS(make_rows_writer(spec, [](std::int64_t, const ConstPixelView&) {})->finish(),
                  std::logic_error);
}

TEST_CASE("A callback's exception passes unchanged, a missing callback is refused") {
  const ImageSpec spec{{2, 2}, 1, PixelType::u8};
  const auto reader = make_rows_reader(spec, [](std::int64_t, const PixelView&) { throw 42; });
  CHECK_THROWS_AS(read_all(*reader), int);
  CHECK_THROWS_AS(make_rows_reader(spec, nullptr), InvalidArgument);
  CHECK_THROWS_AS(make_rows_writer(spec, nullptr), InvalidArgument);
}

TEST_CASE("A caller's memory is read and written by any rectangle") {
  const TestImage image = TestImage::random({{3001, 1501}, 1, PixelType::u16}, 2, 30);
  CHECK(reads_everywhere(*make_memory_reader(image.view()), image));
  TestImage copy(image.spec(), 10);
  write_in_quarters(*make_memory_writer(copy.view()), image);
  CHECK(same_pixels(image.view(), copy.view()));
  CHECK(copy.padding_untouched());
}

}  // namespace
}  // namespace sepconv
