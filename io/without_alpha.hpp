// A sink that drops the last channel, alpha. The caller sets the nodata value where alpha is 0.
#pragma once

#include <memory>
#include <optional>

#include "io/writer.hpp"

namespace sepconv {

/// Wraps `sink` for pixels with one more channel. Its levels are wrapped, too. `reserved_value`: if all
/// channels of a pixel with alpha other than 0 have this (nodata) value, the first channel is changed to the
/// next value.
std::unique_ptr<Writer> make_without_alpha(std::unique_ptr<Writer> sink,
                                           std::optional<double> reserved_value = {});

}  // namespace sepconv
