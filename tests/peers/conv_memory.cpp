// Throughput of convolve_host beside OpenCV's sepFilter2D, both from memory to memory with the same taps:
//   peers_conv_memory [side=8192] [runs=5]
// sepconv filters tiles on all cores as its pipeline does; sepFilter2D has one thread of its own. The two run
// in turns and the medians are compared, so that a busy machine is unfair to both alike.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <random>
#include <thread>
#include <vector>

#include "sepconv/kernels/conv/conv.hpp"
#include "sepconv/kernels/conv/taps.hpp"
#include "sepconv/kernels/simd/targets.hpp"

namespace {

using namespace sepconv;

constexpr Extent kTile{256, 8192};  // as the planner cuts an image of this width

void filter_tiles(const SeparableTaps& taps, const ConstRegion& in, const Region& out, unsigned threads) {
  const std::int64_t tile_cols = ceil_div(out.rect.cols, kTile.cols);
  const std::int64_t tiles = ceil_div(out.rect.rows, kTile.rows) * tile_cols;
  std::atomic<std::int64_t> next = 0;
  const auto work = [&] {
    Arena arena(Buffer(convolve_scratch_bytes(taps, kTile, in.pixels.channels, Arithmetic::f32)));
    for (std::int64_t tile = next++; tile < tiles; tile = next++) {
      const Rect at{tile / tile_cols * kTile.rows, tile % tile_cols * kTile.cols, kTile.rows, kTile.cols};
      const Region part = out.crop(at.intersect(out.rect));
      convolve_host(taps, {}, in, part, Arithmetic::f32, arena);
    }
  };
  std::vector<std::jthread> workers;
  for (unsigned i = 0; i < threads; ++i) workers.emplace_back(work);
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void compare(int cv_type, int side, int runs, unsigned threads) {
  const PixelType type = cv_type == CV_8U ? PixelType::u8 : PixelType::f32;
  cv::Mat source(side, side, cv_type);
  cv::randu(source, 0, 256);
  cv::Mat ours(side, side, cv_type);
  cv::Mat theirs(side, side, cv_type);
  ours.setTo(0);
  theirs.setTo(0);
  const auto view = [&](const cv::Mat& mat) {
    return PixelView{reinterpret_cast<std::byte*>(mat.data), {side, side}, 1, type, std::int64_t(mat.step)};
  };
  for (const std::int64_t radius : {1, 2, 4, 8, 16, 32, 80}) {
    const std::vector<double> taps = gaussian_taps(static_cast<double>(radius) / 3 + 0.5, radius);
    std::vector<double> our_times, their_times;
    for (int run = 0; run < runs; ++run) {
      our_times.push_back(seconds_of([&] {
        filter_tiles({taps, taps}, ConstRegion::whole(view(source)), Region::whole(view(ours)), threads);
      }));
      their_times.push_back(seconds_of([&] {
        cv::sepFilter2D(source, theirs, -1, taps, taps, {-1, -1}, 0, cv::BORDER_REFLECT_101);
      }));
    }
    const double largest = cv::norm(ours, theirs, cv::NORM_INF);
    const double pixels = 1e-6 * side * side;
    fmt::print("{:>4} {:>6} {:>12.0f} {:>12.0f} {:>7.1f} {:>12.2g}\n", name_of(type), radius,
               pixels / median(our_times), pixels / median(their_times),
               median(their_times) / median(our_times), largest);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int side = argc > 1 ? std::atoi(argv[1]) : 8192;
  const int runs = argc > 2 ? std::atoi(argv[2]) : 5;
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  fmt::print("{} x {}, {} threads, {}; OpenCV {} with {} threads; megapixels per second, median of {}\n",
             side, side, threads, simd_target(), CV_VERSION, cv::getNumThreads(), runs);
  fmt::print("type radius      sepconv       OpenCV   ratio  largest difference\n");
  compare(CV_8U, side, runs, threads);
  compare(CV_32F, side, runs, threads);
}
