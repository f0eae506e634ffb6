// What a chain makes of an image, as a picture to look at before a long run: of a level of its pyramid, or of
// a detail, so that it takes a fraction of a second whatever the file's size.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "io/formats.hpp"
#include "pipeline/plan/missing.hpp"
#include "pipeline/report/run_pictures.hpp"

namespace sepconv {

struct PreviewOptions {
  std::int64_t size = 1024;  ///< the picture's longer side, at most
  /// For the result, in its pixels at full resolution. Empty: all of it, if a level or the image is small
  /// enough to be done at once; else the middle, as large as the picture.
  Rect region{};
  std::optional<int> level{};  ///< of the pyramid; unset: the one that suits
  OpenOptions open{};          ///< all but its level
  MissingOptions missing{};
  std::int64_t max_memory_bytes = 0;  ///< as PlanOptions has these
  int threads = 0;
  std::stop_token stop{};
};

struct Preview {
  /// Row-major, channels interleaved: grey (1), RGB (3), or RGBA (4) where pixels are missing, which alpha
  /// hides.
  Extent extent{};
  std::int64_t channels = 1;
  std::vector<std::uint8_t> pixels{};

  int level = 0;
  double scale = 1;   ///< pixels of the image to one of the level, along a side
  Rect area{};        ///< that is shown, of the result of the level
  bool whole = true;  ///< that is all of it
  Stretch stretch{};  ///< what is black and what is white
  /// What is seen, and what of it is not as a run's result would be: a sentence each.
  std::vector<std::string> notes{};

  ConstPixelView view() const { return view_of(pixels.data(), extent, channels); }
};

/// For the first image of a file of several. On a level lengths of the chain are divided by its scale
/// (scaled_chain()); with OpenOptions::page another image is chosen. A region that is large is computed all
/// the same, at full resolution where there is no level for it, in bounded memory. Throws as plan_file() and
/// run(), and InvalidArgument for a region outside of the result.
Preview preview(const std::filesystem::path& input, const Chain& chain, const PreviewOptions& options = {},
                Formats formats = built_in_formats());

}  // namespace sepconv
