// PNG and JPEG: what comes along with the pixels is parsed by us, the pixels by libraries whose failures we
// take. PNM and BMP are parsed by us.
#include "read_image.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sepconv;
  const bool small_format = fuzz::starts_with(data, size, "\x89PNG") ||
                            fuzz::starts_with(data, size, "\xFF\xD8") || fuzz::starts_with(data, size, "P") ||
                            fuzz::starts_with(data, size, "BM");
  if (!small_format) return -1;
  fuzz::read_image(data, size);
  return 0;
}
