// mix_channels: each output channel is a weighted sum of the input channels, as for unmixing, grey or PCA.
#include <fmt/format.h>

#include <algorithm>

#include "core/count_text.hpp"
#include "core/error.hpp"
#include "kernels/pointwise/pointwise.hpp"
#include "pipeline/stages/f32_range.hpp"
#include "pipeline/stages/keys.hpp"
#include "pipeline/stages/read_matrix.hpp"
#include "pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

StageDeclaration declaration_of(std::string text, const Table& table, bool with_mask_channel) {
  const std::size_t cols = table.front().size() + (with_mask_channel ? 1 : 0);
  const std::size_t rows = table.size() + (with_mask_channel ? 1 : 0);
  return {
      .text = std::move(text),
      .traits = {.work = {.operations_per_element = static_cast<double>(cols)}, .nan = {.propagates = true}},
      .properties = {
          .is_per_pixel = true,
          .needs_f64 = std::ranges::any_of(table, [](const auto& row) { return any_beyond_f32(row); }),
          .runs_on_device = static_cast<std::int64_t>(rows * (cols + 1)) <= kMaxDeviceMatrix,
          .device_kernels = DeviceKernels::channel_matrices,
          .handles_nodata = true,
          .mixes_channels = true,
          .keeps_last_channel = with_mask_channel}};
}

class MatrixStage final : public Stage {
 public:
  /// `table`: one row per output channel, one column per input channel, and optionally a last column of
  /// offsets.
  MatrixStage(std::string text, const Table& table, bool with_mask_channel = false)
      : Stage(declaration_of(std::move(text), table, with_mask_channel)),
        table_(table),
        mask_channels_(with_mask_channel ? 1 : 0),
        rows_(static_cast<std::int64_t>(table.size())),
        cols_(static_cast<std::int64_t>(table.front().size())),
        plain_(matrix_of(cols_)),
        with_offset_(matrix_of(cols_ - 1)) {}

  ImageSpec output_spec(const ImageSpec& input) const override {
    const std::int64_t channels = input.channels - mask_channels_;
    if (channels != cols_ && channels != cols_ - 1) {
      throw InvalidArgument(fmt::format(
          "stage 'mix_channels' has {} but the image has {}; give {}, or {} with an offset last; a "
          "column of zeros leaves a channel out",
          count_text(cols_, "column"), count_text(channels, "channel"), count_text(channels, "column"),
          channels + 1));
    }
    ImageSpec output = input;
    output.channels = rows_ + mask_channels_;
    return output;
  }

  ValueRange result_range(const ValueRange& input) const override {
    std::optional<ValueRange> range;
    for (const ChannelMatrix* matrix : {&plain_, &with_offset_})
      for (std::int64_t i = 0; i < matrix->out_channels; ++i) {
        const double offset = matrix->offsets[static_cast<std::size_t>(i)];
        ValueRange channel{offset, offset};
        for (std::int64_t j = 0; j < matrix->in_channels; ++j)
          channel = channel.plus(
              input.scaled(matrix->coefficients[static_cast<std::size_t>(i * matrix->in_channels + j)]));
        range = range ? range->include(channel) : channel;
      }
    return range.value_or(input);
  }

  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker&) const override {
    mix_channels_host(matrix_for(in), in.crop(out.rect).pixels, out.pixels, arithmetic);
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    mix_channels_reference(matrix_for(in), in.crop(out.rect).pixels, out.pixels, arithmetic);
  }

  StagePtr transposed() const override { return shared_from_this(); }
  StagePtr with_mask_channel() const override { return std::make_shared<MatrixStage>(text(), table_, true); }

  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena&, DeviceStream stream,
               const Epilogue& epilogue) const override {
    mix_channels_device(matrix_for(in), in.crop(out.rect).pixels, out.pixels, arithmetic, stream,
                        epilogue.ops);
  }

 private:
  /// A mask channel adds a row and a column of the identity matrix.
  ChannelMatrix matrix_of(std::int64_t in_channels) const {
    ChannelMatrix matrix{rows_ + mask_channels_, in_channels + mask_channels_, {}, {}};
    std::vector<double>& coefficients = matrix.coefficients;
    for (const std::vector<double>& row : table_) {
      coefficients.insert(coefficients.end(), row.begin(), row.begin() + in_channels);
      coefficients.resize(coefficients.size() + static_cast<std::size_t>(mask_channels_));
      matrix.offsets.push_back(in_channels < static_cast<std::int64_t>(row.size()) ? row.back() : 0.0);
    }
    if (mask_channels_ == 0) return matrix;
    coefficients.resize(coefficients.size() + static_cast<std::size_t>(in_channels));
    coefficients.push_back(1);
    matrix.offsets.push_back(0);
    return matrix;
  }

  const ChannelMatrix& matrix_for(const ConstRegion& in) const {
    return in.pixels.channels == cols_ + mask_channels_ ? plain_ : with_offset_;
  }

  Table table_;
  std::int64_t mask_channels_;
  std::int64_t rows_;
  std::int64_t cols_;
  ChannelMatrix plain_;
  ChannelMatrix with_offset_;
};

Keys keys(MixChannelsOptions& options) {
  return {{.name = "file",
           .value = &options.file,
           .words = "text or NPY file: a row per channel of the result, a column per channel of the input; "
                    "one more column: offsets"},
          {.name = "values",
           .value = &options.values,
           .words = "the matrix, row by row, in place of a file",
           .not_with = "file"},
          {.name = "rows",
           .value = &options.rows,
           .words = "number of rows of the matrix",
           .range = at_least(1),
           .only_with = "values"}};
}

Table table_of(const MixChannelsOptions& options, const StageArguments& stage_args) {
  if (!options.file.empty()) return read_table(options.file);
  const std::vector<double>& values = options.values;
  const auto count = static_cast<std::int64_t>(values.size());
  if (count == 0) stage_args.refuse("values", "give the numbers, or a file");
  if (count % options.rows != 0)
    stage_args.refuse("rows", fmt::format("{} cannot make that many equal rows", count_text(count, "value")));
  Table table;
  for (auto row = values.begin(); row != values.end(); row += count / options.rows)
    table.emplace_back(row, row + count / options.rows);
  return table;
}

StagePtr make(const MixChannelsOptions& options, const StageArguments& stage_args) {
  const Table table = table_of(options, stage_args);
  for (const std::vector<double>& row : table) {
    if (row.size() != table.front().size()) {
      throw InvalidArgument(
          fmt::format("stage 'mix_channels' has rows of {} and of {} numbers; all need the same",
                      table.front().size(), row.size()));
    }
  }
  return std::make_shared<MatrixStage>(stage_args.text(), table);
}

constexpr StageKind<MixChannelsOptions> kMixChannels{
    "mix_channels",
    "weighted sums of channels: a row of weights per channel of the result",
    "mix_channels:values=0.299,0.587,0.114",
    keys,
    make,
    "matrix"};

}  // namespace

StagePtr mix_channels(const MixChannelsOptions& options) { return kMixChannels(options); }
StageEntry MixChannelsOptions::entry() { return kMixChannels.entry(); }

}  // namespace sepconv
