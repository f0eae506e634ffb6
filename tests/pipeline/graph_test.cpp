// Graphs of stages: random expressions streamed in bands, compared with the whole-image runner.
#include <catch2/catch.hpp>
#include <random>

#include "../support/gpu.hpp"
#include "../support/image.hpp"
#include "core/error.hpp"
#include "pipeline/chain/graph_steps.hpp"
#include "pipeline/chain/graph_tile.hpp"
#include "pipeline/run/run.hpp"
#include "pipeline/stages/expression.hpp"
#include "pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

using Catch::Contains;
using Kind = PointwiseOp::Kind;
using Value = Expression::Value;

template <class T>
T pick(std::mt19937_64& random, std::initializer_list<T> choices) {
  return choices.begin()[random() % choices.size()];
}

std::string random_stage(std::mt19937_64& random) {
  const std::string border = ",border=" + pick<std::string>(random, {"reflect101", "reflect", "replicate",
                                                                     "constant,value=7.5", "wrap"});
  return pick<std::string>(
      random,
      {"gaussian:sigma=1.3" + border, "gaussian:sigma=0.7,sigma_y=3,order=1" + border,
       "box:radius=2,radius_y=5" + border, "erode:radius=3" + border, "dilate:radius=1,shape=disk" + border,
       "tophat:radius=2" + border, "gradient:operator=scharr" + border, "median:radius=1" + border,
       "unsharp:sigma=1" + border, "stddev:radius=2" + border, "scale:factor=-0.5,offset=3", "abs",
       "subtract:chain=[binomial:radius=2" + border + " | abs]"});
}

PointwiseOp random_op(std::mt19937_64& random) {
  return {.kind = pick(
              random, {Kind::sum, Kind::difference, Kind::magnitude, Kind::lesser, Kind::greater, Kind::mix}),
          .p = 0.75,
          .q = -1.5};
}

/// An expression of up to eight stages and operations that all contribute to the result.
StagePtr random_expression(std::mt19937_64& random) {
  Expression expression;
  std::vector<Value> open{Value::input};  // values that nothing reads yet, and the input
  std::vector<StagePtr> used;
  for (std::uint64_t left = 1 + random() % 5; left > 0; --left) {
    const std::size_t index = random() % open.size();
    used.push_back(!used.empty() && random() % 4 == 0 ? used[random() % used.size()]
                                                      : parse_stage(random_stage(random)));
    const Value result = expression.apply(used.back(), open[index]);
    if (open[index] == Value::input || random() % 3 == 0)
      open.push_back(result);
    else
      open[index] = result;
  }
  while (open.size() > 1) {
    const Value last = open.back();
    open.pop_back();
    open.back() = expression.combine(random_op(random), open.back(), last);
  }
  return expression.stage("(random)");
}

PlanOptions random_options(std::mt19937_64& random, Extent image) {
  const auto up_to = [&](std::int64_t most) {
    return 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  PlanOptions options{.threads = static_cast<int>(up_to(3)), .slots = static_cast<int>(up_to(3))};
  options.band_rows = up_to(image.rows);
  options.band_cols = random() % 2 == 0 ? up_to(image.cols) : 0;
  options.tile = {up_to(40), up_to(60)};
  return options;
}

/// Compares a run in random bands with the whole image.
void check_chain(std::mt19937_64& random, const Chain& chain, const ImageSpec& spec,
                 const std::vector<int>& devices = {}) {
  MissingOptions missing;
  if (random() % 2 == 0) missing.value = 7;
  const test::Image source = test::Image::of_pattern(spec, Pattern::noise, random());
  const test::Image whole(chain.result_spec(spec)), streamed(whole.spec());
  run_whole_image(*source.reader(), *whole.writer(), chain, std::nullopt, missing);
  PlanOptions options = random_options(random, whole.spec().extent);
  options.missing = missing;
  options.devices = devices;
  const auto reader = source.reader();
  const auto writer = streamed.writer();
  run(*reader, *writer, chain, {options, {}});
  REQUIRE(streamed == whole);
}

void check_random_graphs(std::uint64_t seed, int count, const std::vector<int>& devices = {}) {
  for (int index = 0; index < count; ++index) {
    std::mt19937_64 random(seed * 1000003 + static_cast<std::uint64_t>(index));
    const ImageSpec spec{
        {1 + static_cast<std::int64_t>(random() % 90), 1 + static_cast<std::int64_t>(random() % 90)},
        pick<std::int64_t>(random, {1, 1, 3}),
        pick(random, {PixelType::u8, PixelType::u16, PixelType::i16, PixelType::f32, PixelType::f64})};
    Chain chain{random_expression(random)};
    if (random() % 3 == 0) chain = Chain(transpose()) | chain;
    if (random() % 3 == 0) chain.then(random_expression(random));
    INFO("seed " << seed << ", case " << index);
    check_chain(random, chain, spec, devices);
  }
}

}  // namespace

TEST_CASE("random graphs in bands equal the whole image, byte for byte", "[property]") {
  check_random_graphs(1, 300);
}

