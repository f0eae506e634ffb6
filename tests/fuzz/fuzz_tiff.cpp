// TIFF and BigTIFF: directories, block tables and every codec.
#include "io/tiff/tiff.hpp"
#include "read_image.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sepconv;
  if (size < 4 || !is_tiff({reinterpret_cast<const std::byte*>(data), size})) return -1;
  fuzz::read_image(data, size);
  return 0;
}
