// PNG and JPEG: sepconv parses the metadata and libraries decode the pixels; their errors are accepted. PNM
// and BMP are parsed by sepconv.
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
