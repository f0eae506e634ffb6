#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "../support/matrix_file.hpp"
#include "core/error.hpp"
#include "pipeline/chain/chain.hpp"
#include "pipeline/stages/aliases.hpp"

using namespace sepconv;
using Catch::Contains;

TEST_CASE("every stage's example parses, and its text parses to itself") {
  CHECK(stage_table().size() == 47);
  const test::MatrixFolder matrices;
  const std::string file = matrices.noise({4, 3}, PixelType::f32, 1);
  for (const StageEntry& entry : stage_table()) {
    INFO(entry.name);
    CHECK_FALSE(entry.help.empty());
    std::string example = entry.example;
    const std::string_view named = "B.npy";
    if (const std::size_t at = example.find(named); at != std::string::npos)
      example.replace(at, named.size(), file);
    const std::string text = parse_stage(example)->text();
    CHECK(text.starts_with(entry.name));
    CHECK(parse_stage(text)->text() == text);
  }
}

TEST_CASE("lists continue over commas until the next key") {
  const StagePtr stage = parse_stage("convolve:row=1,2,1,col=-1,0,1,border=replicate");
  CHECK(stage->text() == "convolve:row=1,2,1,col=-1,0,1,border=replicate,flip=false");
  CHECK(stage->traits().work.operations_per_element == 6);
}

TEST_CASE("footprints and results of stages") {
  const ImageSpec image{{100, 200}, 3, PixelType::u8};
  const StagePtr gaussian = parse_stage("gaussian:sigma=2");
  CHECK(gaussian->input_for({50, 60, 10, 10}, image) == Rect{42, 52, 26, 26});
  CHECK(gaussian->input_for({0, 195, 5, 5}, image) == Rect{0, 187, 13, 13});
  CHECK(parse_stage("derivative:axis=y")->input_for({50, 60, 10, 10}, image) == Rect{49, 60, 12, 10});
  CHECK(parse_stage("dog:sigma=1,sigma2=3")->input_for({50, 60, 10, 10}, image) == Rect{38, 48, 34, 34});
  CHECK(parse_stage("cast:type=i16")->output_spec(image).type == PixelType::i16);
  CHECK(parse_stage("mix_channels:values=1,0,0,0,1,0,rows=2")->output_spec(image).channels == 2);
  CHECK(parse_stage("mix_channels:values=1,0,0,5")->output_spec(image).channels == 1);
}

TEST_CASE("the pixels that a chain's result depends on") {
  CHECK(Chain::parse({"transpose"}).work() == Work::none);
  CHECK(Chain::parse({"transpose", "abs"}).work() == Work::pixels);
  CHECK(Chain::parse({"mix_channels:values=1,2,3", "abs"}).work() == Work::pixels);
  CHECK(Chain::parse({"mix_channels:values=1,2,3", "box:radius=1"}).work() == Work::neighbours);
}

TEST_CASE("the arithmetic of a chain") {
  const auto arithmetic = [](PixelType type, std::vector<std::string> stages) {
    return Chain::parse(stages).arithmetic({{8, 8}, 1, type});
  };
  CHECK(arithmetic(PixelType::u8, {"abs"}) == Arithmetic::f32);
  CHECK(arithmetic(PixelType::f64, {"abs"}) == Arithmetic::f64);
  CHECK(arithmetic(PixelType::u8, {"abs", "cast:type=f64"}) == Arithmetic::f64);
  CHECK(arithmetic(PixelType::u8, {"cast:type=f64", "cast:type=u8"}) == Arithmetic::f64);
  CHECK(Chain::parse({}).arithmetic({{8, 8}, 1, PixelType::f64}, Arithmetic::f32) == Arithmetic::f32);
}

