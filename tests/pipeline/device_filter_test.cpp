// DeviceFilter: the whole-image runner's bytes, on the caller's streams, from any number of threads, without
// allocations.
#include "pipeline/run/device_filter.hpp"

#include <barrier>
#include <catch2/catch.hpp>
#include <exception>
#include <thread>

#include "../support/gpu.hpp"
#include "../support/image.hpp"
#include "pipeline/run/apply.hpp"
#include "pipeline/run/run.hpp"

using namespace sepconv;
using namespace sepconv::test;

namespace {

Chain parse(const std::vector<std::string>& stages) { return Chain::parse(stages); }

const std::vector<std::string> kChains[] = {
    {},
    {"gaussian:sigma=2.5"},
    {"gaussian:sigma=1.5,border=constant,value=7", "sobel:border=replicate", "abs", "cast:type=u8"},
    {"cast:type=i16", "unsharp:sigma=1.2,amount=0.8,threshold=2", "clamp:low=3,high=180",
     "scale:factor=0.7,offset=1"},
    {"mix_channels:rows=2,values=0.5,0.25,0.25,-1,0,1", "gradient", "cast:type=f32"},
    {"box:radius=7,border=wrap", "abs", "unsharp:sigma=2,border=wrap", "box:radius=3"},
    {"median:radius=3", "scale:factor=0.7,offset=1", "percentile:percent=20,radius=1,border=wrap",
     "rank:rank=7,size=30x25"},
    {"box:radius=2", "reduce:factor=3,factor_y=2", "scale:factor=0.7,offset=1",
     "resize:scale=1.7,filter=lanczos3"},
    {"opening:radius=3,shape=disk", "blackhat:radius=9,radius_y=5,shape=disk,border=wrap",
     "erode:radius=200,radius_y=1,shape=disk", "scale:factor=0.7,offset=1"},
    {"gaussian_laplace:sigma=2", "cast:type=f64", "dog:sigma=1,sigma2=1.6,border=reflect"},
    {"subtract:chain=[gaussian:sigma=2,border=wrap | scale:factor=0.5]", "max:chain=box:radius=3"},
    {"box:radius=40", "convolve:row=1,2,-1,col=0.5,0,0.25,border=constant",
     "threshold:at=20,above=200,below=10"},
};

ImageSpec spec_for(std::size_t index) {
  return {{97 + static_cast<std::int64_t>(index), 211}, 3, kPixelTypes[index % std::size(kPixelTypes)]};
}

Image whole_image_result(const Image& source, const Chain& chain,
                         std::optional<Arithmetic> arithmetic = std::nullopt) {
  Image expected(chain.result_spec(source.spec()));
  run_whole_image(*source.reader(), *expected.writer(), chain, arithmetic);
  return expected;
}

/// A filter, its pixels on the device and the whole-image runner's result.
struct FilterCase {
  FilterCase(const Chain& chain, const ImageSpec& spec, std::uint64_t seed,
             std::optional<Arithmetic> arithmetic = std::nullopt)
      : source(Image::of_pattern(spec, Pattern::noise, seed)),
        expected(whole_image_result(source, chain, arithmetic)),
        actual(expected.spec()),
        filter(chain, spec, arithmetic),
        in(source.view(), stream.get()),
        out(actual.view(), stream.get()) {
    stream.synchronize();
  }

  /// Enqueues over a poisoned result.
  void enqueue(DeviceStream on) {
    actual.poison();
    out.upload(actual.view(), on);
    filter.enqueue(in.view(), out.view(), on);
  }
  bool is_correct(const Stream& on) {
    out.download(actual.view(), on);
    return actual == expected;
  }

  Stream stream;
  Image source, expected, actual;
  DeviceFilter filter;
  DeviceImage in, out;
};

/// Runs work(i) in `count` threads that start simultaneously. Returns the sum of the results and rethrows the
/// first failure. Catch2 works on one thread only, so work() returns its failures.
int sum_over_threads(int count, const std::function<int(std::size_t)>& work) {
  std::vector<int> sums(static_cast<std::size_t>(count));
  std::vector<std::exception_ptr> errors(sums.size());
  std::barrier start(count);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      threads.emplace_back([&, i] {
        start.arrive_and_wait();
        try {
          sums[i] = work(i);
        } catch (...) {
          errors[i] = std::current_exception();
        }
      });
    }
  }
  int total = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (errors[i]) std::rethrow_exception(errors[i]);
    total += sums[i];
  }
  return total;
}

}  // namespace

