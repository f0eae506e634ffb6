// A preview of a chain's result before a long run: of a pyramid level or of a detail, so that it takes a
// fraction of a second for any file size.
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
#include "pipeline/report/preview_collector.hpp"

namespace sepconv {

struct PreviewOptions {
  std::int64_t size = 1024;  ///< maximum length of the picture's longer side, in pixels
  /// Area of the result, in pixels at full resolution. Empty: the whole result if a level is small enough to
  /// be computed quickly; else the middle, as large as the picture.
  Rect region{};
  std::optional<int> level{};  ///< of the pyramid; unset: chosen automatically
  OpenOptions open{};          ///< its level is ignored
  MissingOptions missing{};
  std::int64_t max_memory_bytes = 0;  ///< as in PlanOptions
  int threads = 0;
  std::stop_token stop{};
};

struct Preview {
  /// Row-major, channels interleaved: grey (1), RGB (3), or RGBA (4) if pixels are missing; these are
  /// transparent.
  Extent extent{};
  std::int64_t channels = 1;
  std::vector<std::uint8_t> pixels{};

  int level = 0;
  double scale = 1;   ///< pixels of the image per pixel of the level, along a side
  Rect area{};        ///< shown area, in the result of the level
  bool whole = true;  ///< whether `area` is the whole result
  Stretch stretch{};  ///< the values shown as black and as white
  /// What the preview shows, and how it differs from the result of a run; one sentence each.
  std::vector<std::string> notes{};

  ConstPixelView view() const { return view_of(pixels.data(), extent, channels); }
};

/// Previews the first image of a file, or the one of OpenOptions::page. On a level the chain's lengths are
/// divided by the level's scale (scaled_chain()). A large region without a suitable level is computed at full
/// resolution, in bounded memory. Throws as plan_file() and run(), and InvalidArgument for a region outside
/// the result.
Preview preview(const std::filesystem::path& input, const Chain& chain, const PreviewOptions& options = {},
                Formats formats = built_in_formats());

}  // namespace sepconv