TEST_CASE("wrong stages are refused with an error that names a remedy") {
  const auto [text, message] = GENERATE(table<std::string, std::string>({
      {"gausian:sigma=1", "unknown stage 'gausian': did you mean 'gaussian'?"},
      {"gaus:sigma=1", "unknown stage 'gaus': did you mean 'gaussian'?"},
      {"zzzzzzzz", "there are gaussian, box,"},
      {"", "a stage has no name; write one, like gaussian:sigma=2"},
      {"subtract:chain=[]", "a stage has no name"},
      {"gaussian", "needs 'sigma'"},
      {"gaussian_laplace:sigma=0", "must be greater than 0"},
      {"gaussian:sigma=7.9,method=multirate", "it is for a sigma of 8 to 10000"},
      {"gaussian:sigma=9,sigma_y=1e30,method=multirate", "it is for a sigma of 8 to 10000"},
      {"gaussian:sigma=9,order=1,method=multirate", "has no derivatives"},
      {"gaussian:sigma=9,radius=9,method=multirate", "omit radius and truncate"},
      {"gaussian:sigma=-1", "must be 0 or more"},
      {"gaussian:sigma=nan", "a finite number is needed"},
      {"gaussian:sigma=inf", "a finite number is needed"},
      {"gaussian:sigma=1e9", "take a smaller sigma"},
      {"gaussian:sigma=1e300", "take a smaller sigma"},
      {"gaussian:sigma=2x", "a finite number is needed"},
      {"gaussian:sgma=2",
       "has no key 'sgma' (did you mean 'sigma'?); its keys are sigma, sigma_y, truncate, radius, radius_y, "
       "order, order_y, sigma_z, radius_z, order_z, method, border, value, flip"},
      {"gaussian:sigma=2,edge_handling=x", "has no key 'edge_handling'; its keys are sigma,"},
      {"gaussian:sigma=2,order=4", "cannot take order=4: it must be between 0 and 3"},
      {"gaussian:sigma=2,order_y=-1", "cannot take order_y=-1: it must be between 0 and 3"},
      {"gaussian:sigma=2,sigma_y=-1", "cannot take sigma_y=-1: it must be 0 or more"},
      {"gaussian:sigma=2,sigma_y=1e9", "cannot take sigma_y=1000000000: the radius would exceed 1048576"},
      {"blur:sigma=2", "unknown stage 'blur': use gaussian:sigma=2 or box:radius=2"},
      {"Laplacian", "use gaussian_laplace:sigma=2, the Laplacian of a Gaussian"},
      {"bilateral:radius=1", "unknown stage 'bilateral': use guided:radius=4,eps=400"},
      {"gaussian:sigma=1,sigma=2", "is given 'sigma' twice"},
      {"gaussian:2", "key=value is expected"},
      {"gaussian:sigma=2,radius=3,truncate=4", "not both"},
      {"gaussian:sigma=2,truncate=-1", "it must be 0 or more"},
      {"gaussian:sigma=2,border=mirror", "it is one of reflect101, reflect, replicate, constant, wrap"},
      {"gaussian:sigma=2,value=3", "cannot take value=3: it goes only with border=constant"},
      {"box:radius=-1", "it must be between 0 and 1048576"},
      {"box:radius=99999999999999999999", "a whole number is needed"},
      {"binomial:radius=513", "it must be between 0 and 512"},
      {"sobel:axis=w", "it is one of x, y, z"},
      {"derivative:order=0", "it must be between 1 and 16"},
      {"derivative:order=5,radius=1", "needs a radius of at least"},
      {"gradient:sigma=2", "cannot take sigma=2: it goes only with operator=gaussian"},
      {"gradient:operator=gaussian", "needs 'sigma'"},
      {"gradient:radius=3", "cannot take radius=3: it goes only with operator=gaussian"},
      {"gradient:operator=scharr,truncate=nan", "it goes only with operator=gaussian"},
      {"gradient:operator=scharr,truncate=4", "it goes only with operator=gaussian"},
      {"dog:sigma=1", "needs 'sigma2'"},
      {"dog:sigma=1,sigma2=2,sigma2_y=1e9", "cannot take sigma2_y=1000000000: the radius would exceed"},
      {"unsharp:sigma=1,threshold=-1", "it must be 0 or more"},
      {"convolve", "give row taps, col taps, z taps or several of them, or file"},
      {"convolve:row=1,2", "an odd number is needed"},
      {"convolve:row=1,nan,1", "'nan' is not a finite number"},
      {"convolve:row=1,,1", "'' is not a finite number"},
      {"convolve:row=", "a value is needed"},
      {"convolve:file=/nonexistent/taps.txt", "/nonexistent/taps.txt"},
      {"convolve:file=a.txt,row=1", "give row or file, not both"},
      {"mix_channels", "needs 'values': give the numbers, or a file"},
      {"mix_channels:rows=2", "cannot take rows=2: it goes only with values"},
      {"mix_channels:file=a.txt,values=1", "give values or file, not both"},
      {"mix_channels:values=1,2,3,rows=2", "cannot make that many equal rows"},
      {"clamp:low=3,high=1", "must not exceed high"},
      {"clamp", "it or high must be given"},
      {"cast", "needs 'type'"},
      {"cast:type=u32", "it is one of u8, u16, i16, f32, f64"},
      {"abs:x=1", "it has no keys"},
      {"threshold", "needs 'at'"},
      {"gaussian:sigma=2,flip=yes", "it is one of false, true"},
      {"reduce", "needs 'factor'"},
      {"reduce:factor=0", "it must be between 1 and 2147483647"},
      {"reduce:factor=2.5", "a whole number is needed"},
      {"reduce:factor=2x3", "a whole number is needed"},
      {"reduce:factor=2,factor_y=0", "cannot take factor_y=0: it must be between 1 and 2147483647"},
      {"reduce:factor=2,filter=cubic", "it is one of box, binomial, nearest"},
      {"resize", "needs 'size': give one of size, scale and fit"},
      {"resize:size=640", "COLSxROWS is needed, as 640x480 is"},
      {"resize:size=x480", "COLSxROWS is needed"},
      {"resize:size=640x", "COLSxROWS is needed"},
      {"resize:size=640x480x3", "COLSxROWS is needed"},
      {"resize:size=640x99999999999999999999", "COLSxROWS is needed"},
      {"resize:size=640x0", "it must be between 1 and 2147483647"},
      {"resize:size=640x-1", "it must be between 1 and 2147483647"},
      {"resize:scale=0", "must be greater than 0"},
      {"resize:scale=0.5,size=3x4", "give size or scale, not both"},
      {"resize:scale=2,filter=hamming", "it is one of linear, cubic, lanczos3, area, box, nearest"},
      {"downsample", "use reduce:factor=2 or resize:scale=0.5"},
  }));
  INFO(text);
  CHECK_THROWS_WITH(parse_stage(text), Contains(message));
}

