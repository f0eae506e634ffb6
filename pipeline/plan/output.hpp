// How a result is to be stored: as the caller says, else as its source is, as far as that makes sense for the
// result.
//
//   auto in = sepconv::open_reader("scan.tif");
//   auto chain = sepconv::Chain::parse({"gaussian:sigma=2.5"});
//   auto out = sepconv::create_writer("out.tif", chain.result_spec(in->spec()), sepconv::output_like(*in,
//   chain));
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "io/formats.hpp"
#include "pipeline/plan/missing.hpp"

namespace sepconv {

/// What the caller decides; what is left open is the source's.
struct OutputOptions {
  std::optional<Compression> compression;
  int level = 0;  ///< of that compression; 0: its default
  std::optional<Chroma>
      chroma{};                ///< of JPEG; unset: 4:4:4 from quality 95 on, else the source's, else 4:2:0
  std::optional<Extent> tile;  ///< 0 x 0: strips
  std::vector<AxisPositions> tile_others{};  ///< of a Zarr's chunks, along axes besides y and x
  bool planar = false;
  bool no_predictor = false;
  bool cog =
      false;  ///< a Cloud Optimized GeoTIFF: tiled, with levels, everything in the order for few requests
  std::optional<bool> pyramid;                ///< smaller levels; unset: where the source has them
  bool nearest_levels = false;                ///< these of single pixels and not of means, as classes need
  std::optional<Extent> shard;                ///< of a Zarr; 0 x 0: none
  std::vector<AxisPositions> shard_others{};  ///< likewise
  std::optional<int> zarr;                    ///< its version
  std::optional<bool> big_tiff;
  bool overwrite = false;
  bool durable = false;
  /// u8 of whatever the result is: of `range_of_8bit`, or of all that its type can be, of floating values of
  /// 0 to 1. Alpha is laid on white where the format has none and `background` is left out.
  bool to_8bit = false;
  std::optional<std::pair<double, double>> range_of_8bit{};
  std::optional<Background> background{};  ///< as CreateOptions::background
  Rect region{};                           ///< of the result, what is made, as PlanOptions::region
  MissingPixels missing{};                 ///< of the source, by missing_pixels()
  bool keeps_range = false;                ///< by Chain::keeps_range()
  bool keeps_values = false;               ///< by Chain::keeps_values()
  bool holds_mask = true;                  ///< the file does: Format::holds_mask
  /// As CreateOptions::stored; stored_by() says what a chain leaves of its source's.
  std::optional<SampleType> stored{};
};

/// What the elements of a result are, where they are not pixels: what the source's are, unless a stage casts;
/// complex numbers stay complex, of f32 or of f64. Throws InvalidArgument as Chain::check_takes().
std::optional<SampleType> stored_by(const Chain& chain, const Reader& source);

/// Where the pixels of a chain's result lie in its source; nothing if a stage makes other rows and columns of
/// them, as products do.
std::optional<PixelTransform> map_of(const Chain& chain, const ImageSpec& source);

/// What becomes of an image of a source like this. A map of nothing where nothing is computed: channels are
/// others, too. What will be a mask in the result is not a channel.
ImageChange change_of(const Reader& source, const ImageSpec& result, const OutputOptions& request,
                      const std::optional<PixelTransform>& map, Work work);

/// For a result of this spec, or its region: `source`, if there is one, lends layout and metadata. What is
/// turned or rearranged does not become JPEG unless asked for. What could not be taken over is in
/// CreateOptions::warnings.
CreateOptions output_options(const ImageSpec& result, const Reader* source, const OutputOptions& request,
                             const std::optional<PixelTransform>& map, Work work);

/// The same for what `chain` makes of `source`, whose missing pixels are PlanOptions::missing's; with levels
/// only if asked for, because then the sink is to go through fill_levels().
CreateOptions output_like(const Reader& source, const Chain& chain, const OutputOptions& request = {},
                          const MissingOptions& missing = {});

/// output_options() for a file of this name. Throws InvalidArgument for what is asked and its format would
/// ignore, and for a name that none can be.
CreateOptions output_options(const std::filesystem::path& path, const ImageSpec& result, const Reader* source,
                             const OutputOptions& request, const std::optional<PixelTransform>& map,
                             Work work, Formats formats = built_in_formats());

/// What a file is made with: as asked; and, where the caller decided nothing, otherwise, for a ceiling that
/// the first does not fit: with tiles in place of strips or the other way round, or one image a chunk.
struct LayoutCandidates {
  CreateOptions first;
  std::optional<CreateOptions> other;
};
/// Both by output_options().
LayoutCandidates geometries_of(const std::filesystem::path& path, const ImageSpec& result,
                               const Reader* source, const OutputOptions& request,
                               const std::optional<PixelTransform>& map, Work work,
                               Formats formats = built_in_formats());

/// Calls `plan`, which throws OutOfMemory where nothing fits the ceiling, for the first and then for the
/// other. Empty, or why it is the other.
std::string plan_in_either(const LayoutCandidates& geometries,
                           const std::function<void(const CreateOptions&)>& plan);

}  // namespace sepconv
