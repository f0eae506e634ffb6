// Stages created by functions and by text are equal, and the stage table describes their keys correctly.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../support/matrix_file.hpp"
#include "sepconv/sepconv.hpp"

using namespace sepconv;
using Catch::Contains;

namespace {

constexpr Border kReplicate{.mode = BorderMode::replicate};
constexpr MissingPolicy kIgnore = MissingPolicy::ignore, kPropagate = MissingPolicy::propagate;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string error_of(const std::function<StagePtr()>& make) {
  try {
    return "no error: " + make()->text();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

using Cases = std::vector<std::pair<std::string, StagePtr>>;

/// `kernel`: a file of a kernel with odd sides.
Cases feature_cases(const std::string& kernel) {
  constexpr Border kConstant{BorderMode::constant, 2};
  return {
      {"correlate:kernel=[[1,2,1],[2,4,2],[1,2,1]],terms=2,tolerance=0.5,border=constant,value=2,flip=true",
       correlate({.kernel = "[[1,2,1],[2,4,2],[1,2,1]]",
                  .terms = 2,
                  .tolerance = 0.5,
                  .border = kConstant,
                  .flip = true})},
      {"correlate:file=" + kernel + ",nodata=propagate", correlate({.file = kernel, .nodata = kPropagate})},
      {"math:expr=[where(x>1,b1,2)]", math({.expr = "where(x>1,b1,2)"})},
      {"hessian:sigma=2,sigma_y=3,truncate=3,eigenvalue=2,border=constant,value=2,flip=true,nodata=propagate",
       hessian({.sigma = 2,
                .sigma_y = 3,
                .truncate = 3,
                .eigenvalue = 2,
                .border = kConstant,
                .flip = true,
                .nodata = kPropagate})},
      {"hessian:sigma=2,radius=3,radius_y=5,element=xy",
       hessian({.sigma = 2, .radius = 3, .radius_y = 5, .element = TensorElement::xy})},
      {"hessian:sigma=2,determinant=true", hessian({.sigma = 2, .determinant = true})},
      {"structure_tensor:sigma=2,sigma_y=3,truncate=3,eigenvalue=1,border=constant,value=2,flip=true,"
       "nodata=propagate",
       structure_tensor({.sigma = 2,
                         .sigma_y = 3,
                         .truncate = 3,
                         .eigenvalue = 1,
                         .border = kConstant,
                         .flip = true,
                         .nodata = kPropagate})},
      {"structure_tensor:sigma=2,radius=3,radius_y=5,element=yy",
       structure_tensor({.sigma = 2, .radius = 3, .radius_y = 5, .element = TensorElement::yy})},
      {"structure_tensor:sigma=2,coherence=true", structure_tensor({.sigma = 2, .coherence = true})},
      {"sato:sigmas=1,2,truncate=3,ridges=dark,border=constant,value=2,flip=true,nodata=propagate",
       sato({.sigmas = {1, 2},
             .truncate = 3,
             .ridges = SatoOptions::Ridges::dark,
             .border = kConstant,
             .flip = true,
             .nodata = kPropagate})},
      {"guided:eps=3,radius=2,radius_y=5,border=constant,value=2,nodata=ignore",
       guided({.radius = 2, .radius_y = 5, .eps = 3, .border = kConstant, .nodata = kIgnore})},
      {"local_range:radius=2,radius_y=5,radius_z=1,border=constant,value=2,nodata=ignore,shape=disk",
       local_range({.radius = 2,
                    .radius_y = 5,
                    .radius_z = 1,
                    .border = kConstant,
                    .nodata = kIgnore,
                    .shape = Window::Shape::disk})},
      {"resize:fit=64x48", resize({.fit = Extent{48, 64}})},
  };
}

Cases cases(const std::string& file) {
  using Operator = GradientOptions::Operator;
  return {
      {"gaussian:sigma=2.5", gaussian({.sigma = 2.5})},
      {"gaussian:sigma=2,sigma_y=5,order=1,order_y=0,flip=true",
       gaussian({.sigma = 2, .sigma_y = 5, .order = 1, .order_y = 0, .flip = true})},
      {"gaussian:sigma=2,truncate=2.5", gaussian({.sigma = 2, .truncate = 2.5})},
      {"gaussian:sigma=2,radius=3,radius_y=7,border=constant,value=-1.5",
       gaussian({.sigma = 2, .radius = 3, .radius_y = 7, .border = {BorderMode::constant, -1.5}})},
      {"gaussian:sigma=20,method=multirate", gaussian({.sigma = 20, .method = GaussianMethod::multirate})},
      {"gaussian:sigma=2,sigma_z=3,radius_z=4,order_z=1",
       gaussian({.sigma = 2, .sigma_z = 3, .radius_z = 4, .order_z = 1})},
      {"box:radius_z=2", box({.radius_z = 2})},
      {"binomial:radius_z=2", binomial({.radius_z = 2})},
      {"sobel:axis=z", sobel({.axis = Axis::z})},
      {"derivative:axis=z", derivative({.axis = Axis::z})},
      {"convolve:z=1,2,1", convolve({.z = {1, 2, 1}})},
      {"box", box()},
      {"box:radius=4,radius_y=0,border=reflect",
       box({.radius = 4, .radius_y = 0, .border = {BorderMode::reflect}})},
      {"box:border=constant,value=3", box({.border = {BorderMode::constant, 3}})},
      {"erode:radius=3,radius_y=0,border=constant,value=2,nodata=fill",
       erode(
           {.radius = 3, .radius_y = 0, .border = {BorderMode::constant, 2}, .nodata = MissingPolicy::fill})},
      {"erode:radius=3,radius_z=2", erode({.radius = 3, .radius_z = 2})},
      {"opening:radius_z=2", opening({.radius_z = 2})},
      {"erode:shape=disk", erode({.shape = Window::Shape::disk})},
      {"dilate:shape=disk", dilate({.shape = Window::Shape::disk})},
      {"opening:shape=disk", opening({.shape = Window::Shape::disk})},
      {"tophat:shape=disk", tophat({.shape = Window::Shape::disk})},
      {"blackhat:shape=disk", blackhat({.shape = Window::Shape::disk})},
      {"closing:radius=3,radius_y=2,radius_z=1,shape=disk",
       closing({.radius = 3, .radius_y = 2, .radius_z = 1, .shape = Window::Shape::disk})},
      {"closing:radius_z=2", closing({.radius_z = 2})},
      {"tophat:radius_z=2", tophat({.radius_z = 2})},
      {"blackhat:radius_z=2", blackhat({.radius_z = 2})},
      {"dilate:radius_z=2,nodata=fill", dilate({.radius_z = 2, .nodata = MissingPolicy::fill})},
      {"dilate:radius=3,radius_y=2,border=constant,value=2,nodata=ignore",
       dilate({.radius = 3, .radius_y = 2, .border = {BorderMode::constant, 2}, .nodata = kIgnore})},
      {"opening:radius=3,radius_y=2,border=constant,value=2,nodata=propagate",
       opening({.radius = 3, .radius_y = 2, .border = {BorderMode::constant, 2}, .nodata = kPropagate})},
      {"closing:radius=3,radius_y=2,border=constant,value=2,nodata=ignore",
       closing({.radius = 3, .radius_y = 2, .border = {BorderMode::constant, 2}, .nodata = kIgnore})},
      {"tophat:radius=3,radius_y=2,border=constant,value=2,nodata=ignore",
       tophat({.radius = 3, .radius_y = 2, .border = {BorderMode::constant, 2}, .nodata = kIgnore})},
      {"blackhat:radius=3,radius_y=2,border=constant,value=2,nodata=ignore",
       blackhat({.radius = 3, .radius_y = 2, .border = {BorderMode::constant, 2}, .nodata = kIgnore})},
      {"box:radius=3,radius_y=2,radius_z=1,border=constant,value=2,nodata=propagate",
       box({.radius = 3,
            .radius_y = 2,
            .radius_z = 1,
            .border = {BorderMode::constant, 2},
            .nodata = kPropagate})},
      {"stddev:radius=3,radius_y=2,border=constant,value=2,nodata=ignore",
       stddev({.radius = 3, .radius_y = 2, .border = {BorderMode::constant, 2}, .nodata = kIgnore})},
      {"local_normalize:radius=3,radius_y=2,border=constant,value=2,nodata=ignore,min_std=0.5",
       local_normalize({.radius = 3,
                        .radius_y = 2,
                        .min_std = 0.5,
                        .border = {BorderMode::constant, 2},
                        .nodata = kIgnore})},
      {"binomial:radius=2,radius_y=5,border=constant,value=1,flip=true",
       binomial({.radius = 2, .radius_y = 5, .border = {BorderMode::constant, 1}, .flip = true})},
      {"sobel", sobel()},
      {"sobel:axis=y,border=constant,value=2,flip=true",
       sobel({.axis = Axis::y, .border = {BorderMode::constant, 2}, .flip = true})},
      {"scharr:axis=y,border=constant,value=2,flip=true",
       scharr({.axis = Axis::y, .border = {BorderMode::constant, 2}, .flip = true})},
      {"derivative", derivative()},
      {"derivative:order=3,axis=y,radius=4,border=constant,value=2,flip=true",
       derivative(
           {.order = 3, .axis = Axis::y, .radius = 4, .border = {BorderMode::constant, 2}, .flip = true})},
      {"gradient", gradient()},
      {"gradient:operator=scharr,border=constant,value=2,flip=true",
       gradient({.op = Operator::scharr, .border = {BorderMode::constant, 2}, .flip = true})},
      {"gradient:operator=gaussian,sigma=1.5,sigma_y=2,truncate=3",
       gradient({.op = Operator::gaussian, .sigma = 1.5, .sigma_y = 2, .truncate = 3})},
      {"gradient:operator=gaussian,sigma=1.5,radius=3,radius_y=4",
       gradient({.op = Operator::gaussian, .sigma = 1.5, .radius = 3, .radius_y = 4})},
      {"gradient:axes=xyz", gradient({.axes = GradientOptions::Axes::xyz})},
      {"gradient:operator=gaussian,axes=xyz,sigma=1,sigma_z=2,radius_z=4",
       gradient({.op = Operator::gaussian,
                 .axes = GradientOptions::Axes::xyz,
                 .sigma = 1,
                 .sigma_z = 2,
                 .radius_z = 4})},
      {"gaussian_laplace:sigma=2,sigma_y=3,truncate=5,border=replicate,flip=true",
       sepconv::gaussian_laplace(
           {.sigma = 2, .sigma_y = 3, .truncate = 5, .border = kReplicate, .flip = true})},
      {"gaussian_laplace:sigma=2,radius=3,radius_y=5,border=constant,value=9",
       sepconv::gaussian_laplace(
           {.sigma = 2, .radius = 3, .radius_y = 5, .border = {BorderMode::constant, 9}})},
      {"dog:sigma=1,sigma_y=2,truncate=3,sigma2=1.6,sigma2_y=4,border=constant,value=9,flip=true",
       dog({.sigma = 1,
            .sigma_y = 2,
            .truncate = 3,
            .sigma2 = 1.6,
            .sigma2_y = 4,
            .border = {BorderMode::constant, 9},
            .flip = true})},
      {"dog:sigma=1,sigma2=1.6,radius=3,radius_y=5",
       dog({.sigma = 1, .radius = 3, .radius_y = 5, .sigma2 = 1.6})},
      {"unsharp:sigma=1,sigma_y=2,truncate=3,amount=0.5,threshold=4,border=constant,value=9,flip=true",
       unsharp({.sigma = 1,
                .sigma_y = 2,
                .truncate = 3,
                .amount = 0.5,
                .threshold = 4,
                .border = {BorderMode::constant, 9},
                .flip = true})},
      {"gaussian_laplace:sigma=2,sigma_z=3,radius_z=4",
       sepconv::gaussian_laplace({.sigma = 2, .sigma_z = 3, .radius_z = 4})},
      {"dog:sigma=1,sigma_z=2,radius_z=4,sigma2=1.6,sigma2_z=3",
       dog({.sigma = 1, .sigma2 = 1.6, .sigma_z = 2, .radius_z = 4, .sigma2_z = 3})},
      {"unsharp:sigma=1,sigma_z=2,radius_z=4", unsharp({.sigma = 1, .sigma_z = 2, .radius_z = 4})},
      {"stddev:radius_z=2", stddev({.radius_z = 2})},
      {"local_normalize:radius_z=2,min_std=1", local_normalize({.radius_z = 2, .min_std = 1})},
      {"unsharp:sigma=1,radius=3,radius_y=5", unsharp({.sigma = 1, .radius = 3, .radius_y = 5})},
      {"convolve:row=1,2.5,1,col=-1,0,1,border=constant,value=9,flip=true",
       convolve({.row = {1, 2.5, 1}, .col = {-1, 0, 1}, .border = {BorderMode::constant, 9}, .flip = true})},
      {"convolve:file=" + file, convolve({.file = file})},
      {"gaussian:sigma=2,nodata=ignore", gaussian({.sigma = 2, .nodata = kIgnore})},
      {"box:nodata=fill", box({.nodata = MissingPolicy::fill})},
      {"binomial:nodata=propagate", binomial({.nodata = kPropagate})},
      {"sobel:nodata=propagate", sobel({.nodata = kPropagate})},
      {"scharr:nodata=propagate", scharr({.nodata = kPropagate})},
      {"derivative:nodata=propagate", derivative({.nodata = kPropagate})},
      {"gradient:nodata=propagate", gradient({.nodata = kPropagate})},
      {"gaussian_laplace:sigma=2,nodata=propagate",
       sepconv::gaussian_laplace({.sigma = 2, .nodata = kPropagate})},
      {"dog:sigma=1,sigma2=2,nodata=ignore", dog({.sigma = 1, .sigma2 = 2, .nodata = kIgnore})},
      {"unsharp:sigma=1,nodata=ignore", unsharp({.sigma = 1, .nodata = kIgnore})},
      {"convolve:row=1,2,1,nodata=ignore", convolve({.row = {1, 2, 1}, .nodata = kIgnore})},
      {"reduce:factor=3,nodata=ignore", reduce({.factor = 3, .nodata = kIgnore})},
      {"resize:scale=2,nodata=propagate", resize({.scale = 2, .nodata = kPropagate})},
      {"mix_channels:values=1,2,3,4,rows=2", mix_channels({.values = {1, 2, 3, 4}, .rows = 2})},
      {"mix_channels:file=" + file, mix_channels({.file = file})},
      {"median", median()},
      {"median:radius=2,radius_y=5,border=constant,value=9,nodata=fill",
       median(
           {.radius = 2, .radius_y = 5, .border = {BorderMode::constant, 9}, .nodata = MissingPolicy::fill})},
      {"median:size=4x3,origin=1,origin_y=-1,nodata=ignore",
       median({.size = Extent{3, 4}, .origin = 1, .origin_y = -1, .nodata = kIgnore})},
      {"median:radius_z=2,origin_z=-1", median({.radius_z = 2, .origin_z = -1})},
      {"median:size_z=4,origin_z=1", median({.size_z = 4, .origin_z = 1})},
      {"percentile:percent=5,radius_z=3", percentile({.percent = 5, .radius_z = 3})},
      {"percentile:percent=5,size_z=3,origin_z=-1", percentile({.percent = 5, .size_z = 3, .origin_z = -1})},
      {"rank:rank=20,radius_z=1,origin_z=1", rank({.rank = 20, .radius_z = 1, .origin_z = 1})},
      {"rank:rank=-1,size_z=2", rank({.rank = -1, .size_z = 2})},
      {"percentile:percent=12.5,radius=3,radius_y=1,border=constant,value=2,nodata=propagate",
       percentile({.percent = 12.5,
                   .radius = 3,
                   .radius_y = 1,
                   .border = {BorderMode::constant, 2},
                   .nodata = kPropagate})},
      {"percentile:percent=90,size=5x2,origin=-1,origin_y=-1",
       percentile({.percent = 90, .size = Extent{2, 5}, .origin = -1, .origin_y = -1})},
      {"rank:rank=-2,radius=3,radius_y=1,border=constant,value=2,nodata=propagate",
       rank({.rank = -2,
             .radius = 3,
             .radius_y = 1,
             .border = {BorderMode::constant, 2},
             .nodata = kPropagate})},
      {"rank:rank=4,size=5x2,origin=-1,origin_y=-1",
       rank({.rank = 4, .size = Extent{2, 5}, .origin = -1, .origin_y = -1})},
      {"scale:factor=0.5,offset=16", scale({.factor = 0.5, .offset = 16})},
      {"cast:type=i16", cast({.type = PixelType::i16})},
      {"stretch:low=5,high=4095,type=u16", stretch({.low = 5, .high = 4095, .type = PixelType::u16})},
      {"clamp:low=-1,high=1e30", clamp({.low = -1, .high = 1e30})},
      {"abs", sepconv::abs()},
      {"threshold:at=128,above=255,below=7", threshold({.at = 128, .above = 255, .below = 7})},
      {"transpose", transpose()},
      {"add:file=" + file, add({.file = file})},
      {"add:file=" + file + ",axes=yx", add({.file = file, .axes = "yx"})},
      {"add:chain=[box | abs]", add({.chain = box() | sepconv::abs()})},
      {"subtract:file=" + file, subtract({.file = file})},
      {"subtract:file=" + file + ",axes=yx", subtract({.file = file, .axes = "yx"})},
      {"subtract:chain=[box | abs]", subtract({.chain = box() | sepconv::abs()})},
      {"multiply:file=" + file, multiply({.file = file})},
      {"multiply:file=" + file + ",axes=yx", multiply({.file = file, .axes = "yx"})},
      {"multiply:chain=[box | abs]", multiply({.chain = box() | sepconv::abs()})},
      {"divide:file=" + file, divide({.file = file})},
      {"divide:file=" + file + ",axes=yx", divide({.file = file, .axes = "yx"})},
      {"divide:chain=[box | abs]", divide({.chain = box() | sepconv::abs()})},
      {"min:file=" + file, sepconv::min({.file = file})},
      {"min:file=" + file + ",axes=yx", sepconv::min({.file = file, .axes = "yx"})},
      {"min:chain=[box | abs]", sepconv::min({.chain = box() | sepconv::abs()})},
      {"max:file=" + file, sepconv::max({.file = file})},
      {"max:file=" + file + ",axes=yx", sepconv::max({.file = file, .axes = "yx"})},
      {"max:chain=[box | abs]", sepconv::max({.chain = box() | sepconv::abs()})},
      {"blend:file=" + file + ",alpha=0.25", blend({.file = file, .alpha = 0.25})},
      {"blend:file=" + file + ",axes=yx", blend({.file = file, .axes = "yx"})},
      {"blend:chain=box,alpha=0.25", blend({.chain = box(), .alpha = 0.25})},
      {"gemm:file=" + file, gemm({.file = file})},
      {"reduce:factor=3", reduce({.factor = 3})},
      {"reduce:factor=3,factor_y=1,filter=binomial",
       reduce({.factor = 3, .factor_y = 1, .filter = ReduceOptions::Filter::binomial})},
      {"resize:size=64x48", resize({.size = Extent{48, 64}})},
      {"resize:scale=0.25,filter=lanczos3",
       resize({.scale = 0.25, .filter = ResizeOptions::Filter::lanczos3})},
      {"gemm:file=" + file + ",side=left", gemm({.file = file, .side = GemmStageOptions::Side::left})},
  };
}

}  // namespace

namespace {

/// The input rectangle of one result pixel; of a volume if the stage filters along z.
Rect input_of_pixel(const StagePtr& stage) {
  const ImageSpec plane{{200, 300}, 3, PixelType::u8};
  const VolumeShape shape{plane.extent, 60, 1};
  if (!filters_along_z(stage)) return stage->input_for({50, 60, 1, 1}, plane);
  return on_volume(stage, plane, shape).input_for({50, 50 * 300 + 60, 1, 1}, shape.spec(plane));
}

}  // namespace

TEST_CASE("a stage is the same made in a program and by text, over all keys of all stages") {
  const test::MatrixFolder matrices;
  std::set<std::string> seen;
  Cases all = cases(matrices.noise({2, 3}, PixelType::f32, 1));
  std::ranges::move(feature_cases(matrices.noise({3, 5}, PixelType::f32, 1)), std::back_inserter(all));
  for (const auto& [text, typed] : all) {
    INFO(text);
    CHECK(parse_stage(text)->text() == typed->text());
    CHECK(parse_stage(typed->text())->text() == typed->text());
    CHECK(input_of_pixel(parse_stage(text)) == input_of_pixel(typed));
    const StageText parts = StageText::split(text);
    seen.insert(parts.stage);
    for (const auto& [key, value] : parts.pairs) seen.insert(parts.stage + ":" + key);
  }
  for (const StageEntry& entry : stage_table()) {
    CHECK(seen.count(entry.name) == 1);
    for (const StageKey& key : entry.keys) {
      INFO(entry.name << ":" << key.name);
      CHECK(seen.count(entry.name + ":" + key.name) == 1);
    }
  }
}

TEST_CASE("no output needs more than a stage says that any needs at most, over all stages") {
  const test::MatrixFolder matrices;
  for (const auto& [text, stage] : cases(matrices.noise({2, 3}, PixelType::f32, 1))) {
    if (stage->properties().has_secondary) continue;  // its file does not exist
    const ImageSpec input{{400, 23}, 3, PixelType::f32};
    ImageSpec result;
    try {
      result = stage->output_spec(input);
      stage->input_for({0, 0, 1, 1}, input);
    } catch (const InvalidArgument&) {
      continue;  // needs another number of channels, or volumes
    }
    INFO(text);
    for (const Extent output : {Extent{1, 1}, Extent{2, 5}, Extent{9, 4}}) {
      const Extent max_extent = stage->max_input_extent(output, input);
      Extent seen{};
      for (std::int64_t row = 0; row + output.rows <= result.extent.rows; ++row) {
        for (std::int64_t col = 0; col + output.cols <= result.extent.cols; ++col) {
          const Rect needed = stage->input_for({row, col, output.rows, output.cols}, input);
          seen = {std::max(seen.rows, needed.rows), std::max(seen.cols, needed.cols)};
        }
      }
      CHECK(seen.rows <= max_extent.rows);
      CHECK(seen.cols <= max_extent.cols);
    }
  }
}

TEST_CASE("invalid options are refused with the same error as their text") {
  const std::vector<std::pair<std::string, std::function<StagePtr()>>> option_cases = {
      {"gaussian", [] { return gaussian({}); }},
      {"gaussian:sigma=-1", [] { return gaussian({.sigma = -1}); }},
      {"gaussian:sigma=nan", [] { return gaussian({.sigma = kNan}); }},
      {"gaussian:sigma=1e9", [] { return gaussian({.sigma = 1e9}); }},
      {"gaussian:sigma=2,order=4", [] { return gaussian({.sigma = 2, .order = 4}); }},
      {"gaussian:sigma=2,truncate=3,radius=5",
       [] { return gaussian({.sigma = 2, .truncate = 3, .radius = 5}); }},
      {"gaussian:sigma=2,value=3", [] { return gaussian({.sigma = 2, .border = {.value = 3}}); }},
      {"box:radius=-1", [] { return box({.radius = -1}); }},
      {"gradient:sigma=2", [] { return gradient({.sigma = 2}); }},
      {"derivative:order=5,radius=1", [] { return derivative({.order = 5, .radius = 1}); }},
      {"convolve", [] { return convolve({}); }},
      {"convolve:row=1,nan,1",
       [] {
         return convolve({.row = {1, kNan, 1}});
       }},
      {"convolve:row=1,2",
       [] {
         return convolve({.row = {1, 2}});
       }},
      {"convolve:row=1,file=a.txt", [] { return convolve({.row = {1}, .file = "a.txt"}); }},
      {"mix_channels:values=1,2,3,rows=2",
       [] {
         return mix_channels({.values = {1, 2, 3}, .rows = 2});
       }},
      {"clamp:low=3,high=1", [] { return clamp({.low = 3, .high = 1}); }},
      {"median:radius=3,size=3x3",
       [] {
         return median({.radius = 3, .size = Extent{3, 3}});
       }},
      {"median:origin=2", [] { return median({.origin = 2}); }},
      {"median:size=3x9999",
       [] {
         return median({.size = Extent{9999, 3}});
       }},
      {"median:origin_z=1", [] { return median({.origin_z = 1}); }},
      {"median:radius_z=1,size_z=3", [] { return median({.radius_z = 1, .size_z = 3}); }},
      {"median:radius=100,radius_z=100", [] { return median({.radius = 100, .radius_z = 100}); }},
      {"rank:rank=27,radius_z=1", [] { return rank({.rank = 27, .radius_z = 1}); }},
      {"percentile", [] { return percentile({}); }},
      {"percentile:percent=101", [] { return percentile({.percent = 101}); }},
      {"rank:rank=9", [] { return rank({.rank = 9}); }},
      {"rank:rank=-10", [] { return rank({.rank = -10}); }},
      {"cast", [] { return cast({}); }},
      {"gemm", [] { return gemm({}); }},
      {"reduce", [] { return reduce({}); }},
      {"reduce:factor=0", [] { return reduce({.factor = 0}); }},
      {"resize", [] { return resize({}); }},
      {"resize:size=0x5",
       [] {
         return resize({.size = Extent{5, 0}});
       }},
      {"resize:size=3x4,scale=0.5",
       [] {
         return resize({.size = Extent{4, 3}, .scale = 0.5});
       }},
      {"resize:scale=nan", [] { return resize({.scale = kNan}); }},
      {"subtract", [] { return subtract({}); }},
      {"blend:chain=abs,alpha=2", [] { return blend({.chain = sepconv::abs(), .alpha = 2}); }},
      {"divide:chain=transpose", [] { return divide({.chain = transpose()}); }},
  };
  for (const auto& [text, make] : option_cases) {
    INFO(text);
    const std::string expected_error = error_of([&] { return parse_stage(text); });
    CHECK_THAT(expected_error, Contains("stage '" + StageText::split(text).stage + "'"));
    CHECK(error_of(make) == expected_error);
  }
  CHECK_THROWS_WITH(sobel({.axis = static_cast<Axis>(7)}), Contains("it is one of x, y"));
  CHECK_THROWS_WITH(gemm({.file = "a,side=left.npy"}), Contains("give the file another name"));
}

TEST_CASE("stages and chains are joined by |") {
  const Chain chain = gaussian({.sigma = 2.5}) | sobel({.axis = Axis::x});
  const std::string text = Chain::parse({"gaussian:sigma=2.5", "sobel:axis=x"}).text();
  CHECK(chain.text() == text);
  CHECK((chain | sepconv::abs()).text() == text + " | abs");
  CHECK((sepconv::abs() | chain).text() == "abs | " + text);
  CHECK((chain | chain).size() == 4);
  CHECK((Chain() | Chain()).text() == "copy");
  CHECK(Chain({box(), box()}).size() == 2);
  CHECK(Chain({box()}).size() == 1);
  const Chain converted = box();
  CHECK(converted.text() == parse_stage("box")->text());
}

TEST_CASE("a table of keys describes the accepted texts") {
  for (const StageEntry& entry : stage_table()) {
    for (const StageKey& key : entry.keys) {
      INFO(entry.name << ":" << key.name);
      CHECK_FALSE(key.words.empty());
      CHECK((key.type == StageKey::Type::choice || key.type == StageKey::Type::flag) == !key.choices.empty());
      CHECK_FALSE((key.needed && !key.default_text.empty()));
      for (const std::string& related : {key.only_with, key.not_with}) {
        const std::string name = related.substr(0, related.find('='));
        CHECK((name.empty() || std::ranges::find(entry.keys, name, &StageKey::name) != entry.keys.end()));
      }
    }
  }
  const std::vector<StageKey> keys = GaussianOptions::entry().keys;
  CHECK(keys[0].help() == "standard deviation; 0 leaves the axis alone (pixels; 0 or more; needed)");
  CHECK(
      keys[2].help() ==
      "the radius in standard deviations: int(truncate * sigma + 0.5) (sigmas; 0 or more; default 4; not with "
      "radius)");
  CHECK_THAT(keys[12].help(), Contains("(default 0; only with border=constant)"));
  CHECK_THAT(keys[13].help(), Contains("(false true; default false)"));
}

TEST_CASE("disks run on a GPU like boxes, up to a documented radius") {
  const ImageSpec plane{{50, 60}, 1, PixelType::u8};
  const auto on_device = [&](const char* text) {
    return on_volume(Chain::parse({text}), plane, {plane.extent, 9}).why_not_on_device().empty();
  };
  for (const char* const text : {"opening:radius=3", "erode:radius_z=1", "opening:shape=disk",
                                 "erode:radius_z=1,shape=disk", "tophat:radius=2047,radius_z=1,shape=disk"})
    CHECK(on_device(text));
  CHECK_NOTHROW(Chain::parse({"erode:radius=2047,shape=disk"}));
  for (const char* const text : {"erode:radius=2048,shape=disk", "closing:radius_y=2048,shape=disk"})
    CHECK_THROWS_WITH(Chain::parse({text}), Contains("a disk's radius is at most 2047; take shape=box"));
}
