// NPY: the header is Python source, parsed by sepconv.
#include "read_image.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sepconv;
  if (!fuzz::starts_with(data, size, "\x93NUMPY")) return -1;
  fuzz::read_image(data, size);
  return 0;
}
