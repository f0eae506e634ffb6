// Permutations of the axes of images and arrays in files.
#include <fmt/format.h>

#include <utility>

#include "core/error.hpp"
#include "io/byte_file.hpp"
#include "io/tensor/tensor.hpp"
#include "pipeline/job/file_job.hpp"
#include "pipeline/job/pyramid_writer.hpp"
#include "pipeline/plan/memory_limits.hpp"
#include "pipeline/stages/permutation_steps.hpp"
#include "pipeline/stages/transpose.hpp"

namespace sepconv {
namespace {

/// A permutation as a chain between two images: how both arrays are viewed as pixels, and the stage that
/// moves them.
struct Arrangement {
  TensorExtent in_extent, out_extent;
  TensorGrid in, out;
  Chain chain;
};

// Requests for shorter pieces of files take longer than moving their bytes.
constexpr std::int64_t kShortPiece = 4096;
// Approximate band size; pixels larger than kMaxPixel leave few per band.
constexpr std::int64_t kBandBytes = 64 << 20;
constexpr std::int64_t kMaxPixel = 1 << 20;

/// Whether (2,1,0) should be one transpose of all columns in several steps, instead of b matrices of a x c:
/// if parts of a matrix, or bands of whole ones, have short rows in the file and each would decode whole rows
/// again.
bool prefers_multi_step(const TensorExtent& extent, std::int64_t element_bytes, bool whole_rows_are_decoded) {
  const auto [a, b, c] = extent;
  const std::int64_t matrix_bytes = a * c * element_bytes;
  const std::int64_t row_of_band = matrix_bytes <= kBandBytes ? kBandBytes / a : c * element_bytes;
  const std::int64_t column_of_band = kBandBytes / (b * c);
  return column_of_band > row_of_band ? row_of_band < kShortPiece
                                      : whole_rows_are_decoded && column_of_band >= kShortPiece / 16;
}

/// Expresses the permutation as a transpose of pixels, elements, runs or many matrices, by viewing the arrays
/// suitably. With both files flat, axes of length 1 are dropped. `decodes_rows`: reading part of a source row
/// decodes the whole row.
Arrangement arrange(TensorExtent extent, Permutation permutation, std::int64_t element_bytes, bool both_flat,
                    bool flat_sink, bool decodes_rows) {
  if (both_flat) {
    const WithoutUnits reduced = without_unit_axes(extent, permutation);
    extent = reduced.extent;
    permutation = reduced.permutation;
  }
  const auto arrangement = [&](TensorGrid in, TensorGrid out, StagePtr stage) {
    return Arrangement{extent, permuted(extent, permutation), in, out, Chain().then(std::move(stage))};
  };
  using Grid = TensorGrid;
  const auto permutes_to = [&](int a, int b, int c) { return permutation == Permutation{{a, b, c}}; };
  if (permutes_to(1, 0, 2) && both_flat && extent[2] * element_bytes > kMaxPixel)
    return arrangement(Grid::spread, Grid::spread, make_run_transpose(extent[2]));
  if (permutes_to(1, 0, 2)) return arrangement(Grid::image, Grid::image, make_transpose());
  if (permutes_to(1, 2, 0)) return arrangement(Grid::spread, Grid::lines, make_transpose());
  if (permutes_to(2, 0, 1)) return arrangement(Grid::lines, Grid::spread, make_transpose());
  if (permutes_to(0, 2, 1))
    return arrangement(Grid::lines, Grid::lines, make_transpose(extent[0], Stacking::rows));
  if (permutes_to(2, 1, 0) && flat_sink && prefers_multi_step(extent, element_bytes, decodes_rows))
    return arrangement(Grid::spread, Grid::lines, make_interleaved_transpose(extent[1]));
  if (permutes_to(2, 1, 0))
    return arrangement(Grid::spread, Grid::spread, make_transpose(extent[1], Stacking::cols));
  const Grid grid = both_flat ? Grid::lines : Grid::image;
  return {extent, extent, grid, grid, Chain()};
}

TensorSpec result_of(const TensorSpec& source, const Permutation& permutation) {
  TensorSpec result = source;
  result.extent = permuted(source.extent, permutation);
  if (permutation.axes[2] != 2) result.axes = 3;
  return result;
}

/// The same permutation for an array whose axes are stored in reverse order.
Permutation reversed_permutation(const Permutation& permutation, int axes) {
  Permutation result = permutation;
  for (int& axis : result.axes) {
    if (axis < axes) axis = axes - 1 - axis;
  }
  return result;
}

/// Whether the file has several pages of pixels instead of one array.
bool is_stack(const std::filesystem::path& path, const FileOptions& files) {
  const Format& format =
      format_of_file(InputFile(path, InputFile::Folders::taken), files.open, files.formats);
  return format.has_pages && !format.has_axes && open_set(path, files.open, files.formats)->count() > 1;
}

std::optional<PixelTransform> pixel_transform_of(const Permutation& permutation) {
  if (permutation == Permutation{}) return PixelTransform{};
  if (permutation == Permutation{{1, 0, 2}}) return PixelTransform{.turned = true};
  return std::nullopt;
}

}  // namespace

ImageJob plan_permutation(const std::filesystem::path& input, const std::filesystem::path& output,
                          const Permutation& asked, const PlanOptions& options, const FileOptions& files) {
  check_permutation(asked);
  check_no_region("a permutation", options);
  check_not_read(output, files_read_by(input));
  if (asked == Permutation{{1, 0, 2}} && is_stack(input, files))
    return plan_file(input, output, Chain().then(make_transpose()), options, files);
  ImageJob job;
  job.read.push_back({InputFile(input, InputFile::Folders::taken)});
  TensorFile file = TensorFile::open(input, files.open, files.formats);
  const TensorSpec spec = file.spec();
  const Permutation permutation = file.is_reversed() ? reversed_permutation(asked, spec.axes) : asked;
  const TensorSpec result = result_of(spec, permutation);
  const bool flat_sink = has_flat_format(output, files.formats);
  const bool decodes_rows =
      !file.is_flat() && file.image()->layout().block.cols >= spec.extent[1] && spec.extent[1] > 1;
  const Arrangement arrangement = arrange(spec.extent, permutation, spec.element_bytes,
                                          file.is_flat() && flat_sink, flat_sink, decodes_rows);

  OutputOptions request = files.output;
  if (file.image() != nullptr) request.stored = file.image()->layout().stored;
  if (request.stored && request.stored->is_complex())
    throw InvalidArgument(fmt::format(
        "the axes of {} are not permuted here: its complex numbers are pairs of channels; give run the stage "
        "transpose, or store it as .npy",
        input.native()));
  const std::optional<PixelTransform> map = pixel_transform_of(permutation);
  const bool no_levels = arrangement.out != TensorGrid::image;
  if (no_levels && (request.pyramid == true || request.cog))
    throw InvalidArgument(fmt::format(
        "{}: channels change places with rows or columns, and smaller levels are not made in such a pass; "
        "permute without OutputOptions::pyramid and OutputOptions::cog, and make them of the result",
        output.native()));
  if (no_levels) request.pyramid = false;
  const ImageSpec as_image{
      {result.extent[0], result.extent[1]}, result.extent[2], result.type.value_or(PixelType::u8)};
  ImageChange change{.map = map};
  if (file.image() != nullptr) {
    request.holds_mask = holds_mask(output, *file.image(), files.formats);
    change = image_change_of(*file.image(), as_image, request, map, Work::none);
  }
  const LayoutCandidates layouts =
      layout_candidates_of(output, as_image, file.image(), request, change, files.formats);
  const bool had_levels =
      file.image() != nullptr && file.image()->layout().file.value_or(FileLayout()).levels != Levels::none;
  const bool keeps_pixels = map && file.image() != nullptr;
  job.source = std::move(file).reader(arrangement.in_extent, arrangement.in);
  const MissingPixels missing = missing_pixels(*job.source, arrangement.chain, options.missing);
  const std::string note = plan_with_fallback(layouts, [&](const CreateOptions& create) {
    job.sink = fill_levels(
        create_tensor_writer(output, result, arrangement.out_extent, arrangement.out, create, files.formats),
        keeps_pixels ? missing.of_result() : MissingPixels{});
    job.plan = plan(*job.source, *job.sink, arrangement.chain, missing, options);
  });
  if (!note.empty()) job.plan.notes.push_back(note);
  if (no_levels && had_levels)
    job.plan.warnings.emplace_back(
        "the smaller levels are not kept: channels change places with rows or columns");
  return job;
}

}  // namespace sepconv
