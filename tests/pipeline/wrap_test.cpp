// border=wrap: rectangles beyond the image, and every runner against the whole image.
#include "pipeline/chain/wrap.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "../support/gpu.hpp"
#include "../support/image.hpp"
#include "core/error.hpp"
#include "io/rows.hpp"
#include "pipeline/run/apply.hpp"
#include "pipeline/run/run.hpp"

using namespace sepconv;
using namespace sepconv::test;

namespace {

const std::vector<std::string> kChains[] = {
    {"gaussian:sigma=2,border=wrap"},
    {"box:radius=40,border=wrap"},
    {"abs", "convolve:row=1,2,-1,col=0.5,0,0.25,1,3,border=wrap", "cast:type=f32"},
    {"box:radius=9,border=reflect", "unsharp:sigma=2,border=wrap", "dog:sigma=1,sigma2=3,border=wrap"},
    {"gradient:border=wrap", "transpose", "binomial:radius=3,border=wrap", "box:radius=2"},
    {"transpose", "gaussian:sigma=3,border=wrap", "sobel:axis=x,border=wrap"},
};

Image expected_of(const Image& source, const Chain& chain) {
  Image expected(chain.result_spec(source.spec()));
  run_whole_image(*source.reader(), *expected.writer(), chain);
  return expected;
}

}  // namespace

#ifndef SEPCONV_SIMULATED_GPU
TEST_CASE("a rectangle beyond the edges is cut at them and at their repetitions") {
  const Extent image{10, 7};
  CHECK(periodic_pieces({2, 1, 3, 4}, image).size() == 1);
  const auto pieces = periodic_pieces({-3, 5, 15, 4}, image);
  REQUIRE(pieces.size() == 6);
  CHECK(pieces[0].at == Rect{-3, 5, 3, 2});
  CHECK(pieces[0].inside == Rect{7, 5, 3, 2});
  CHECK(pieces[1].at == Rect{-3, 7, 3, 2});
  CHECK(pieces[1].inside == Rect{7, 0, 3, 2});
  CHECK(pieces[5].at == Rect{10, 7, 2, 2});
  CHECK(pieces[5].inside == Rect{0, 0, 2, 2});
  CHECK(periodic_pieces({-25, 0, 30, 1}, image).size() == 4);

  CHECK(find_repetition({-3, 0, 8, 7}, {8, 2, 2, 3}, image) == Rect{-2, 2, 2, 3});
  CHECK(find_repetition({0, 0, 10, 7}, {-12, 9, 2, 3}, image) == Rect{8, 2, 2, 3});
  CHECK_FALSE(find_repetition({0, 0, 10, 7}, {-1, 0, 2, 3}, image));
}

TEST_CASE("apply() gathers what a wrapped border needs") {
  for (const auto& stages : kChains) {
    for (const Extent extent : {Extent{61, 83}, Extent{1, 5}, Extent{300, 2}}) {
      INFO(Chain::parse(stages).text() << ", " << extent.rows << " x " << extent.cols);
      const Image source = Image::of_pattern({extent, 2, PixelType::u16}, Pattern::noise, 3);
      const Chain chain = Chain::parse(stages);
      const Image result(chain.result_spec(source.spec()));
      apply(chain, source.view(), result.view(), {.tile = {17, 30}});
      CHECK(result == expected_of(source, chain));
    }
  }
}

TEST_CASE("a source of rows in order wraps along rows only") {
  const Image source = Image::of_pattern({{90, 40}, 2, PixelType::u8}, Pattern::noise, 4);
  const auto reader = [&] {
    return make_rows_reader(source.spec(), [&](std::int64_t first_row, const PixelView& out) {
      copy_pixels(source.view().crop({first_row, 0, out.extent.rows, out.extent.cols}), out);
    });
  };
  const Image result(source.spec());
  CHECK_THROWS_WITH(run(*reader(), *result.writer(), Chain::parse({"box:radius=2,border=wrap"})),
                    Catch::Contains("gives each row once") && Catch::Contains("or another border"));
  const Chain along_rows = Chain::parse({"convolve:row=1,2,3,4,5,border=wrap"});
  RunOptions options;
  options.band_rows = 16;
  run(*reader(), *result.writer(), along_rows, options);
  CHECK(result == expected_of(source, along_rows));
}

TEST_CASE("a plan says that the other edge is read, and counts it") {
  const Image source({{500, 40}, 1, PixelType::u8});
  const auto reader = source.reader();
  const auto writer = source.writer();
  const PlanOptions options{.max_memory_bytes = 64 << 20, .slots = 2, .band_rows = 50};
  const Plan wrapped = plan(*reader, *writer, Chain::parse({"box:radius=6,border=wrap"}), options);
  const Plan plain = plan(*reader, *writer, Chain::parse({"box:radius=6"}), options);
  CHECK(wrapped.bytes_read == plain.bytes_read + 2 * 6 * 40);
  CHECK(wrapped.slot_input_bytes == (50 + 12) * (40 + 12));
  const auto count_notes = [](const Plan& plan) {
    return std::ranges::count_if(plan.notes,
                                 [](const std::string& note) { return note.starts_with("border=wrap"); });
  };
  CHECK(count_notes(wrapped) == 1);
  CHECK(count_notes(plain) == 0);
}
#endif

TEST_CASE("page-locked images are wrapped on a GPU", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  for (const auto& stages : kChains) {
    const Chain chain = Chain::parse(stages);
    const Image source = Image::of_pattern({{200, 70}, 2, PixelType::u16}, Pattern::noise, 5);
    const Buffer in(source.spec().bytes(), pinned_resource());
    const PixelView locked = dense_view(in.data(), source.spec());
    copy_pixels(source.view(), locked);
    const Image result(chain.result_spec(source.spec()));
    RunOptions options;
    options.slots = 2;
    options.band_rows = 33;
    options.devices = {0};
    INFO(chain.text());
    run(*make_memory_reader(locked, HostMemory::page_locked), *result.writer(), chain, options);
    CHECK(result == expected_of(source, chain));
  }
}
