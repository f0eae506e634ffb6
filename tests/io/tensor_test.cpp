#include "io/tensor/tensor.hpp"

#include <catch2/catch.hpp>

#include "temporary_folder.hpp"
#include "test_image.hpp"
#include "tiff_layouts.hpp"

namespace sepconv {
namespace {

TEST_CASE(
    "An image seen as lines of pixels is taken by whole rows of them, whether or not its tiles are cut") {
  const TemporaryFolder folder;
  const TensorSpec spec{{33, 21, 3}, 3, 1, PixelType::u8, "|u1"};
  CreateOptions options;
  options.overwrite = true;
  for (const FileLayout& layout : {strips(4), tiles({16, 16}), tiles({16, 16}, Compression::deflate)}) {
    options.layout = layout;
    const auto writer =
        create_tensor_writer(folder.path() / "a.tif", spec, spec.extent, TensorGrid::lines, options);
    REQUIRE(writer->spec().extent == Extent{33 * 21, 3});
    const TestImage image = TestImage::random(writer->spec(), 3);
    const Extent unit = writer->layout().unit();
    CHECK(unit == Extent{(layout.tiled ? 16 : 1) * 21, 3});
    CHECK(unit == writer->layout().block);
    SerialExecutor executor;
    for (std::int64_t row = 0; row < image.spec().extent.rows; row += unit.rows) {
      const Rect part = Rect{row, 0, unit.rows, 3}.intersect(Rect::whole(image.spec().extent));
      writer->write(part, image.view().crop(part), executor);
    }
    writer->finish();

    const auto reader = TensorFile::open(folder.path() / "a.tif").reader(spec.extent, TensorGrid::lines);
    CHECK(reader->layout().unit().rows % 21 == 0);
    CHECK(reader->layout().unit() == reader->layout().block);
    CHECK(reads_everywhere(*reader, image));
  }
}

}  // namespace
}  // namespace sepconv
