// sepconv inside another CUDA program: a blur between the program's own kernels, on its stream and in its
// memory. The program renders a frame, blurs it with sepconv and subtracts the blur from the frame. All work
// is enqueued before the program waits.
//
//   example_in_cuda_program
#include <cuda_runtime.h>

#include <iostream>
#include <vector>

#include "sepconv/sepconv.hpp"

namespace {

constexpr int kRows = 1003;
constexpr int kCols = 1501;
constexpr int kThreads = 256;
constexpr int kBlocks = (kRows * kCols + kThreads - 1) / kThreads;

/// The rendered value of a pixel; also computed on the CPU for the check.
__host__ __device__ float rendered(int row, int col) {
  return static_cast<float>((row * 7 + col * 3) % 251) + (row / 64 + col / 64) % 2 * 100.0f;
}

__global__ void render(float* frame) {
  const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (i < kRows * kCols) frame[i] = rendered(i / kCols, i % kCols);
}

__global__ void subtract(const float* frame, const float* blurred, float* details) {
  const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (i < kRows * kCols) details[i] = frame[i] - blurred[i];
}

/// Enqueues the work for a frame. frame, blurred and details are this program's device memory, `stream` its
/// stream.
void enqueue_frame(float* frame, float* blurred, float* details, const sepconv::DeviceFilter& blur,
                   cudaStream_t stream) {
  const sepconv::Extent extent{kRows, kCols};
  render<<<kBlocks, kThreads, 0, stream>>>(frame);
  blur.enqueue(sepconv::view_of<const float>(frame, extent), sepconv::view_of(blurred, extent), stream);
  subtract<<<kBlocks, kThreads, 0, stream>>>(frame, blurred, details);
}

/// The number of pixels that differ from the CPU's result.
int wrong_pixels(const std::vector<float>& details, const sepconv::Chain& chain) {
  std::vector<float> frame(details.size());
  std::vector<float> blurred(details.size());
  for (int i = 0; i < kRows * kCols; ++i) frame[static_cast<std::size_t>(i)] = rendered(i / kCols, i % kCols);
  const sepconv::Extent extent{kRows, kCols};
  sepconv::apply(chain, sepconv::view_of(frame.data(), extent), sepconv::view_of(blurred.data(), extent));
  int wrong = 0;
  for (std::size_t i = 0; i < details.size(); ++i) wrong += details[i] != frame[i] - blurred[i];
  return wrong;
}

int wrong_pixels_of_a_frame() {
  const std::vector<std::string> stages{"gaussian:sigma=3"};
  const sepconv::Chain chain = sepconv::Chain::parse(stages);
  const sepconv::DeviceFilter blur(chain, {{kRows, kCols}, 1, sepconv::PixelType::f32});

  cudaStream_t stream = nullptr;
  float* memory = nullptr;  // three images
  constexpr std::size_t kPixels = std::size_t{kRows} * kCols;
  sepconv::check_cuda(cudaStreamCreate(&stream), "creating a stream");
  sepconv::check_cuda(cudaMalloc(&memory, 3 * kPixels * sizeof(float)), "allocating images");
  float* const details = memory + 2 * kPixels;

  enqueue_frame(memory, memory + kPixels, details, blur, stream);

  std::vector<float> result(kPixels);
  sepconv::check_cuda(
      cudaMemcpyAsync(result.data(), details, kPixels * sizeof(float), cudaMemcpyDeviceToHost, stream),
      "copying");
  sepconv::check_cuda(cudaStreamSynchronize(stream), "the frame");
  cudaFree(memory);
  cudaStreamDestroy(stream);
  return wrong_pixels(result, chain);
}

}  // namespace

int main() {
  if (sepconv::list_devices().empty()) {
    std::cout << "no GPU\n";
    return 0;
  }
  try {
    const int wrong = wrong_pixels_of_a_frame();
    std::cout << wrong << " of " << kRows * kCols << " pixels are wrong\n";
    return wrong == 0 ? 0 : 1;
  } catch (const sepconv::Error& error) {
    std::cerr << "example_in_cuda_program: " << error.what() << '\n';
    return 1;
  }
}
