// OME-Zarr attributes. Attributes that were read must be unchanged after writing and reading, and must be
// usable for a result's metadata.
#include <cstdlib>
#include <string>

#include "core/error.hpp"
#include "io/stack/ngff.hpp"
#include "io/stack/stack.hpp"

namespace {

void check(const sepconv::OmeImage& image) {
  using namespace sepconv;
  const std::string text = ngff_text(image);
  if (ngff_text(parse_ngff_text(text)) != text) std::abort();
  const SampleSpec spec({9, 7}, 1, PixelType::u16);
  std::vector<std::string> lost;
  for (const PixelTransform& map : {PixelTransform{}, PixelTransform{2, 3, 1, 5, true}})
    describe_stack(text, {{"c", 1, 1}, {"z", 2, 3}}, {.map = map, .from = spec, .to = spec}, lost);
  create_ome_xml(spec, {}, image);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sepconv;
  NgffGroup group;
  try {
    group = read_ngff(std::string(reinterpret_cast<const char*>(data), size), "a.zarr");
  } catch (const IoError&) {
    return 0;
  }
  for (const NgffMultiscale& multiscale : group.images) {
    for (std::size_t level = 0; level < multiscale.levels.size(); ++level) check(multiscale.at_level(level));
  }
  return 0;
}