TEST_CASE("random graphs through a GPU equal the whole image, byte for byte", "[property][gpu]") {
  SEPCONV_NEEDS_GPU();
  check_random_graphs(3, 100, {0});
}

TEST_CASE("random graphs through a GPU equal the whole image, a few cases", "[property][gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  check_random_graphs(4, 15, {0});
}

TEST_CASE("ten thousand random graphs in bands equal the whole image", "[property][slow]") {
  check_random_graphs(2, 10000);
}

TEST_CASE("a part that two nodes need contains what both need") {
  Expression expression;
  const Value narrow = expression.apply(gaussian({.sigma = 1})), wide = expression.apply(box({.radius = 30}));
  expression.combine({.kind = Kind::sum}, narrow, wide);
  const Graph graph(Chain{expression.stage("(two)")}, {{500, 500}, 1, PixelType::u8});
  const Rect output{200, 210, 10, 20};
  const std::vector<Rect> needed = graph.needed_rects(output);
  CHECK(needed == std::vector<Rect>{output.grown(30, 30), output, output, output});
  CHECK(graph.max_needed_extents(output.extent()).front().rows >= 70);
}

TEST_CASE("values that are not needed at the same time share memory") {
  const ImageSpec spec{{500, 500}, 1, PixelType::f32};
  Chain one{abs(), gaussian({.sigma = 1}), abs()}, many = one;
  for (int i = 0; i < 10; ++i) many.then(abs());
  const auto bytes = [&](const Chain& chain) {
    return tile_scratch_bytes(Graph(chain, spec), Extent{100, 100}, Arithmetic::f32);
  };
  CHECK(bytes(many) == bytes(one));
}

TEST_CASE("a device's convolution applies those binary operations that its kernel has") {
  const auto joins = [](Kind kind) {
    Expression expression;
    expression.combine({.kind = kind}, Value::input, expression.apply(gaussian({.sigma = 1})));
    const Graph graph(Chain{expression.stage("(joined)")}, {{50, 50}, 1, PixelType::f32});
    return fused_steps(graph, Arithmetic::f32).front().join.has_value();
  };
  for (const Kind kind : {Kind::sum, Kind::difference, Kind::magnitude, Kind::unsharp, Kind::quotient})
    CHECK(joins(kind));
  for (const Kind kind : {Kind::product, Kind::lesser, Kind::greater, Kind::mix}) CHECK_FALSE(joins(kind));
}

TEST_CASE("a stage that two branches apply to the same value is computed once") {
  const StagePtr smooth = gaussian({.sigma = 2}), edges = gradient({});
  const auto branch = [&](Expression& expression, Kind kind) {
    const Value smoothed = expression.apply(smooth);
    return expression.combine({.kind = kind}, expression.apply(edges, smoothed), smoothed);
  };
  Expression expression;
  const Value sum = branch(expression, Kind::sum), difference = branch(expression, Kind::difference);
  expression.combine({.kind = Kind::product}, sum, difference);
  const StagePtr stage = expression.stage("(shared)");
  const ImageSpec spec{{40, 50}, 1, PixelType::f32};
  const auto nodes_of = [&](const StagePtr& of) { return Graph(Chain{of}, spec).nodes().size(); };
  const std::size_t shared = nodes_of(smooth) + nodes_of(edges);
  CHECK(nodes_of(stage) == shared + 3);
  for (const StagePtr& variant : {stage->transposed(), stage->with_nodata(), stage->with_mask_channel()})
    CHECK(nodes_of(variant) == shared + 3);

  // The result itself may repeat an earlier value.
  Expression repeated;
  const Value first = repeated.apply(smooth);
  repeated.combine({.kind = Kind::difference}, first, repeated.apply(smooth));
  const Graph graph(Chain{repeated.stage("(zero)")}, spec);
  CHECK(graph.nodes().size() == nodes_of(smooth) + 1);
  CHECK(graph.uses()[1] == 2);
  std::mt19937_64 random(7);
  for (int i = 0; i < 8; ++i) check_chain(random, {repeated.stage("(zero)"), stage}, spec);
}

TEST_CASE("an expression that cannot be computed is refused") {
  Expression unused;
  unused.apply(abs());
  unused.apply(box({.radius = 1}));
  CHECK_THROWS_WITH(unused.stage("(unused)"), Contains("value 1 of the expression '(unused)' is not used"));
  CHECK_THROWS_AS(Expression().stage("(empty)"), InvalidArgument);

  const auto refused = [](const StagePtr& stage) {
    Expression expression;
    expression.combine({.kind = Kind::sum}, Value::input, expression.apply(stage));
    CHECK_THROWS_WITH(expression.stage("(refused)"), Contains("cannot be computed"));
  };
  refused(resize({.scale = 0.5}));
  refused(transpose());
  const test::Image second = test::Image::of_pattern({{8, 8}, 1, PixelType::u8}, Pattern::noise, 1);
  refused(add({.file = second.view()}));
}

}  // namespace sepconv
