// Concurrent convolutions by many threads and streams, and an image of more than 2^32 elements.
#include <algorithm>
#include <atomic>
#include <barrier>
#include <catch2/catch.hpp>
#include <exception>
#include <thread>

#include "../support/gpu.hpp"
#include "conv_case.hpp"

using namespace sepconv;
using test::DeviceImage;

namespace {

/// One thread's convolution with separate taps, pixels, device memory and stream, and the reference's result.
class ThreadConvolution {
 public:
  explicit ThreadConvolution(std::uint64_t seed)
      : case_(make_case(seed)),
        source_(case_.image, 1, case_.from),
        expected_(case_.image, 1, case_.to),
        poison_(case_.image, 1, case_.to),
        actual_(case_.image, 1, case_.to) {
    Random random(seed);
    source_.fill_bytes(0);
    fill_random(source_.view, random);
    poison_.fill_bytes(0xa5);
    expected_.fill_bytes(0xa5);
    convolve_expected(case_, ConstRegion::whole(source_.view), expected_.view);
  }

  /// Returns how many of `times` results are wrong. Enqueues three convolutions before each wait.
  int wrong_results(int times) {
    const Stream stream;
    const DeviceImage in(source_.view, stream.get());
    const DeviceImage out(poison_.view, stream.get());
    Arena arena(
        Buffer(convolve_device_bytes(case_.taps, case_.image, 1, case_.arithmetic), device_resource()));
    int wrong = 0;
    for (int time = 0; time < times; ++time) {
      out.upload(poison_.view, stream.get());
      for (int repetition = 0; repetition < 3; ++repetition) {
        convolve_device(case_.taps, case_.border, ConstRegion::whole(in.view()), Region::whole(out.view()),
                        case_.arithmetic, arena, stream.get());
      }
      out.download(actual_.view, stream);
      wrong +=
          std::memcmp(expected_.buffer.data(), actual_.buffer.data(), expected_.buffer.bytes().size()) != 0;
    }
    return wrong;
  }

 private:
  /// Cases with taps passed by value and with taps in device memory, in both arithmetics.
  static ConvolutionCase make_case(std::uint64_t seed) {
    Random random(seed);
    ConvolutionCase c;
    const std::int64_t radius = seed % 4 == 3 ? 501 : 3 + static_cast<std::int64_t>(seed);
    c.taps = {random_taps(random, radius), random_taps(random, radius)};
    c.image = {61, 230};
    c.out = Rect::whole(c.image);
    c.from = PixelType::u8;
    c.to = PixelType::f32;
    c.arithmetic = seed % 3 == 0 ? Arithmetic::f64 : Arithmetic::f32;
    return c;
  }

  ConvolutionCase case_;
  Image source_, expected_, poison_, actual_;
};

int wrong_results_of_threads(int threads, int times) {
  std::vector<ThreadConvolution> convolutions;
  for (int i = 0; i < threads; ++i) convolutions.emplace_back(static_cast<std::uint64_t>(i));
  std::atomic<int> wrong = 0;
  std::vector<std::exception_ptr> errors(convolutions.size());
  std::barrier start(threads);
  {
    std::vector<std::jthread> running;
    for (std::size_t i = 0; i < convolutions.size(); ++i) {
      running.emplace_back([&, i] {
        start.arrive_and_wait();
        try {
          wrong += convolutions[i].wrong_results(times);
        } catch (...) {
          errors[i] = std::current_exception();
        }
      });
    }
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return wrong;
}

/// The image's rows repeat with this period, so that the host needs only the first kPeriod rows.
constexpr std::int64_t kPeriod = 251;

void fill_periodic(const PixelView& device, const ConstPixelView& period, const Stream& stream) {
  for (std::int64_t row = 0; row < device.extent.rows; row += kPeriod) {
    copy_rows(device.row_data(row), device.pitch_bytes, period.data, period.pitch_bytes, device.row_bytes(),
              std::min(kPeriod, device.extent.rows - row), stream.get());
  }
  stream.synchronize();
}

/// The pixels of the periodic image in `rect`.
Image window_of(const ConstPixelView& period, const Rect& rect) {
  Image window(rect.extent(), period.channels, period.type, 0);
  for (std::int64_t row = 0; row < rect.rows; ++row) {
    copy_pixels(period.crop({(rect.row + row) % kPeriod, rect.col, 1, rect.cols}),
                window.view.crop({row, 0, 1, rect.cols}));
  }
  return window;
}

}  // namespace

TEST_CASE("many threads convolve with different taps on streams of their own", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  CHECK(wrong_results_of_threads(16, 25) == 0);
}

TEST_CASE("a few threads convolve simultaneously, for compute-sanitizer", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  CHECK(wrong_results_of_threads(4, 1) == 0);
}

TEST_CASE("convolve_device is right in an image of more than 2^32 elements", "[gpu][slow]") {
  SEPCONV_NEEDS_GPU();
  const Extent image{(1 << 16) + 3, (1 << 16) + 1};
  Random random(61);
  ConvolutionCase c;
  c.taps = {random_taps(random, 2), random_taps(random, 3)};
  c.image = image;
  const std::int64_t bytes = image.area();
  const std::int64_t scratch_bytes = convolve_device_bytes(c.taps, image, 1, Arithmetic::f32);
  if (free_device_memory_bytes(current_device()) < 2 * bytes + scratch_bytes + (std::int64_t{1} << 30)) {
    WARN("skipped: no GPU with enough free memory");
    return;
  }

  const Stream stream;
  Image period({kPeriod, image.cols}, 1, PixelType::u8, 0);
  fill_random(period.view, random);
  const Buffer in_memory(bytes, device_resource());
  const Buffer out_memory(bytes, device_resource());
  const PixelView in{in_memory.data(), image, 1, PixelType::u8, image.cols};
  const PixelView out{out_memory.data(), image, 1, PixelType::u8, image.cols};
  fill_periodic(in, period.view, stream);
  Arena arena(Buffer(scratch_bytes, device_resource()));
  convolve_device(c.taps, c.border, ConstRegion::whole(in), Region::whole(out), Arithmetic::f32, arena,
                  stream.get());
  stream.synchronize();

  // At the corners, and where element indices pass 2^31 and 2^32.
  for (const Rect& rect : {Rect{0, 0, 20, 30}, Rect{32760, 32000, 20, 1500}, Rect{65520, 100, 19, 400},
                           Rect{image.rows - 9, image.cols - 70, 9, 70}, Rect{image.rows - 40, 0, 40, 65}}) {
    c.out = rect;
    const Rect needed = needed_rect(c);
    const Image window = window_of(period.view, needed);
    Image expected(rect.extent(), 1, PixelType::u8, 0);
    Image actual(rect.extent(), 1, PixelType::u8, 0);
    convolve_reference(c.taps, c.border, {window.view, needed, image}, {expected.view, rect, image},
                       Arithmetic::f32);
    const PixelView part = out.crop(rect);
    copy_rows(actual.view.data, actual.view.pitch_bytes, part.data, part.pitch_bytes, part.row_bytes(),
              rect.rows, stream.get());
    stream.synchronize();
    INFO(to_string(rect));
    CHECK(differing_elements(expected.view, actual.view) == 0);
  }
}
