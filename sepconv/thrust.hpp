// Views of Thrust device vectors, without a copy. Header-only; the including program provides Thrust.
//
//   blur.enqueue(sepconv::view_of(frame, kExtent), sepconv::view_of(blurred, kExtent), stream);
//
// Pass the same stream to DeviceFilter and to Thrust's algorithms with thrust::cuda::par.on(stream).
// docs/examples/in_thrust_program.cu is a complete program.
#pragma once

#include <thrust/device_vector.h>

#include <string>

#include "core/error.hpp"
#include "core/image.hpp"

namespace sepconv {

/// A view of densely packed rows that start at the vector's first element. The vector's memory must outlive
/// the view. Throws InvalidArgument if the vector has fewer elements than the image; it may have more.
template <class T, class Allocator>
PixelView view_of(thrust::device_vector<T, Allocator>& pixels, Extent extent, std::int64_t channels = 1) {
  if (static_cast<std::int64_t>(pixels.size()) < extent.area() * channels) {
    throw InvalidArgument("a device_vector of " + std::to_string(pixels.size()) + " elements does not hold " +
                          std::to_string(extent.rows) + " x " + std::to_string(extent.cols) + " pixels of " +
                          std::to_string(channels) + " channels; resize it");
  }
  return view_of(thrust::raw_pointer_cast(pixels.data()), extent, channels);
}
template <class T, class Allocator>
ConstPixelView view_of(const thrust::device_vector<T, Allocator>& pixels, Extent extent,
                       std::int64_t channels = 1) {
  return view_of(const_cast<thrust::device_vector<T, Allocator>&>(pixels), extent, channels);
}

}  // namespace sepconv
