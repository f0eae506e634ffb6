// math: an expression of the channels of each pixel.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/count_text.hpp"
#include "core/error.hpp"
#include "pipeline/chain/value_range.hpp"
#include "pipeline/stages/f32_range.hpp"
#include "pipeline/stages/keys.hpp"
#include "pipeline/stages/math_parser.hpp"
#include "pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

using Kind = PointwiseOp::Kind;
using ProgramOp = PixelInstruction::Op;

bool uses(const PixelProgram& program, ProgramOp op) {
  return std::ranges::find(program.instructions, op, &PixelInstruction::op) != program.instructions.end();
}

class MathStage final : public Stage {
 public:
  MathStage(std::string text, PixelProgram program)
      : Stage(
            {.text = std::move(text),
             .traits = {.work = {.operations_per_element = static_cast<double>(program.instructions.size())},
                        .nan = {.propagates = program.propagates_nodata}},
             .properties = {.is_per_pixel = true,
                            .needs_f64 = std::ranges::any_of(
                                program.instructions,
                                [](const auto& one) {
                                  return std::isfinite(one.value) && any_beyond_f32({&one.value, 1});
                                }),
                            .handles_nodata = true,
                            .mixes_channels = !program.is_per_channel,
                            .keeps_last_channel = program.keeps_last_channel}}),
        program_(std::move(program)) {}

  ImageSpec output_spec(const ImageSpec& input) const override {
    const std::int64_t kept = program_.keeps_last_channel ? 1 : 0;
    for (const PixelInstruction& one : program_.instructions) {
      if (one.op == ProgramOp::channel && one.channel >= input.channels - kept)
        throw InvalidArgument(fmt::format("stage 'math' uses b{}, and the image has {}; the last one is b{}",
                                          one.channel + 1, count_text(input.channels - kept, "channel"),
                                          input.channels - kept));
    }
    ImageSpec output = input;
    if (!program_.is_per_channel) output.channels = 1 + kept;
    return output;
  }

  ValueRange result_range(const ValueRange& input) const override {
    std::vector<ValueRange> stack;
    for (const PixelInstruction& one : program_.instructions) {
      const auto operands = stack.end() - one.operands();
      const ValueRange range = range_of(one, input, {operands, stack.end()});
      stack.erase(operands, stack.end());
      stack.push_back(range);
    }
    return stack.back();
  }

  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker&) const override {
    pixel_program_host(program_, in.crop(out.rect).pixels, out.pixels, arithmetic);
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    pixel_program_reference(program_, in.crop(out.rect).pixels, out.pixels, arithmetic);
  }

  StagePtr transposed() const override { return shared_from_this(); }

  /// An expression with isnan decides about missing pixels itself.
  StagePtr with_nodata() const override {
    PixelProgram program = program_;
    program.propagates_nodata = !uses(program, ProgramOp::is_nan);
    return std::make_shared<MathStage>(text(), std::move(program));
  }

  StagePtr with_mask_channel() const override {
    PixelProgram program = program_;
    program.keeps_last_channel = true;
    return std::make_shared<MathStage>(text(), std::move(program));
  }

 private:
  static ValueRange range_of(const PixelInstruction& one, const ValueRange& input,
                             const std::vector<ValueRange>& operands) {
    const auto combined = [&](Kind kind) {
      return sepconv::range_of({.kind = kind}, operands[0], operands.back());
    };
    switch (one.op) {
      case ProgramOp::constant:
        return {one.value, one.value};
      case ProgramOp::channel:
      case ProgramOp::self:
        return input;
      case ProgramOp::negate:
        return operands[0].scaled(-1);
      case ProgramOp::absolute:
        return combined(Kind::absolute);
      case ProgramOp::square_root:
        return {.low = 0, .high = std::max(1.0, operands[0].high)};
      case ProgramOp::add:
        return combined(Kind::sum);
      case ProgramOp::subtract:
        return combined(Kind::difference);
      case ProgramOp::multiply:
        return combined(Kind::product);
      case ProgramOp::divide:
        return combined(Kind::quotient);
      case ProgramOp::minimum:
        return combined(Kind::lesser);
      case ProgramOp::maximum:
        return combined(Kind::greater);
      case ProgramOp::select:
        return operands[1].include(operands[2]);
      default:
        return {0, 1};
    }
  }

  PixelProgram program_;
};

Keys keys(MathOptions& options) {
  return {{.name = "expr",
           .value = &options.expr,
           .words =
               "the expression; in brackets if it has a comma or an equals sign. b1, b2, ...: channels. x: "
               "each channel by itself. + - * / > >= < <= == != abs sqrt min max isnan "
               "where(condition, a, b), nan, inf",
           .needed = true}};
}

StagePtr make(const MathOptions& options, const StageArguments& stage_args) {
  std::string_view expr = options.expr;
  if (expr.starts_with('[') && expr.ends_with(']')) expr = expr.substr(1, expr.size() - 2);
  try {
    return std::make_shared<MathStage>(fmt::format("math:expr=[{}]", expr), parse_math(expr));
  } catch (const InvalidArgument& error) {
    stage_args.refuse("expr", error.what());
  }
}

constexpr StageKind<MathOptions> kMath{"math", "an expression of the channels of each pixel, as for an index",
                                       "math:expr=(x-20)*1.5", keys, make};

}  // namespace

StagePtr math(const MathOptions& options) { return kMath(options); }
StageEntry MathOptions::entry() { return kMath.entry(); }

}  // namespace sepconv
