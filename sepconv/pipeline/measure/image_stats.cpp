// image_stats(): sinks that count instead of keeping pixels, fed by run() with an empty chain, so that
// reading overlaps with counting and the memory ceiling holds.
#include "sepconv/core/view_check.hpp"
#include "sepconv/pipeline/measure/stats_passes.hpp"

namespace sepconv {

std::vector<ChannelStats> image_stats(Reader& source, const RunOptions& options) {
  check_image("the image to measure", source.spec());
  if (!options.devices.empty()) return device_stats(source, options);
  return is_floating(source.spec().type) ? floating_stats(source, options) : integer_stats(source, options);
}

}  // namespace sepconv
