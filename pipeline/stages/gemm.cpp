// gemm: the image times a matrix from a file, or that matrix times the image. It gives the same bits on every
// machine, so it uses kernels of sepconv; the command `sepconv gemm` multiplies by a library.
#include <fmt/format.h>

#include "core/byte_text.hpp"
#include "core/error.hpp"
#include "io/formats.hpp"
#include "kernels/gemm/exact.hpp"
#include "pipeline/machine/host_resources.hpp"
#include "pipeline/stages/keys.hpp"
#include "pipeline/stages/stage_text.hpp"
#include "pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

/// The matrix as stored in its file. A stage, its transposed() and on_device() versions share one.
struct Matrix {
  explicit Matrix(const ImageSpec& shape) : spec(shape), memory(shape.bytes()) {}
  ImageSpec spec;
  Buffer memory;
};
using MatrixPtr = std::shared_ptr<const Matrix>;

/// The form of the product.
struct Factors {
  bool left = false;        ///< matrix times image, else image times matrix
  bool transposed = false;  ///< the matrix is transposed
  bool mixes = false;       ///< sums run over channels, too; else each channel is a separate matrix
};

/// Extent of the matrix as used in the product.
Extent shape_of(const Matrix& matrix, const Factors& factors) {
  const Extent file = matrix.spec.extent;
  return factors.transposed ? Extent{file.cols, file.rows} : file;
}

std::int64_t sum_length_of(const Matrix& matrix, const Factors& factors) {
  const Extent shape = shape_of(matrix, factors);
  return factors.left ? shape.cols : shape.rows;
}

StageDeclaration declaration_of(std::string text, const Matrix& matrix, const Factors& factors) {
  return {.text = std::move(text),
          .traits = {.work = {.operations_per_element = static_cast<double>(sum_length_of(matrix, factors)),
                              .halo_fraction = 0},
                     .nan = {.propagates = true}},
          .properties = {.is_complex_linear = !factors.mixes,
                         .product = factors.left ? Product::over_columns : Product::over_rows,
                         .runs_on_device = true,
                         .device_kernels = DeviceKernels::exact_products,
                         .resident_bytes = matrix.memory.size(),
                         .handles_nodata = true}};
}

class GemmStage final : public Stage {
 public:
  /// `device`: the address of the matrix on the current device, for a stage to enqueue; else null.
  GemmStage(std::string text, MatrixPtr matrix, Factors factors, std::byte* device = nullptr)
      : Stage(declaration_of(std::move(text), *matrix, factors)),
        matrix_(std::move(matrix)),
        factors_(factors),
        device_(device) {}

