// A sink whose file lacks the last channel of the pixels that are written, which is alpha: where it is 0 the
// others have the nodata value.
#pragma once

#include <memory>
#include <optional>

#include "io/writer.hpp"

namespace sepconv {

/// For pixels with one channel more than `sink` has. Its levels, if it has some, are such sinks, too.
/// `never`: a pixel whose alpha is not 0 and of which all channels have this value gets the next one in the
/// first.
std::unique_ptr<Writer> make_without_alpha(std::unique_ptr<Writer> sink, std::optional<double> never = {});

}  // namespace sepconv
