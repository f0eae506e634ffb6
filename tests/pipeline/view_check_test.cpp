// Images without pixels and invalid views: every public function refuses them before it begins.
#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "io/memory_image.hpp"
#include "io/rows.hpp"
#include "pipeline/gemm/gemm.hpp"
#include "pipeline/measure/measure.hpp"
#include "pipeline/run/apply.hpp"
#include "pipeline/run/run.hpp"

using namespace sepconv;
using Catch::Contains;

namespace {

const ImageSpec kEmptySpecs[] = {{{0, 0}, 1, PixelType::f32},  {{0, 5}, 1, PixelType::f32},
                                 {{5, 0}, 1, PixelType::f32},  {{-4, 5}, 1, PixelType::f32},
                                 {{4, -5}, 1, PixelType::f32}, {{4, 5}, 0, PixelType::f32}};

/// A caller's reader and writer with any spec.
class ClaimingReader final : public Reader {
 public:
  explicit ClaimingReader(const ImageSpec& spec) : spec_(spec) {}
  const ImageSpec& spec() const noexcept override { return spec_; }
  const SourceLayout& layout() const noexcept override { return layout_; }
  const Metadata& metadata() const noexcept override { return metadata_; }
  std::int64_t buffer_bytes(int) const override { return 0; }
  void read(const Rect&, const PixelView&, Executor&) override { FAIL("read from"); }

 private:
  ImageSpec spec_;
  SourceLayout layout_;
  Metadata metadata_;
};

class ClaimingWriter final : public Writer {
 public:
  explicit ClaimingWriter(const ImageSpec& spec) : spec_(spec) {}
  const ImageSpec& spec() const noexcept override { return spec_; }
  const SinkLayout& layout() const noexcept override { return layout_; }
  std::int64_t buffer_bytes(int) const override { return 0; }
  void write(const Rect&, const ConstPixelView&, Executor&) override { FAIL("written to"); }
  void finish() override { FAIL("finished"); }

 private:
  ImageSpec spec_;
  SinkLayout layout_;
};

Chain blur() { return Chain::parse(std::vector<std::string>{"gaussian:sigma=1"}); }
const auto kNoPixels = Contains("give an image with pixels");

}  // namespace

TEST_CASE("an image without pixels is refused by every function") {
  alignas(8) std::byte memory[1024] = {};
  for (const ImageSpec& empty_spec : kEmptySpecs) {
    CAPTURE(empty_spec.extent.rows, empty_spec.extent.cols, empty_spec.channels);
    const PixelView view{memory, empty_spec.extent, empty_spec.channels, empty_spec.type, 64};
    const PixelView good{memory + 512, {4, 5}, 1, PixelType::f32, 20};
    for (const Chain& chain : {Chain(), blur()}) {
      CHECK_THROWS_WITH(apply(chain, view, view), kNoPixels);
      CHECK_THROWS_WITH(apply(chain, good, view), kNoPixels);
      ClaimingReader source(empty_spec);
      ClaimingWriter sink(empty_spec);
      CHECK_THROWS_WITH(run(source, sink, chain), kNoPixels);
      CHECK_THROWS_WITH(run_whole_image(source, sink, chain), kNoPixels);
      CHECK_THROWS_WITH(sepconv::plan(source, sink, chain, {}), kNoPixels);
    }
    ClaimingReader a(empty_spec), b(empty_spec);
    ClaimingWriter out(empty_spec);
    CHECK_THROWS_WITH(compare_images(a, b, 0), kNoPixels);
    CHECK_THROWS_WITH(image_stats(a), kNoPixels);
    CHECK_THROWS_AS(run_gemm({}, a, b, nullptr, out), InvalidArgument);
    CHECK_THROWS_AS(gemm({}, view, good, good), InvalidArgument);
    CHECK_THROWS_WITH(make_memory_reader(view), kNoPixels);
    CHECK_THROWS_WITH(make_memory_writer(view), kNoPixels);
    CHECK_THROWS_WITH(make_rows_reader(empty_spec, [](std::int64_t, const PixelView&) {}), kNoPixels);
    CHECK_THROWS_WITH(make_rows_writer(empty_spec, [](std::int64_t, const ConstPixelView&) {}), kNoPixels);
  }
}

TEST_CASE("invalid views are refused by every function") {
  alignas(8) std::byte memory[1024] = {};
  const PixelView in{memory, {4, 5}, 1, PixelType::f32, 20}, out{memory + 512, {4, 5}, 1, PixelType::f32, 20};
  const auto refused = [](const PixelView& bad, const PixelView& good, const char* message) {
    CHECK_THROWS_WITH(apply(blur(), bad, good), Contains(message));
    CHECK_THROWS_WITH(apply(blur(), good, bad), Contains(message));
    CHECK_THROWS_WITH(make_memory_reader(bad), Contains(message));
    CHECK_THROWS_WITH(make_memory_writer(bad), Contains(message));
    CHECK_THROWS_WITH(gemm({}, bad, good, good), Contains(message));
    CHECK_THROWS_WITH(gemm({}, good, bad, good), Contains(message));
    CHECK_THROWS_WITH(gemm({}, good, good, bad), Contains(message));
  };
  PixelView bad = in;
  bad.data = nullptr;
  refused(bad, out, "is a null pointer");
  bad = in, bad.pitch_bytes = 16;
  refused(bad, out, "a pitch of 16 bytes");
  bad = in, bad.data += 2;
  refused(bad, out, "start at multiples of 4");
}

TEST_CASE("a result that lies in its own input is refused, and one next to it is not") {
  alignas(8) std::byte memory[4096] = {};
  const PixelView whole{memory, {8, 8}, 1, PixelType::f64, 64};
  CHECK_THROWS_WITH(apply(blur(), whole, whole), Contains("the input and the result overlap"));
  CHECK_THROWS_WITH(apply(Chain(), whole, whole), Contains("overlap"));
  CHECK_THROWS_WITH(apply(blur(), whole.crop({0, 0, 5, 8}), whole.crop({3, 0, 5, 8})), Contains("overlap"));
  CHECK_NOTHROW(apply(blur(), whole.crop({0, 0, 8, 4}), whole.crop({0, 4, 8, 4})));
  const PixelView other{memory + 1024, {8, 8}, 1, PixelType::f64, 64};
  CHECK_THROWS_WITH(gemm({}, whole, other, whole), Contains("the matrix A and the result overlap"));
  CHECK_THROWS_WITH(gemm({}, other, whole, whole), Contains("the matrix B and the result overlap"));
}
