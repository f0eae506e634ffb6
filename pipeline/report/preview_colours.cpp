#include "pipeline/report/preview_colours.hpp"

#include <string>
#include <utility>
#include <vector>

namespace sepconv {

std::optional<ColourTable> table_of(const Reader& source, const Chain& chain) {
  const ImageSpec result = chain.result_spec(source.spec());
  const ImageChange change{.channels = result.channels != source.spec().channels,
                           .type = result.type != source.spec().type,
                           .values = chain.work() != Work::none,
                           .keeps_values = chain.keeps_values()};
  std::vector<std::string> ignored;
  std::optional<ColourTable> table = source.metadata().derive_for(change, ignored).colours;
  return table && !is_plain(*table) ? std::move(table) : std::nullopt;
}

PictureColours preview_colours(const Reader& source, const ImageSpec& result) {
  const bool is_integer = result.type == PixelType::u8 || result.type == PixelType::u16;
  const bool is_cmyk = is_integer && result.channels == source.spec().channels && result.channels == 4 &&
                       source.metadata().photometric == Photometric::cmyk;
  return is_cmyk ? picture_colours(result.channels, source.metadata(), "3", {})
                 : PictureColours{.channels = result.channels};
}

}  // namespace sepconv
