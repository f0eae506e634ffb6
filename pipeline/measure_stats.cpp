// image_stats(): sinks that count instead of keeping pixels, fed by run() with an empty chain, so that
// reading overlaps with counting and the memory ceiling holds.
#include "sepconv/pipeline/measuring.hpp"

namespace sepconv {

std::vector<ChannelStats> image_stats(Reader& source, const RunOptions& options) {
  if (!options.devices.empty()) return device_stats(source, options);
  return is_floating(source.spec().type) ? floating_stats(source, options) : integer_stats(source, options);
}

}  // namespace sepconv
