// How a result is stored: as the caller requests, else like its source where that is sensible.
//
//   auto in = sepconv::open_reader("scan.tif");
//   auto chain = sepconv::Chain::parse({"gaussian:sigma=2.5"});
//   auto out = sepconv::create_writer("out.tif", chain.result_spec(in->spec()),
//                                    sepconv::output_like(*in, chain));
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "io/formats.hpp"
#include "pipeline/job/missing_pixels.hpp"

namespace sepconv {

/// Options of the caller; unset ones follow from the source.
struct OutputOptions {
  std::optional<Compression> compression;
  int level = 0;                   ///< compression level; 0: its default
  std::optional<Chroma> chroma{};  ///< JPEG; unset: 4:4:4 from quality 95 on, else the source's, else 4:2:0
  std::optional<Extent> tile;      ///< 0 x 0: strips
  std::vector<AxisPositions> tile_others{};  ///< size of Zarr chunks along axes other than y and x
  bool planar = false;
  bool no_predictor = false;
  bool cog = false;  ///< a Cloud Optimized GeoTIFF: tiled, with overviews, ordered for few requests
  std::optional<bool> pyramid;                ///< smaller levels; unset: if the source has them
  bool nearest_levels = false;                ///< levels of single pixels instead of means, for class rasters
  std::optional<Extent> shard;                ///< Zarr shard; 0 x 0: none
  std::vector<AxisPositions> shard_others{};  ///< shard size along axes other than y and x
  std::optional<int> zarr;                    ///< Zarr version
  std::optional<bool> big_tiff;
  bool overwrite = false;
  bool durable = false;
  /// Convert the result to u8 from `range_of_8bit`, default: the full range of its type, 0 to 1 for floating
  /// types. Alpha is blended over white if the format has no alpha and `background` is unset.
  bool to_8bit = false;
  std::optional<std::pair<double, double>> range_of_8bit{};
  std::optional<Background> background{};  ///< as CreateOptions::background
  Rect region{};                           ///< region of the result to compute, as PlanOptions::region
  MissingPixels missing{};                 ///< missing pixels of the source, from missing_pixels()
  bool holds_mask = true;                  ///< from holds_mask()
  /// As CreateOptions::stored; usually from stored_type_of().
  std::optional<SampleType> stored{};
};

/// Stored sample type of a result if it is not a pixel type: the source's, unless a stage casts. Complex
/// numbers stay complex, of f32 or f64. Throws InvalidArgument as Chain::check_supports().
std::optional<SampleType> stored_type_of(const Chain& chain, const Reader& source);

/// Position of the result's pixels in the source; nullopt if a stage computes other rows and columns, as
/// products do.
std::optional<PixelTransform> pixel_transform_of(const Chain& chain, const ImageSpec& source);

/// Changes from the source to a result. A null map with Work::none means that channels change too. A mask of
/// the result is not a channel.
ImageChange image_change_of(const Reader& source, const ImageSpec& result, const OutputOptions& request,
                            const std::optional<PixelTransform>& map, Work work);
/// The same for the result of a chain.
ImageChange image_change_of(const Reader& source, const Chain& chain, const OutputOptions& request);

/// Whether a file of this name can store the source's mask: Format::holds_mask.
bool holds_mask(const std::filesystem::path& path, const Reader& source,
                Formats formats = built_in_formats());

/// Options for a result of this spec, or its region; layout and metadata follow `source` unless it is null.
/// Transposed or rearranged data are not compressed as JPEG unless requested. CreateOptions::warnings lists
/// what could not be preserved.
CreateOptions output_options(const ImageSpec& result, const Reader* source, const OutputOptions& request,
                             const ImageChange& change);

/// The same for the result of `chain` on `source` with missing pixels as in PlanOptions::missing. Levels only
/// if requested: the sink must then be passed to fill_levels().
CreateOptions output_like(const Reader& source, const Chain& chain, const OutputOptions& request = {},
                          const MissingOptions& missing = {});

/// output_options() for a file name. Throws InvalidArgument for options that its format would ignore, and for
/// invalid names.
CreateOptions output_options(const std::filesystem::path& path, const ImageSpec& result, const Reader* source,
                             const OutputOptions& request, const ImageChange& change,
                             Formats formats = built_in_formats());

/// Options to create a file, and alternative options for a ceiling that the first exceed, if the caller left
/// the layout open: tiles instead of strips or the reverse, or one image per chunk.
struct LayoutCandidates {
  CreateOptions first;
  std::optional<CreateOptions> other;
};
/// Both from output_options().
LayoutCandidates layout_candidates_of(const std::filesystem::path& path, const ImageSpec& result,
                                      const Reader* source, const OutputOptions& request,
                                      const ImageChange& change, Formats formats = built_in_formats());

/// Calls `plan` with the first options and, if it throws OutOfMemory, with the others. Returns "", or why the
/// others are used.
std::string plan_with_fallback(const LayoutCandidates& layouts,
                               const std::function<void(const CreateOptions&)>& plan);

}  // namespace sepconv
