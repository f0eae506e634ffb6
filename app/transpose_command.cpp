// sepconv transpose IN OUT [--perm A,B,C]: permutations of the axes of images and arrays, from file to file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "console.hpp"
#include "job.hpp"
#include "progress.hpp"
#include "sepconv/core/error.hpp"
#include "sepconv/io/tensor/tensor.hpp"
#include "sepconv/kernels/transpose/permutation.hpp"
#include "sepconv/pipeline/report/report.hpp"
#include "sepconv/pipeline/stages/rearrange.hpp"
#include "sepconv/pipeline/stages/transpose.hpp"
#include "side_files.hpp"

namespace sepconv::app {

namespace {

struct Request {
  JobRequest job;
  std::string permutation = "1,0";
  SideFileRequest side_files;
  Reporting reporting;
  bool plan_only = false;
};

/// A permutation as a chain between two images: how the arrays are cut into pixels on both sides, and what
/// moves them.
struct Arrangement {
  TensorExtent in_extent, out_extent;
  TensorGrid in, out;
  Chain chain;
};

// Pieces of files below this take longer to ask for than to move.
constexpr std::int64_t kShortPiece = 4096;
// Bands are of about this size; a pixel beyond kLongestPixel leaves few to a band.
constexpr std::int64_t kBandBytes = 64 << 20;
constexpr std::int64_t kLongestPixel = 1 << 20;

/// Whether (2,1,0) should be one transposition of all columns, whose rows take turns, and not of b matrices
/// of a x c: where parts of a matrix, or bands of whole ones, have short rows in the file, and where each
/// would decode whole rows again.
bool goes_in_turns(const TensorExtent& extent, std::int64_t element_bytes, bool whole_rows_are_decoded) {
  const auto [a, b, c] = extent;
  const std::int64_t matrix_bytes = a * c * element_bytes;
  const std::int64_t row_of_band = matrix_bytes <= kBandBytes ? kBandBytes / a : c * element_bytes;
  const std::int64_t column_of_band = kBandBytes / (b * c);
  return column_of_band > row_of_band ? row_of_band < kShortPiece
                                      : whole_rows_are_decoded && column_of_band >= kShortPiece / 16;
}

/// Each permutation is a transposition, of pixels, of elements, of runs, or of many matrices, if the arrays
/// are cut as it likes. With both files flat, axes of length 1 do not count. `decodes_rows`: reading a part
/// of a row of the source decodes the whole.
Arrangement arrange(TensorExtent extent, Permutation permutation, std::int64_t element_bytes, bool both_flat,
                    bool flat_sink, bool decodes_rows) {
  if (both_flat) {
    const WithoutUnits work = without_unit_axes(extent, permutation);
    extent = work.extent;
    permutation = work.permutation;
  }
  const auto with = [&](TensorGrid in, TensorGrid out, StagePtr stage) {
    return Arrangement{extent, permuted(extent, permutation), in, out, Chain().then(std::move(stage))};
  };
  using Grid = TensorGrid;
  const auto is = [&](int a, int b, int c) { return permutation == Permutation{{a, b, c}}; };
  if (is(1, 0, 2) && both_flat && extent[2] * element_bytes > kLongestPixel)
    return with(Grid::spread, Grid::spread, make_transpose_of_runs(extent[2]));
  if (is(1, 0, 2)) return with(Grid::image, Grid::image, make_transpose());
  if (is(1, 2, 0)) return with(Grid::spread, Grid::lines, make_transpose());
  if (is(2, 0, 1)) return with(Grid::lines, Grid::spread, make_transpose());
  if (is(0, 2, 1)) return with(Grid::lines, Grid::lines, make_transpose(extent[0], Stacking::rows));
  if (is(2, 1, 0) && flat_sink && goes_in_turns(extent, element_bytes, decodes_rows))
    return with(Grid::spread, Grid::lines, make_transpose_in_turns(extent[1]));
  if (is(2, 1, 0)) return with(Grid::spread, Grid::spread, make_transpose(extent[1], Stacking::cols));
  const Grid grid = both_flat ? Grid::lines : Grid::image;
  return {extent, extent, grid, grid, Chain()};
}

/// What OUT is to hold.
TensorSpec result_of(const TensorSpec& source, const Permutation& permutation, bool three_axes) {
  TensorSpec result = source;
  result.extent = permuted(source.extent, permutation);
  if (three_axes) result.axes = 3;
  return result;
}

Job prepare(const Request& request) {
  const JobRequest& asked = request.job;
  const Permutation permutation = parse_permutation(request.permutation);
  const bool three_axes = std::ranges::count(request.permutation, ',') == 2;
  check_not_read(asked.output, files_read_by(asked));
  TensorFile file = TensorFile::open(asked.input, asked.open);
  const TensorSpec spec = file.spec();
  const TensorSpec result = result_of(spec, permutation, three_axes);
  const bool flat_sink = is_flat_name(asked.output);
  const bool decodes_rows =
      !file.is_flat() && file.image()->layout().block.cols >= spec.extent[1] && spec.extent[1] > 1;
  Arrangement arrangement = arrange(spec.extent, permutation, spec.element_bytes, file.is_flat() && flat_sink,
                                    flat_sink, decodes_rows);

  const ImageSpec as_image{
      {result.extent[0], result.extent[1]}, result.extent[2], result.type.value_or(PixelType::u8)};
  const Kept kept = permutation == Permutation{}            ? Kept::in_place
                    : permutation == Permutation{{1, 0, 2}} ? Kept::turned
                                                            : Kept::rearranged;
  const Geometries geometries = geometries_of(
      has_layout(asked.output), asked.layout, as_image.pixel_bytes(), [&](const OutputRequest& layout) {
        return create_options(asked.output, as_image, file.image(), layout, kept, Work::none);
      });
  Job job;
  job.source = std::move(file).reader(arrangement.in_extent, arrangement.in);
  job.chain = std::move(arrangement.chain);
  job.options = asked.options;
  const std::string note = plan_in_either(geometries, [&](const CreateOptions& options) {
    job.sink = create_tensor(asked.output, result, arrangement.out_extent, arrangement.out, options);
    job.plan = sepconv::plan(*job.source, *job.sink, job.chain, job.options);
  });
  if (!note.empty()) job.plan.notes.push_back(note);
  return job;
}

int transpose(Request& request, std::stop_token stop) {
  request.job.options.stop = std::move(stop);
  request.job.options.logger = make_logger(request.reporting);
  SideFiles side_files(request.side_files, request.job);
  if (request.plan_only) {
    const bool overwrite = std::exchange(request.job.layout.overwrite, true);
    const Job job = prepare(request);
    print_lines(describe(job.plan, *job.source, *job.sink));
    check_can_be_made(request.job.output, overwrite);
    return kDone;
  }
  Job job = prepare(request);
  return run_streaming(job, side_files, request.reporting);
}

}  // namespace

void add_transpose_command(CLI::App& program, Context& context) {
  CLI::App* command = program.add_subcommand(
      "transpose", "Permute the axes of an image or of a NumPy array of up to three axes.");
  const auto request = std::make_shared<Request>();
  add_image_option(*command, "IN", request->job.input, "array or image to read: " + format_names())
      ->required();
  add_image_option(*command, "OUT", request->job.output, "array or image to make; its ending says the format")
      ->required();
  command
      ->add_option("--perm", request->permutation,
                   "axis k of OUT is axis A[k] of IN, as numpy.transpose; an image has rows, columns, "
                   "channels. 1,0 (default): rows become "
                   "columns and channels stay; 2,0,1: planes out of interleaved channels; 1,2,0: back")
      ->transform(permutation_text())
      ->type_name("A,B[,C]");
  command->add_flag("--plan", request->plan_only,
                    "only say what would be done: bands, slots, bytes, peak memory");
  add_job_settings(*command, request->job);
  add_side_file_options(*command, request->side_files);
  add_reporting_options(*command, request->reporting);
  command->footer("Example:  sepconv transpose chw.npy hwc.npy --perm 1,2,0 --max-memory 512M");
  command->callback([&context, request] {
    context.action = [&context, request] { return transpose(*request, context.stop); };
  });
}

}  // namespace sepconv::app
