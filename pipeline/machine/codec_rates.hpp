// Encode and decode rates of one thread of this machine for image blocks.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "pipeline/machine/machine_model.hpp"

namespace sepconv {

/// Names as in FileModel::codecs.
inline constexpr std::array<std::string_view, 4> kMeasuredCodecs{"deflate", "deflate:fast", "zstd",
                                                                 "zstd:fast"};

/// Encodes and decodes a predicted tile of a natural image with each codec for some milliseconds and returns
/// the best rates. The encode_rate of "deflate" is 0: its search time depends more on the image than on the
/// machine. Throws OutOfMemory.
std::vector<FileModel::Codec> measure_codecs();

}  // namespace sepconv