TEST_CASE("a device filter gives the whole-image runner's bytes", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  std::uint64_t seed = 0;
  for (const std::vector<std::string>& stages : kChains) {
    for (std::size_t type = 0; type < std::size(kPixelTypes); ++type) {
      for (const std::optional<Arithmetic> arithmetic :
           {std::optional<Arithmetic>(), std::optional(Arithmetic::f64)}) {
        FilterCase c(parse(stages), spec_for(type), ++seed, arithmetic);
        c.enqueue(c.stream.get());
        INFO(parse(stages).text() << " on " << name_of(c.source.spec().type));
        CHECK(c.is_correct(c.stream));
      }
    }
  }
}

TEST_CASE("a device filter takes rows of any pitch, also two halves of one image", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Image two_halves = Image::of_pattern({{50, 120}, 1, PixelType::u16}, Pattern::noise, 5);
  Image left({{50, 60}, 1, PixelType::u16});
  copy_pixels(two_halves.view().crop({0, 0, 50, 60}), left.view());
  const Chain chain = parse({"gaussian:sigma=1"});
  const Image expected = whole_image_result(left, chain);
  const Stream stream;
  const DeviceImage device(two_halves.view(), stream.get());
  const DeviceFilter filter(chain, left.spec());
  filter.enqueue(device.view().crop({0, 0, 50, 60}), device.view().crop({0, 60, 50, 60}), stream.get());
  Image after(two_halves.spec());
  device.download(after.view(), stream);
  Image half(left.spec());
  copy_pixels(after.view().crop({0, 60, 50, 60}), half.view());
  CHECK(half == expected);
  copy_pixels(after.view().crop({0, 0, 50, 60}), half.view());
  CHECK(half == left);
}

TEST_CASE("a filter computes parts of an image from parts of it", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Chain chain = parse({"gaussian:sigma=3", "transpose", "sobel:border=reflect"});
  const ImageSpec spec{{300, 211}, 1, PixelType::f32};
  const Image source = Image::of_pattern(spec, Pattern::noise, 12), expected(chain.result_spec(spec));
  apply(chain, source.view(), expected.view());
  const Stream stream;
  const DeviceFilter filter(chain, spec, std::nullopt, {70, 90});
  for (const Rect part : {Rect{0, 0, 70, 90}, Rect{141, 211, 70, 89}, Rect{60, 100, 1, 1}}) {
    const Rect needed = chain.input_for(part, spec);
    DeviceImage in(source.view().crop(needed), stream.get());
    const Image result({part.extent(), 1, PixelType::f32}), expected_part({part.extent(), 1, PixelType::f32});
    copy_pixels(expected.view().crop(part), expected_part.view());
    DeviceImage out(result.view(), stream.get());
    filter.enqueue({in.view(), needed, spec.extent}, {out.view(), part, expected.spec().extent},
                   stream.get());
    out.download(result.view(), stream);
    CHECK(result == expected_part);
  }
  const PixelView view = dense_view(nullptr, {{71, 5}, 1, PixelType::f32});
  CHECK_THROWS_AS(
      filter.enqueue(ConstRegion::whole(view), {view, {0, 0, 71, 5}, expected.spec().extent}, stream.get()),
      InvalidArgument);
}

TEST_CASE("a filter of another scale has room for parts that need more than one in the middle", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const ImageSpec spec{{131, 177}, 1, PixelType::f32};
  const Image source = Image::of_pattern(spec, Pattern::noise, 13);
  const Stream stream;
  const DeviceImage in(source.view(), stream.get());
  for (const std::string border : {"replicate", "wrap"}) {
    const Chain chain = parse({"reduce:factor=7,filter=binomial", "resize:scale=20.3,filter=cubic",
                               "box:radius=3,border=" + border});
    const Image expected = whole_image_result(source, chain);
    const DeviceFilter filter(chain, spec, std::nullopt, {9, 11});
    const Image result({{9, 11}, 1, PixelType::f32}), expected_part(result.spec());
    DeviceImage out(result.view(), stream.get());
    const Extent whole = expected.spec().extent;
    for (std::int64_t at = 0; at + 11 <= std::min(whole.rows, whole.cols); ++at) {
      const Rect part{at, at, 9, 11};
      filter.enqueue(ConstRegion::whole(in.view()), {out.view(), part, whole}, stream.get());
      out.download(result.view(), stream);
      copy_pixels(expected.view().crop(part), expected_part.view());
      REQUIRE(result == expected_part);
    }
  }
}

TEST_CASE("eight threads use a filter and a stream each", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  std::vector<std::unique_ptr<FilterCase>> cases;
  for (std::size_t i = 0; i < 8; ++i) {
    cases.push_back(std::make_unique<FilterCase>(parse(kChains[i % std::size(kChains)]), spec_for(i), i));
  }
  const int failures = sum_over_threads(8, [&](std::size_t i) {
    int own_failures = 0;
    for (int round = 0; round < 30; ++round) {
      cases[i]->enqueue(cases[i]->stream.get());
      own_failures += !cases[i]->is_correct(cases[i]->stream);
    }
    return own_failures;
  });
  CHECK(failures == 0);
}

