// Extracts a rectangle of an image of any size to another file: reading by rectangle in twenty lines.
//
//   example_detail scan.tif detail.png FIRST_ROW FIRST_COL ROWS COLS
#include <cstdlib>
#include <iostream>

#include "sepconv/sepconv.hpp"

namespace {

void cut_detail(const char* source_path, const char* detail_path, const sepconv::Rect& wanted) {
  const auto source = sepconv::open_reader(source_path);
  const sepconv::Rect detail = wanted.intersect(sepconv::Rect::whole(source->spec().extent));
  if (detail.empty())
    throw sepconv::InvalidArgument("the detail lies outside the image; choose other rows and columns");

  sepconv::ImageSpec spec = source->spec();
  spec.extent = detail.extent();
  const sepconv::Buffer memory(spec.bytes());
  const sepconv::PixelView pixels{memory.data(), spec.extent, spec.channels, spec.type, spec.row_bytes()};

  sepconv::SerialExecutor executor;
  source->read(detail, pixels, executor);

  sepconv::CreateOptions options;
  options.overwrite = true;
  const auto writer = sepconv::create_writer(detail_path, spec, options);
  writer->write(sepconv::Rect::whole(spec.extent), pixels, executor);
  writer->finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::cerr << "usage: " << argv[0] << " IN OUT FIRST_ROW FIRST_COL ROWS COLS\n";
    return 2;
  }
  const auto number = [argv](int index) { return std::strtoll(argv[index], nullptr, 10); };
  try {
    cut_detail(argv[1], argv[2], {number(3), number(4), number(5), number(6)});
  } catch (const sepconv::Error& error) {
    std::cerr << argv[0] << ": " << error.what() << '\n';
    return 1;
  }
  return 0;
}
