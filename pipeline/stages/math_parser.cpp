#include "pipeline/stages/math_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <string>

#include "core/error.hpp"
#include "core/printable.hpp"

namespace sepconv {
namespace {

using ProgramOp = PixelInstruction::Op;

struct Symbol {
  std::string_view text;
  ProgramOp op;
};
/// An operator that begins with another one comes before it.
constexpr Symbol kComparisons[] = {{">=", ProgramOp::greater_equal}, {"<=", ProgramOp::less_equal},
                                   {"==", ProgramOp::equal},         {"!=", ProgramOp::not_equal},
                                   {">", ProgramOp::greater},        {"<", ProgramOp::less}};
constexpr Symbol kSums[] = {{"+", ProgramOp::add}, {"-", ProgramOp::subtract}};
constexpr Symbol kProducts[] = {{"*", ProgramOp::multiply}, {"/", ProgramOp::divide}};
constexpr Symbol kFunctions[] = {{"abs", ProgramOp::absolute}, {"sqrt", ProgramOp::square_root},
                                 {"isnan", ProgramOp::is_nan}, {"min", ProgramOp::minimum},
                                 {"max", ProgramOp::maximum},  {"where", ProgramOp::select}};

/// Parentheses and signs within one another; bounds the recursion.
constexpr int kMaxNesting = 100;
constexpr std::int64_t kMaxChannel = 65536;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  PixelProgram parse() {
    comparison();
    if (skip_spaces(); at_ < text_.size()) fail("an operator or the end is expected");
    check_program(program_);
    return std::move(program_);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    const std::string rest(text_.substr(std::min(at_, text_.size())));
    throw InvalidArgument(
        fmt::format("{} at character {}, at '{}'", what, at_ + 1, printable(shortened(rest, 16))));
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool take(std::string_view word) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  void expect(std::string_view word) {
    if (!take(word)) fail(fmt::format("'{}' is expected", word));
  }

  void emit(ProgramOp op, double value = 0, std::int64_t channel = 0) {
    program_.instructions.push_back({op, value, channel});
  }

  template <class Operators, class Operand>
  void operations(const Operators& operators, const Operand& operand) {
    operand();
    for (bool is_found = true; is_found;) {
      const auto found =
          std::ranges::find_if(operators, [this](const Symbol& one) { return take(one.text); });
      is_found = found != std::end(operators);
      if (!is_found) break;
      operand();
      emit(found->op);
    }
  }

  void comparison() {
    operations(kComparisons, [this] { sum(); });
  }
  void sum() {
    operations(kSums, [this] { operations(kProducts, [this] { factor(); }); });
  }

  void factor() {
    if (++nesting_ > kMaxNesting) fail("the expression is nested too deeply");
    if (take("-")) {
      factor();
      emit(ProgramOp::negate);
    } else if (take("+")) {
      factor();
    } else if (take("(")) {
      comparison();
      expect(")");
    } else {
      operand();
    }
    --nesting_;
  }

  void operand() {
    skip_spaces();
    const char first = at_ < text_.size() ? text_[at_] : '\0';
    if (std::isdigit(static_cast<unsigned char>(first)) != 0 || first == '.') return number();
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (name == "x") {
      program_.is_per_channel = true;
      return emit(ProgramOp::self);
    }
    if (name == "nan") return emit(ProgramOp::constant, std::numeric_limits<double>::quiet_NaN());
    if (name == "inf") return emit(ProgramOp::constant, std::numeric_limits<double>::infinity());
    std::int64_t channel = 0;
    if (name.starts_with('b')) {
      const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), channel);
      if (error == std::errc() && end == name.data() + name.size() && channel >= 1 && channel <= kMaxChannel)
        return emit(ProgramOp::channel, 0, channel - 1);
    }
    const auto function = std::ranges::find(kFunctions, name, &Symbol::text);
    if (function != std::end(kFunctions)) return call(function->op);
    at_ = begin;
    fail("a number, x, b1 for the first channel, abs, sqrt, isnan, min, max or where is expected");
  }

  void number() {
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) fail("the number is too large or too small");
    if (error != std::errc()) fail("a number is expected");
    at_ = static_cast<std::size_t>(end - text_.data());
    emit(ProgramOp::constant, value);
  }

  void call(ProgramOp op) {
    const int operands = PixelInstruction{.op = op}.operands();
    expect("(");
    for (int i = 0; i < operands; ++i) {
      if (i > 0) expect(",");
      comparison();
    }
    expect(")");
    emit(op);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  PixelProgram program_;
};

}  // namespace

PixelProgram parse_math(std::string_view text) { return Parser(text).parse(); }

}  // namespace sepconv
