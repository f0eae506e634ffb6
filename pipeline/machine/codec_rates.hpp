// How fast a thread of this machine codes blocks of images.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "pipeline/machine/machine_model.hpp"

namespace sepconv {

/// By the names that FileModel has them by.
inline constexpr std::array<std::string_view, 4> kMeasuredCodecs{"deflate", "deflate:fast", "zstd",
                                                                 "zstd:fast"};

/// Codes a tile of a natural image behind a predictor with each, some milliseconds each way, and takes the
/// best time. What searching deflate makes depends on the image more than on the machine: its encode_rate is
/// 0. Throws OutOfMemory.
std::vector<FileModel::Codec> measure_codecs();

}  // namespace sepconv