TEST_CASE("one filter serves several threads and streams: its scratch is never used twice at once", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Chain chain = parse({"gaussian:sigma=6", "gaussian_laplace:sigma=3", "gaussian:sigma=2"});
  const ImageSpec spec{{700, 900}, 1, PixelType::f32};
  const DeviceFilter filter(chain, spec);
  struct ThreadImages {
    ThreadImages(const Chain& chain, const ImageSpec& spec, std::uint64_t seed)
        : source(Image::of_pattern(spec, Pattern::noise, seed)),
          expected(spec),
          actual(spec),
          in(source.view(), stream.get()),
          out(actual.view(), stream.get()) {
      apply(chain, source.view(), expected.view());
    }
    Stream stream;
    Image source, expected, actual;
    DeviceImage in, out;
  };
  std::vector<std::unique_ptr<ThreadImages>> images;
  for (std::uint64_t i = 0; i < 4; ++i) images.push_back(std::make_unique<ThreadImages>(chain, spec, i));
  const int failures = sum_over_threads(4, [&](std::size_t i) {
    int own_failures = 0;
    for (int round = 0; round < 20; ++round) {
      for (int repetition = 0; repetition < 3; ++repetition)
        filter.enqueue(images[i]->in.view(), images[i]->out.view(), images[i]->stream.get());
      images[i]->actual.poison();
      images[i]->out.download(images[i]->actual.view(), images[i]->stream);
      own_failures += !(images[i]->actual == images[i]->expected);
    }
    return own_failures;
  });
  CHECK(failures == 0);
}

TEST_CASE("threads with a filter each, for compute-sanitizer", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  std::vector<std::unique_ptr<FilterCase>> cases;
  for (std::size_t i = 0; i < std::size(kChains); ++i) {
    cases.push_back(
        std::make_unique<FilterCase>(parse(kChains[i]), ImageSpec{{23, 70}, 3, PixelType::u8}, i));
  }
  const int failures = sum_over_threads(static_cast<int>(cases.size()), [&](std::size_t i) {
    cases[i]->enqueue(cases[i]->stream.get());
    return cases[i]->is_correct(cases[i]->stream) ? 0 : 1;
  });
  CHECK(failures == 0);
}

TEST_CASE("enqueue takes no device memory", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const int device = current_device();
  // Large enough that an allocation cannot come from the driver's reserve.
  FilterCase c(parse({"gaussian:sigma=4", "sobel", "abs"}), {{1200, 2000}, 1, PixelType::f32}, 3);
  CHECK(c.filter.scratch_bytes() >= std::int64_t{1200} * 2000 * 4);
  CHECK(c.filter.device() == device);
  c.enqueue(c.stream.get());  // kernels are loaded at their first launch
  CHECK(c.is_correct(c.stream));
  const std::int64_t before = free_device_memory_bytes(device);
  for (int round = 0; round < 20; ++round) c.filter.enqueue(c.in.view(), c.out.view(), c.stream.get());
  const std::int64_t while_running = free_device_memory_bytes(device);
  CHECK(c.is_correct(c.stream));
  CHECK(while_running == before);
  CHECK(free_device_memory_bytes(device) == before);
}

TEST_CASE("a filter that is destroyed at once has still done its work", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Chain chain = parse({"gaussian:sigma=20"});
  const Image source = Image::of_pattern({{900, 1100}, 1, PixelType::u16}, Pattern::noise, 9);
  Image expected(source.spec());
  apply(chain, source.view(), expected.view());
  const Stream stream;
  const DeviceImage in(source.view(), stream.get());
  Image actual(source.spec());
  const DeviceImage out(actual.view(), stream.get());
  for (int round = 0; round < 5; ++round) {
    DeviceFilter first_filter(chain, source.spec());
    const DeviceFilter filter = std::move(first_filter);
    filter.enqueue(in.view(), out.view(), stream.get());
  }
  out.download(actual.view(), stream);
  CHECK(actual == expected);
}

TEST_CASE("enqueue refuses wrong views and enqueues nothing", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  FilterCase c(parse({"gaussian:sigma=1"}), {{20, 30}, 1, PixelType::f32}, 1);
  const PixelView in = c.in.view();
  const PixelView out = c.out.view();
  CHECK_THROWS_AS(c.filter.enqueue(in.crop({0, 0, 19, 30}), out, c.stream.get()), InvalidArgument);
  CHECK_THROWS_AS(c.filter.enqueue(in, out.crop({0, 0, 20, 29}), c.stream.get()), InvalidArgument);
  CHECK_THROWS_AS(c.filter.enqueue(in, in, c.stream.get()), InvalidArgument);
  Image poison(c.actual.spec());
  c.actual.poison();
  c.out.download(c.actual.view(), c.stream);
  CHECK(c.actual == poison);
}
