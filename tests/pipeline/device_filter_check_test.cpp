// Arguments that a device filter refuses, also without a GPU.
#include <catch2/catch.hpp>

#include "pipeline/run/apply.hpp"
#include "pipeline/run/device_filter.hpp"

using namespace sepconv;

namespace {

Chain parse(const std::vector<std::string>& stages) { return Chain::parse(stages); }

class HostOnlyStage final : public Stage {
 public:
  HostOnlyStage() : Stage({.text = "mine"}) {}
  void apply(const ConstRegion&, const Region&, Arithmetic, Worker&) const override {}
  void apply_reference(const ConstRegion&, const Region&, Arithmetic) const override {}
};

}  // namespace

TEST_CASE("a filter refuses a chain or an image that it cannot do before it asks for a GPU") {
  const ImageSpec spec{{20, 30}, 1, PixelType::u8};
  Chain host_only = parse({"gaussian:sigma=1"});
  host_only.then(std::make_shared<HostOnlyStage>());
  CHECK_THROWS_AS(DeviceFilter(host_only, spec), InvalidArgument);
  CHECK_THROWS_AS(DeviceFilter(parse({"mix_channels:rows=1,values=1,2,3"}), spec), InvalidArgument);
  CHECK_THROWS_AS(DeviceFilter(parse({}), {{0, 30}, 1, PixelType::u8}), InvalidArgument);
  CHECK_THROWS_AS(DeviceFilter(parse({}), {{20, 30}, 0, PixelType::u8}), InvalidArgument);
}

TEST_CASE("without a GPU a filter says so") {
  if (!list_devices().empty()) return;
  CHECK_THROWS_AS(DeviceFilter(parse({"gaussian:sigma=1"}), {{20, 30}, 1, PixelType::u8}), DeviceError);
}

TEST_CASE("a filter's views are checked") {
  const ImageSpec input{{8, 10}, 2, PixelType::u16};
  const ImageSpec result{{8, 10}, 1, PixelType::f32};
  alignas(8) static std::byte memory[4096];
  const PixelView in{memory, input.extent, 2, PixelType::u16, 40};
  const PixelView out{memory + 2048, result.extent, 1, PixelType::f32, 40};
  const Chain chain = parse({"mix_channels:rows=1,values=1,2", "cast:type=f32"});
  const auto check_views = [&](const PixelView& a, const PixelView& b) {
    check_parts(chain, input, result, ConstRegion::whole(a), Region::whole(b), "filter's ");
  };
  const auto check_refused = [&](PixelView a, PixelView b) {
    CHECK_THROWS_AS(check_views(a, b), InvalidArgument);
  };
  const auto modified = [](PixelView view, auto change) {
    change(view);
    return view;
  };
  CHECK_NOTHROW(check_views(in, out));

  check_refused(modified(in, [](PixelView& v) { v.extent.rows = 7; }), out);
  check_refused(modified(in, [](PixelView& v) { v.extent.cols = 11; }), out);
  check_refused(modified(in, [](PixelView& v) { v.channels = 1; }), out);
  check_refused(modified(in, [](PixelView& v) { v.type = PixelType::i16; }), out);
  check_refused(modified(in, [](PixelView& v) { v.data = nullptr; }), out);
  check_refused(modified(in, [](PixelView& v) { v.data += 1; }), out);
  check_refused(modified(in, [](PixelView& v) { v.pitch_bytes = 38; }), out);
  check_refused(modified(in, [](PixelView& v) { v.pitch_bytes = 41; }), out);
  check_refused(in, modified(out, [](PixelView& v) { v.type = PixelType::f64; }));
  check_refused(in, modified(out, [](PixelView& v) { v.pitch_bytes = 39; }));
  check_refused(in, modified(out, [](PixelView& v) { v.pitch_bytes = 0; }));

  // The input takes 320 bytes.
  check_refused(in, modified(out, [](PixelView& v) { v.data = memory; }));
  check_refused(in, modified(out, [](PixelView& v) { v.data = memory + 316; }));
  CHECK_NOTHROW(check_views(in, modified(out, [](PixelView& v) { v.data = memory + 320; })));
  check_refused(modified(in, [](PixelView& v) { v.data = memory + 2048 + 316; }), out);
  // Side by side in rows of 80 bytes, then overlapping on either side.
  const auto at_offset = [&](PixelView view, std::int64_t offset) {
    view.data = memory + offset;
    view.pitch_bytes = 80;
    return view;
  };
  CHECK_NOTHROW(check_views(at_offset(in, 80), at_offset(out, 120)));
  CHECK_NOTHROW(check_views(at_offset(in, 120), at_offset(out, 80)));
  CHECK_NOTHROW(check_views(at_offset(in, 80), at_offset(out, 200)));
  check_refused(at_offset(in, 80), at_offset(out, 116));
  check_refused(at_offset(in, 80), at_offset(out, 124));
  check_refused(at_offset(in, 80), at_offset(out, 204));
}
