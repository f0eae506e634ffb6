#include "pipeline/stages/permutation_steps.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "pipeline/stages/permutation_stage.hpp"

namespace sepconv {
namespace {

void check_fills(std::int64_t part, std::int64_t cols, std::string_view what) {
  if (part < 1 || cols % part != 0)
    throw InvalidArgument(fmt::format("{} columns cannot be divided into {} {}", cols, part, what));
}

class InterleavedTranspose final : public PermutationStage {
 public:
  explicit InterleavedTranspose(std::int64_t matrices)
      : PermutationStage(fmt::format("transpose of {} matrices with interleaved rows", matrices)),
        matrices_(matrices) {}

  ImageSpec output_spec(const ImageSpec& input) const override {
    check_fills(matrices_, input.extent.cols, "matrices side by side");
    ImageSpec output = input;
    output.extent = {input.extent.cols, input.extent.rows};
    return output;
  }

  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    return {output.col, 0, output.cols, input.extent.cols};
  }

  /// Whole columns of the result.
  Extent transposed_item(const ImageSpec& input) const override { return {input.extent.cols, 1}; }

 protected:
  /// A round is one row of each matrix. Whole rounds are moved together; partial rounds at both ends
  /// separately.
  void move(const ConstRegion& in, const Region& out, const Transpose& transpose) const override {
    for (std::int64_t row = out.rect.row; row < out.rect.row_end();) {
      const std::int64_t left = out.rect.row_end() - row;
      const std::int64_t first = row % matrices_;
      const bool whole = first == 0 && left >= matrices_;
      const std::int64_t matrices = whole ? matrices_ : std::min(matrices_ - first, left);
      const std::int64_t rounds = whole ? left / matrices_ : 1;
      move_rounds(in, out.crop({row, out.rect.col, matrices * rounds, out.rect.cols}), matrices, rounds,
                  transpose);
      row += matrices * rounds;
    }
  }

 private:
  void move_rounds(const ConstRegion& in, const Region& out, std::int64_t matrices, std::int64_t rounds,
                   const Transpose& transpose) const {
    const std::int64_t matrix_cols = in.image.cols / matrices_;
    const std::int64_t pixel_bytes = out.pixels.pixel_bytes();
    const std::int64_t col = out.rect.row % matrices_ * matrix_cols + out.rect.row / matrices_;
    const ConstPixelView from =
        in.crop({out.rect.col, col, out.rect.cols, (matrices - 1) * matrix_cols + rounds}).pixels;
    transpose({matrices, out.rect.cols, rounds, pixel_bytes},
              {from.data, from.pitch_bytes, matrix_cols * pixel_bytes},
              {out.pixels.data, matrices * out.pixels.pitch_bytes, out.pixels.pitch_bytes});
  }

  std::int64_t matrices_;
};

class RunTranspose final : public PermutationStage {
 public:
  explicit RunTranspose(std::int64_t run)
      : PermutationStage(fmt::format("transpose of runs of {} pixels", run)), run_(run) {}

  ImageSpec output_spec(const ImageSpec& input) const override {
    check_fills(run_, input.extent.cols, "pixels each");
    ImageSpec output = input;
    output.extent = {input.extent.cols / run_, input.extent.rows * run_};
    return output;
  }

  Rect input_for(const Rect& output, const ImageSpec&) const override {
    const std::int64_t first = output.col / run_;
    const std::int64_t last = (output.col_end() - 1) / run_;
    const std::int64_t begin = first == last ? output.col % run_ : 0;
    const std::int64_t end = first == last ? begin + output.cols : run_;
    const std::int64_t col = output.row * run_ + begin;
    return {first, col, last + 1 - first, (output.row_end() - 1) * run_ + end - col};
  }

  Extent transposed_item(const ImageSpec&) const override { return {1, run_}; }

 protected:
  /// Moves a part of the first run, whole runs, and a part of the last run.
  void move(const ConstRegion& in, const Region& out, const Transpose& transpose) const override {
    const std::int64_t end = out.rect.col_end();
    for (std::int64_t col = out.rect.col; col < end;) {
      const std::int64_t left = end - col;
      const std::int64_t begin = col % run_;
      const std::int64_t runs = begin == 0 ? left / run_ : 0;
      const std::int64_t cols = runs > 0 ? runs * run_ : std::min(run_ - begin, left);
      move_runs(in, out.crop({out.rect.row, col, out.rect.rows, cols}), runs, transpose);
      col += cols;
    }
  }

 private:
  /// `out` is `runs` whole runs per row, or a part of one run if `runs` is 0.
  void move_runs(const ConstRegion& in, const Region& out, std::int64_t runs,
                 const Transpose& transpose) const {
    const std::int64_t rows = out.rect.rows;
    const std::int64_t pixel_bytes = out.pixels.pixel_bytes();
    const std::int64_t col = out.rect.row * run_ + out.rect.col % run_;
    const std::int64_t part_cols = runs > 0 ? run_ : out.rect.cols;
    const ConstPixelView from =
        in.crop({out.rect.col / run_, col, std::max<std::int64_t>(1, runs), (rows - 1) * run_ + part_cols})
            .pixels;
    if (runs > 0) {
      return transpose({1, runs, rows, run_ * pixel_bytes}, {from.data, from.pitch_bytes, 0},
                       {out.pixels.data, out.pixels.pitch_bytes, 0});
    }
    const std::int64_t part_bytes = part_cols * pixel_bytes;
    transpose({rows, 1, 1, part_bytes}, {from.data, from.pitch_bytes, run_ * pixel_bytes},
              {out.pixels.data, part_bytes, out.pixels.pitch_bytes});
  }

  std::int64_t run_;
};

void check_positive(std::int64_t number, std::string_view what) {
  if (number < 1)
    throw InvalidArgument(fmt::format("{} {} cannot be transposed; give 1 or more", number, what));
}

}  // namespace

StagePtr make_interleaved_transpose(std::int64_t matrices) {
  check_positive(matrices, "matrices");
  return std::make_shared<InterleavedTranspose>(matrices);
}

StagePtr make_run_transpose(std::int64_t run_cols) {
  check_positive(run_cols, "columns of a run");
  return std::make_shared<RunTranspose>(run_cols);
}

}  // namespace sepconv
