// PNG, JPEG, PNM and BMP: size and type come from headers that we read ourselves; the pixels are OpenCV's
// business.
#include "read_image.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sepconv;
  const bool small_format = fuzz::starts_with(data, size, "\x89PNG") ||
                            fuzz::starts_with(data, size, "\xFF\xD8") || fuzz::starts_with(data, size, "P") ||
                            fuzz::starts_with(data, size, "BM");
  if (!small_format) return -1;
  fuzz::read_image(data, size, fuzz::Depth::header);
  return 0;
}
