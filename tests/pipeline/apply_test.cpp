// A chain on the caller's pixels: parts of an image, the caller's threads.
#include "pipeline/run/apply.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <random>

#include "../support/image.hpp"
#include "core/error.hpp"
#include "pipeline/chain/wrap.hpp"
#include "pipeline/machine/thread_pool.hpp"
#include "pipeline/run/run.hpp"

using namespace sepconv;
using namespace sepconv::test;
using Catch::Matchers::Contains;

namespace {

const ImageSpec kSpec{{97, 131}, 2, PixelType::u16};

/// A copy of a part in separate memory, so that a sanitizer detects reads outside of it.
Image cut_out(const Image& image, const Rect& part) {
  Image cut({part.extent(), image.spec().channels, image.spec().type});
  copy_pixels(image.view().crop(part), cut.view());
  return cut;
}

Rect random_part(std::mt19937_64& random, Extent image) {
  const auto random_below = [&](std::int64_t limit) {
    return std::uniform_int_distribution<std::int64_t>(0, limit - 1)(random);
  };
  const std::int64_t row = random_below(image.rows), col = random_below(image.cols);
  return {row, col, 1 + random_below(image.rows - row), 1 + random_below(image.cols - col)};
}

/// The caller's threads, which count their tasks.
class CallerThreads final : public Executor {
 public:
  int concurrency() const noexcept override { return pool_.concurrency(); }
  void for_each(std::int64_t count, const std::function<void(std::int64_t, int)>& task) override {
    task_count += count;
    pool_.for_each(count, task);
  }
  std::atomic<std::int64_t> task_count = 0;

 private:
  ThreadPool pool_{3};
};

}  // namespace

TEST_CASE("a part of the result equals that part of the whole result") {
  std::mt19937_64 random(20261123);
  for (const std::vector<std::string>& stages : std::vector<std::vector<std::string>>{
           {},
           {"gaussian:sigma=2"},
           {"box:radius=3,border=constant,value=9", "sobel:border=reflect"},
           {"gaussian:sigma=1,border=replicate", "transpose", "cast:type=f32", "unsharp:sigma=2"},
           {"reduce:factor=5,filter=binomial", "transpose", "resize:scale=3.3,filter=cubic"},
           {"resize:size=700x20", "box:radius=9"},
           {"box:radius=120"}}) {
    const Chain chain = Chain::parse(stages);
    const Image source = Image::of_pattern(kSpec, Pattern::noise, 11);
    const Image whole(chain.result_spec(kSpec));
    run_whole_image(*source.reader(), *whole.writer(), chain);
    for (int repetition = 0; repetition < 12; ++repetition) {
      const Rect part = random_part(random, whole.spec().extent);
      const Rect needed = chain.input_for(part, kSpec);
      CAPTURE(chain.text(), to_string(part), to_string(needed));
      const Image input = cut_out(source, needed);
      const Image result({part.extent(), whole.spec().channels, whole.spec().type});
      apply(chain, {input.view(), needed, kSpec.extent}, {result.view(), part, whole.spec().extent},
            {.threads = 2, .tile = {13, 17}});
      CHECK(result == cut_out(whole, part));
    }
  }
}

TEST_CASE("a part with border=wrap is computed from the pixels around it, or from the whole image") {
  const Chain chain = Chain::parse({"sobel:border=replicate", "box:radius=5,border=wrap"});
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 3), whole(kSpec);
  run_whole_image(*source.reader(), *whole.writer(), chain);
  for (const Rect part : {Rect{0, 0, 20, 30}, Rect{90, 120, 7, 11}, Rect{40, 50, 9, 9}}) {
    const Rect needed = chain.input_for(part, kSpec);
    CAPTURE(to_string(part), to_string(needed));
    Image input({needed.extent(), kSpec.channels, kSpec.type});
    for (const PeriodicPiece& piece : periodic_pieces(needed, kSpec.extent)) {
      Rect at = piece.at;
      at.row -= needed.row, at.col -= needed.col;
      copy_pixels(source.view().crop(piece.inside), input.view().crop(at));
    }
    const Image from_part({part.extent(), kSpec.channels, kSpec.type}), from_whole(from_part.spec());
    apply(chain, {input.view(), needed, kSpec.extent}, {from_part.view(), part, kSpec.extent});
    apply(chain, ConstRegion::whole(source.view()), {from_whole.view(), part, kSpec.extent});
    CHECK(from_part == cut_out(whole, part));
    CHECK(from_whole == cut_out(whole, part));
  }
}

TEST_CASE("a part whose input pixels are missing is refused, and the error names the needed rectangle") {
  const Chain chain = Chain::parse({"box:radius=4"});
  const Image in({{30, 40}, 1, PixelType::u8}), out({{10, 40}, 1, PixelType::u8});
  const Extent whole{100, 40};
  const Region result{out.view(), {50, 0, 10, 40}, whole};
  CHECK_NOTHROW(apply(chain, {in.view(), {40, 0, 30, 40}, whole}, result));
  CHECK_THROWS_WITH(apply(chain, {in.view(), {47, 0, 30, 40}, whole}, result),
                    Contains(to_string(Rect{46, 0, 18, 40})));
  CHECK_THROWS_WITH(apply(chain, {in.view(), {40, 0, 29, 40}, whole}, result), Contains("for the rectangle"));
  CHECK_THROWS_WITH(apply(chain, {in.view(), {80, 0, 30, 40}, whole}, result), Contains("beyond its image"));
  CHECK_THROWS_WITH(apply(chain, {in.view(), {40, 0, 30, 40}, {90, 40}}, result),
                    Contains("belongs to an image"));
}

TEST_CASE("tiles are computed by the caller's threads") {
  const Chain chain = Chain::parse({"gaussian:sigma=2"});
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 1), expected(kSpec), result(kSpec);
  apply(chain, source.view(), expected.view());
  CallerThreads caller_threads;
  apply(chain, source.view(), result.view(), {.executor = &caller_threads, .tile = {50, 131}});
  CHECK(result == expected);
  CHECK(caller_threads.task_count == 2);
}