  ValueRange result_range(const ValueRange&) const override { return {}; }
  ImageSpec output_spec(const ImageSpec& input) const override {
    const Extent image = input.extent;
    const std::int64_t mixed = factors_.mixes ? input.channels : 1;
    const std::int64_t length = (factors_.left ? image.rows : image.cols) * mixed;
    if (length != sum_length()) fail_to_fit(input);
    ImageSpec output = input;
    if (factors_.mixes) output.channels = 1;
    output.extent = factors_.left ? Extent{shape().rows, image.cols} : Extent{image.rows, shape().cols};
    return output;
  }

  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    if (factors_.left) return {0, output.col, input.extent.rows, output.cols};
    return {output.row, 0, output.rows, input.extent.cols};
  }

  /// (A B)^T = B^T A^T: the other side, and the matrix transposed. The handling of channels stays.
  StagePtr transposed() const override {
    return std::make_shared<GemmStage>(toggle_suffix(text(), " (transposed)"), matrix_,
                                       Factors{!factors_.left, !factors_.transposed, factors_.mixes});
  }

  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override {
    if (scratch == Scratch::device) return 0;
    return exact_gemm_scratch_bytes(output, factors_.mixes ? 1 : input.channels, sum_length(), arithmetic);
  }

  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker) const override {
    const Operands operands = operands_for(in, out, matrix_->memory.data());
    exact_gemm_host(operands.x, operands.y, out.pixels, arithmetic, worker);
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    const Operands operands = operands_for(in, out, matrix_->memory.data());
    exact_gemm_reference(operands.x, operands.y, out.pixels, arithmetic);
  }

  StagePtr on_device(std::byte* memory, DeviceStream stream) const override {
    const std::int64_t row_bytes = matrix_->spec.row_bytes();
    copy_rows(memory, row_bytes, matrix_->memory.data(), row_bytes, row_bytes, matrix_->spec.extent.rows,
              stream);
    return std::make_shared<GemmStage>(text(), matrix_, factors_, memory);
  }

  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena&, DeviceStream stream,
               const Epilogue& epilogue) const override {
    if (device_ == nullptr)
      throw DeviceError(fmt::format(
          "the matrix of stage '{}' is not on the GPU; enqueue what on_device() returns", text()));
    const Operands operands = operands_for(in, out, device_);
    exact_gemm_device(operands.x, operands.y, out.pixels, arithmetic, stream, epilogue.ops);
  }

 private:
  struct Operands {
    ExactOperand x, y;
  };

  Extent shape() const { return shape_of(*matrix_, factors_); }
  std::int64_t sum_length() const { return sum_length_of(*matrix_, factors_); }

  /// The operands of out.rect: a part of the image, and a part of the matrix, whose elements begin at `data`.
  Operands operands_for(const ConstRegion& in, const Region& out, std::byte* data) const {
    const ImageSpec input{in.image, in.pixels.channels, in.pixels.type};
    const ExactOperand image{in.crop(input_for(out.rect, input)).pixels};
    Rect part = factors_.left ? Rect{out.rect.row, 0, out.rect.rows, shape().cols}
                              : Rect{0, out.rect.col, shape().rows, out.rect.cols};
    if (factors_.transposed) part = {part.col, part.row, part.cols, part.rows};
    const ExactOperand matrix{dense_view(data, matrix_->spec).crop(part), factors_.transposed};
    return factors_.left ? Operands{matrix, image} : Operands{image, matrix};
  }

  [[noreturn]] void fail_to_fit(const ImageSpec& input) const {
    const Extent file = matrix_->spec.extent;
    const std::string channels = input.channels == 1 ? "" : fmt::format(" of {} channels", input.channels);
    throw InvalidArgument(fmt::format(
        "stage '{}' has a matrix of {} rows x {} columns, which does not fit an image of {} rows x {} "
        "columns{}: give a matrix of {} {}",
        text(), file.rows, file.cols, input.extent.rows, input.extent.cols, channels,
        (factors_.left ? input.extent.rows : input.extent.cols) * (factors_.mixes ? input.channels : 1),
        factors_.left != factors_.transposed ? "columns" : "rows"));
  }

  MatrixPtr matrix_;
  Factors factors_;
  std::byte* device_;
};

MatrixPtr read_matrix(const std::filesystem::path& file, const StageArguments& stage_args) {
  const auto reader = open_reader(file);
  const ImageSpec& spec = reader->spec();
  if (spec.channels != 1)
    stage_args.refuse(
        "file", fmt::format("it holds {} channels, or three dimensions; a matrix has two", spec.channels));
  if (!is_floating(spec.type))
    stage_args.refuse("file",
                      fmt::format("it holds {}; a matrix of f32 or f64 is needed", name_of(spec.type)));
  const std::int64_t free = free_memory_bytes();
  if (spec.bytes() > free) {
    throw OutOfMemory(fmt::format(
        "the matrix {} takes {} but {} of memory are free; multiply by a part of it at a time", file.string(),
        format_bytes(static_cast<double>(spec.bytes())), format_bytes(static_cast<double>(free))));
  }
  const auto matrix = std::make_shared<Matrix>(spec);
  SerialExecutor executor;
  reader->read(Rect::whole(spec.extent), dense_view(matrix->memory.data(), spec), executor);
  return matrix;
}

using Side = GemmStageOptions::Side;

Keys keys(GemmStageOptions& options) {
  return {
      {.name = "file",
       .value = &options.file,
       .words = "NPY or any image file of one channel: a matrix of f32 or f64",
       .needed = true},
      {.name = "side",
       .value = choice(options.side, {{"right", Side::right}, {"left", Side::left}}),
       .words = "right: image times matrix, for one channel. left: matrix times image, channel by channel"}};
}

StagePtr make(const GemmStageOptions& options, const StageArguments& stage_args) {
  const bool left = options.side == Side::left;
  return std::make_shared<GemmStage>(stage_args.text(), read_matrix(options.file, stage_args),
                                     Factors{.left = left, .mixes = !left});
}

constexpr StageKind<GemmStageOptions> kGemm{
    "gemm", "matrix product: image times matrix, over columns and channels, or matrix times image",
    "gemm:file=B.npy", keys, make};

}  // namespace

StagePtr gemm(const GemmStageOptions& options) { return kGemm(options); }
StageEntry GemmStageOptions::entry() { return kGemm.entry(); }

}  // namespace sepconv