TEST_CASE("names of older versions are understood, and are in no list") {
  const auto [former_text, current_text] = GENERATE(table<std::string_view, std::string_view>({
      {"log:sigma=2", "gaussian_laplace:sigma=2"},
      {"taps:row=1,2,1", "convolve:row=1,2,1"},
      {"matrix:values=1,2", "mix_channels:values=1,2"},
      {"mean:radius=2", "box:radius=2"},
      {"std:radius=2", "stddev:radius=2"},
      {"normalize:least=2", "local_normalize:min_std=2"},
      {"open:radius=2", "opening:radius=2"},
      {"close:radius=2", "closing:radius=2"},
      {"subtract:chain=[open:radius=2 | std]", "subtract:chain=[opening:radius=2 | stddev]"},
  }));
  INFO(former_text);
  CHECK(parse_stage(former_text)->text() == parse_stage(current_text)->text());
  CHECK_THROWS_WITH(parse_stage("local_normalize:least=2,min_std=3"), Contains("'min_std' twice; keep one"));
  for (const StageEntry& entry : stage_table()) {
    CHECK(find_by_name(stage_table(), entry.name) == &entry);
    for (const StageEntry& other : stage_table()) CHECK(entry.former_name != other.name);
  }
  StageTable own_table =
      stage_table();  // the caller's stage takes precedence over another stage's former name
  own_table.push_back({"log", "a logarithm", "log", {}, [](const StageText&) { return parse_stage("abs"); }});
  CHECK(parse_stage("log", own_table)->text() == "abs");
}

TEST_CASE("names of other libraries' functions suggest existing stages") {
  const test::MatrixFolder matrices;
  const std::string file = matrices.noise({4, 3}, PixelType::f32, 1);
  std::vector<std::string_view> seen;
  for (const Synonym& synonym : stage_synonyms()) {
    for (const std::string_view name : synonym.names) {
      INFO(name);
      CHECK(find_by_name(stage_table(), name) == nullptr);
      CHECK(std::ranges::find(seen, name) == seen.end());
      seen.push_back(name);
    }
    for (const std::string_view stage : synonym.stages) {
      std::string text(stage);
      if (const std::size_t at = text.find("file="); at != std::string::npos)
        text.replace(at + 5, text.size() - at, file);
      INFO(text);
      CHECK(parse_stage(text)->text().starts_with(stage.substr(0, stage.find(':'))));
    }
    CHECK_FALSE((synonym.stages.empty() && synonym.remark.empty()));
  }
  CHECK(alternatives_for("gausian").empty());
}

TEST_CASE("coefficients that f32 cannot represent are used in f64") {
  const ImageSpec spec{{8, 8}, 1, PixelType::f32};
  for (const std::string_view text :
       {"scale:factor=1e39", "scale:offset=-1e39", "unsharp:sigma=1,amount=1e39", "convolve:row=1e39",
        "mix_channels:values=1e39", "mix_channels:values=1,1e39",
        "box:radius=1,border=constant,value=1e300"}) {
    INFO(text);
    CHECK(Chain::parse({text}).arithmetic(spec) == Arithmetic::f64);
  }
  CHECK(Chain::parse({"scale:factor=1e38"}).arithmetic(spec) == Arithmetic::f32);
}

TEST_CASE("a matrix that does not fit the image is refused") {
  const StagePtr stage = parse_stage("mix_channels:values=1,2,3,4,5");
  CHECK_THROWS_WITH(stage->output_spec({{8, 8}, 3, PixelType::u8}),
                    Contains("5 columns but the image has 3 channels"));
}
