#include "pipeline/stages/aliases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace sepconv {

const std::vector<Synonym>& stage_synonyms() {
  static const std::vector<Synonym> all = {
      {{"blur", "smooth", "gauss", "gaussianblur", "gaussian_blur", "gaussian_filter"},
       {"gaussian:sigma=2", "box:radius=2"},
       ""},
      {{"average", "boxblur", "boxfilter", "uniform", "uniform_filter"}, {"box:radius=2"}, ""},
      {{"laplacian", "laplace", "laplacian_of_gaussian"},
       {"gaussian_laplace:sigma=2"},
       "the Laplacian of a Gaussian"},
      {{"sharpen", "usm", "unsharpmask", "unsharp_mask"}, {"unsharp:sigma=2"}, ""},
      {{"edge", "edges", "canny", "prewitt", "roberts", "magnitude"}, {"gradient", "sobel:axis=x"}, ""},
      {{"dx", "dy", "diff", "grad"}, {"derivative:axis=x", "gradient"}, ""},
      {{"sepfilter2d", "convsep", "convolution", "conv", "filter", "kernel"},
       {"convolve:row=1,2,1,col=1,2,1", "correlate:kernel=[[1,2,1],[2,4,2],[1,2,1]]"},
       ""},
      {{"filter2d", "conv2d", "emboss"}, {"correlate:kernel=[[0,1,0],[1,-4,1],[0,1,0]]"}, ""},
      {{"mul", "gain"}, {"scale:factor=0.5", "multiply:file=second.tif"}, ""},
      {{"plus", "sum"}, {"scale:offset=10", "add:file=second.tif"}, ""},
      {{"sub", "minus", "difference", "absdiff"}, {"scale:offset=-10", "subtract:file=second.tif"}, ""},
      {{"offset", "brightness"}, {"scale:offset=10"}, ""},
      {{"div", "flatfield", "flat_field"}, {"divide:file=flat.tif"}, ""},
      {{"lighten", "fmax"}, {"max:file=second.tif"}, ""},
      {{"darken", "fmin"}, {"min:file=second.tif"}, ""},
      {{"mix_images", "composite", "addweighted", "lerp"}, {"blend:alpha=0.5,file=second.tif"}, ""},
      {{"linear", "affine", "contrast"}, {"scale:factor=2,offset=10"}, ""},
      {{"invert", "negate", "negative"}, {"scale:factor=-1,offset=255"}, "for u8"},
      {{"normalise", "localcontrast", "local_contrast", "standardize"}, {"local_normalize:radius=16"}, ""},
      {{"deviation", "variance", "standard_deviation"}, {"stddev:radius=2"}, ""},
      {{"autocontrast"},
       {"stretch:low=10,high=200,type=u8"},
       "with numbers from the range that sepconv stats prints"},
      {{"grey", "gray", "greyscale", "grayscale", "luminance", "desaturate"},
       {"mix_channels:values=0.299,0.587,0.114"},
       ""},
      {{"mix", "unmix", "channels", "recolor"},
       {"mix_channels:values=1,0,0,0,0,1,rows=2"},
       "a row of the matrix per channel of the result"},
      {{"convert", "astype", "type", "depth"}, {"cast:type=f32"}, ""},
      {{"clip", "limit", "saturate"}, {"clamp:low=0,high=255"}, ""},
      {{"binarize", "binarise", "binary", "otsu"}, {"threshold:at=128"}, ""},
      {{"expr", "expression", "calc", "bandmath", "ndvi"}, {"math:expr=(b4-b3)/(b4+b3)"}, ""},
      {{"ridge", "ridges", "tubeness", "vesselness", "frangi", "meijering"}, {"sato:sigmas=1,2,3"}, ""},
      {{"coherence", "orientation"}, {"structure_tensor:sigma=3,coherence=true"}, ""},
      {{"roughness", "range", "focal_range"}, {"local_range:radius=1"}, ""},
      {{"absolute", "fabs"}, {"abs"}, ""},
      {{"matmul", "dot", "product"}, {"gemm:file=B.npy"}, ""},
      {{"rotate", "rot90", "turn", "flip", "flop", "mirror"},
       {"transpose"},
       "which exchanges rows and columns; no stage rotates or flips an image"},
      {{"copy", "identity", "none"}, {}, "leave it out, because without a stage the image is copied"},
      {{"median_filter", "medianblur", "despeckle"}, {"median:radius=1"}, ""},
      {{"percentile_filter", "quantile"}, {"percentile:percent=10,radius=1"}, ""},
      {{"rank_filter"}, {"rank:rank=3,radius=1"}, ""},
      {{"minimum", "erosion", "grey_erosion", "minimum_filter"}, {"erode:radius=2"}, ""},
      {{"maximum", "dilation", "grey_dilation", "maximum_filter"}, {"dilate:radius=2"}, ""},
      {{"morph_open", "grey_opening"}, {"opening:radius=2"}, ""},
      {{"morph_close", "grey_closing"}, {"closing:radius=2"}, ""},
      {{"white_tophat", "top_hat", "rolling_ball"}, {"tophat:radius=9"}, ""},
      {{"black_tophat", "black_hat", "bottomhat"}, {"blackhat:radius=9"}, ""},
      {{"bilateral", "nlmeans", "denoise", "guided_filter", "guidedfilter"}, {"guided:radius=4,eps=400"}, ""},
      {{"rescale", "resample", "zoom", "upsample", "thumbnail"},
       {"resize:scale=0.5", "resize:size=640x480"},
       ""},
      {{"downsample", "shrink", "decimate", "bin", "pyramid"}, {"reduce:factor=2", "resize:scale=0.5"}, ""},
      {{"crop", "cut", "extract"}, {}, "a part of the result is what PlanOptions::region asks for"},
      {{"pad", "warp"}, {}, "padding and warping are not supported"},
      {{"sqrt", "isnan", "where"}, {"math:expr=sqrt(x)"}, ""},
      {{"gamma", "pow", "power", "exp", "ln", "equalize", "equalise", "clahe", "lut"},
       {},
       "pointwise stages are scale, clamp, abs, threshold, stretch, math and mix_channels"},
      {{"fft", "dct", "wavelet", "deconvolve"}, {}, "Fourier-domain filters are not supported"},
  };
  return all;
}

std::string alternatives_for(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const auto& [names, stages, remark] : stage_synonyms()) {
    if (std::ranges::find(names, lower) == names.end()) continue;
    if (stages.empty()) return fmt::format("{}; sepconv stages lists all stages", remark);
    return fmt::format("use {}{}{}", fmt::join(stages, " or "), remark.empty() ? "" : ", ", remark);
  }
  return {};
}

}  // namespace sepconv
