// sepconv inside a program that uses Thrust: a blur between Thrust algorithms, on its vectors and stream. The
// program renders a frame, blurs it with sepconv and computes the difference. It compares the result, on the
// device, with the CPU's result.
//
//   example_in_thrust_program
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/mismatch.h>
#include <thrust/tabulate.h>
#include <thrust/transform.h>

#include <iostream>
#include <string>
#include <vector>

#include "sepconv/sepconv.hpp"
#include "sepconv/thrust.hpp"

namespace {

constexpr int kRows = 1003;
constexpr int kCols = 1501;
const sepconv::Extent kExtent{kRows, kCols};

/// The rendered value of a pixel, on host and device.
struct Rendered {
  __host__ __device__ float operator()(int pixel) const {
    const int row = pixel / kCols, col = pixel % kCols;
    return static_cast<float>((row * 7 + col * 3) % 251) + (row / 64 + col / 64) % 2 * 100.0f;
  }
};

/// Enqueues all work before waiting, except where Thrust itself waits.
thrust::device_vector<float> details_of_frame(const sepconv::DeviceFilter& blur, cudaStream_t stream) {
  thrust::device_vector<float> frame(kRows * kCols), blurred(frame.size()), details(frame.size());
  const auto on_stream = thrust::cuda::par_nosync.on(stream);
  thrust::tabulate(on_stream, frame.begin(), frame.end(), Rendered{});
  blur.enqueue(sepconv::view_of(frame, kExtent), sepconv::view_of(blurred, kExtent), stream);
  thrust::transform(on_stream, frame.begin(), frame.end(), blurred.begin(), details.begin(),
                    thrust::minus<float>());
  sepconv::check_cuda(cudaStreamSynchronize(stream), "the frame");  // before two of the vectors are freed
  return details;
}

thrust::host_vector<float> details_on_host(const sepconv::Chain& chain) {
  thrust::host_vector<float> frame(kRows * kCols), blurred(frame.size()), details(frame.size());
  thrust::tabulate(frame.begin(), frame.end(), Rendered{});
  sepconv::apply(chain, sepconv::view_of(frame.data(), kExtent), sepconv::view_of(blurred.data(), kExtent));
  thrust::transform(frame.begin(), frame.end(), blurred.begin(), details.begin(), thrust::minus<float>());
  return details;
}

/// Index of the first pixel that differs from the CPU's result; the number of pixels if all are equal.
std::ptrdiff_t first_difference() {
  const std::vector<std::string> stages{"gaussian:sigma=3"};
  const sepconv::Chain chain = sepconv::Chain::parse(stages);
  const sepconv::DeviceFilter blur(chain, {kExtent, 1, sepconv::PixelType::f32});
  const sepconv::Stream stream;
  const thrust::device_vector<float> actual = details_of_frame(blur, stream.get());
  const thrust::device_vector<float> expected = details_on_host(chain);
  return thrust::mismatch(actual.begin(), actual.end(), expected.begin()).first - actual.begin();
}

}  // namespace

int main() {
  if (sepconv::list_devices().empty()) {
    std::cout << "no GPU\n";
    return 0;
  }
  try {
    const std::ptrdiff_t same = first_difference();
    std::cout << same << " of " << kRows * kCols << " pixels are right\n";
    return same == kRows * kCols ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "example_in_thrust_program: " << error.what() << '\n';
    return 1;
  }
}
