// Views of OpenCV images, without a copy. Header-only; the including program provides OpenCV.
//
//   sepconv::apply(blur, sepconv::view_of(photo), sepconv::view_of(blurred));
//
// OpenCV defines channels, types and pitches as sepconv does, so a region of interest works as a view. The
// view does not own its pixels: a cv::Mat that shares them must outlive it.
//
// cv::cuda::GpuMat is supported if OpenCV has its header, even in builds of OpenCV without CUDA. Its streams
// also need CUDA's headers, and linking them needs an OpenCV built with CUDA.
#pragma once

#include <opencv2/core.hpp>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "core/image.hpp"
#include "kernels/device/runtime.hpp"

#if __has_include(<opencv2/core/cuda.hpp>)
#include <opencv2/core/cuda.hpp>
#endif
#if __has_include(<opencv2/core/cuda_stream_accessor.hpp>) && __has_include(<cuda_runtime.h>)
#include <opencv2/core/cuda_stream_accessor.hpp>
#endif

namespace sepconv {

/// The pixel type for CV_8U, CV_16U, CV_16S, CV_32F and CV_64F with any number of channels. Throws
/// InvalidArgument for other types.
inline PixelType pixel_type_of_opencv(int type) {
  switch (CV_MAT_DEPTH(type)) {
    case CV_8U:
      return PixelType::u8;
    case CV_16U:
      return PixelType::u16;
    case CV_16S:
      return PixelType::i16;
    case CV_32F:
      return PixelType::f32;
    case CV_64F:
      return PixelType::f64;
    default:
      throw InvalidArgument("an image of OpenCV's type " + cv::typeToString(type) +
                            " has no pixels of u8, u16, i16, f32 or f64; convert it with convertTo()");
  }
}

/// A view of a cv::Mat or a cv::cuda::GpuMat; `Byte` is std::byte or const std::byte.
template <class Byte, class Image>
BasicPixelView<Byte> view_of_opencv(const Image& image) {
  return {reinterpret_cast<Byte*>(image.data),
          {image.rows, image.cols},
          image.channels(),
          pixel_type_of_opencv(image.type()),
          static_cast<std::int64_t>(image.step)};
}

/// A view of a cv::Mat. Throws InvalidArgument for other pixel types and for more than two dimensions.
inline ConstPixelView view_of(const cv::Mat& image) {
  if (image.dims > 2) {
    throw InvalidArgument("a cv::Mat of " + std::to_string(image.dims) +
                          " dimensions is not an image; give one of its planes");
  }
  return view_of_opencv<const std::byte>(image);
}
inline PixelView view_of(cv::Mat& image) {
  view_of(std::as_const(image));
  return view_of_opencv<std::byte>(image);
}

#if __has_include(<opencv2/core/cuda.hpp>)
/// A view in the memory of the device that was current when the GpuMat was allocated.
inline ConstPixelView view_of(const cv::cuda::GpuMat& image) {
  return view_of_opencv<const std::byte>(image);
}
inline PixelView view_of(cv::cuda::GpuMat& image) { return view_of_opencv<std::byte>(image); }
#endif

#if __has_include(<opencv2/core/cuda_stream_accessor.hpp>) && __has_include(<cuda_runtime.h>)
/// The CUDA stream of a cv::cuda::Stream, for DeviceFilter::enqueue.
inline DeviceStream stream_of(const cv::cuda::Stream& stream) {
  return cv::cuda::StreamAccessor::getStream(stream);
}
#endif

}  // namespace sepconv
