#include "kernels/pointwise/pixel_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "kernels/simd/rows.hpp"

namespace sepconv {
namespace {

using Op = PixelInstruction::Op;

/// Pixels that an instruction of the host's implementation processes at a time.
constexpr std::int64_t kPixels = 128;

template <class A>
A unary(Op op, A a) {
  switch (op) {
    case Op::negate:
      return -a;
    case Op::absolute:
      return std::fabs(a);
    case Op::square_root:
      return std::sqrt(a);
    default:
      return a != a ? A(1) : A(0);
  }
}

template <class A>
A minimum(A a, A b) {
  return a != a ? a : b < a || b != b ? b : a;
}

template <class A>
A maximum(A a, A b) {
  return a != a ? a : b > a || b != b ? b : a;
}

template <class A>
A binary(Op op, A a, A b) {
  switch (op) {
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::multiply:
      return a * b;
    case Op::divide:
      return a / b;
    case Op::minimum:
      return minimum(a, b);
    case Op::maximum:
      return maximum(a, b);
    case Op::greater:
      return a > b ? A(1) : A(0);
    case Op::greater_equal:
      return a >= b ? A(1) : A(0);
    case Op::less:
      return a < b ? A(1) : A(0);
    case Op::less_equal:
      return a <= b ? A(1) : A(0);
    case Op::equal:
      return a == b ? A(1) : A(0);
    default:
      return a != b ? A(1) : A(0);
  }
}

void check(const PixelProgram& program, const ConstPixelView& in, const PixelView& out) {
  check_program(program);
  const std::int64_t kept = program.keeps_last_channel ? 1 : 0;
  const std::int64_t made = program.is_per_channel ? in.channels - kept : 1;
  if (in.extent != out.extent || out.channels != made + kept)
    throw InvalidArgument(
        "the images of a pixel program have other shapes; give equal extents, and the channels "
        "that the program makes");
  for (const PixelInstruction& one : program.instructions) {
    if (one.op == Op::channel && (one.channel < 0 || one.channel >= in.channels - kept))
      throw InvalidArgument(fmt::format("a pixel program uses channel {} of an image of {}", one.channel + 1,
                                        in.channels - kept));
  }
}

/// The stack of one pixel.
template <class A>
A evaluate(const PixelProgram& program, const A* pixel, std::int64_t self) {
  std::array<A, kMaxProgramDepth> stack{};
  A* top = stack.data();
  bool is_missing = false;
  const auto push_channel = [&](std::int64_t channel) {
    *top++ = pixel[channel];
    is_missing = is_missing || std::isnan(pixel[channel]);
  };
  for (const PixelInstruction& one : program.instructions) {
    const int operands = one.operands();
    if (one.op == Op::constant) {
      *top++ = static_cast<A>(one.value);
    } else if (operands == 0) {
      push_channel(one.op == Op::self ? self : one.channel);
    } else if (operands == 1) {
      top[-1] = unary(one.op, top[-1]);
    } else if (operands == 2) {
      --top;
      top[-1] = binary(one.op, top[-1], top[0]);
    } else {
      top -= 2;
      top[-1] = top[-1] != A(0) ? top[0] : top[1];
    }
  }
  const A result = stack[0];
  const bool is_nan = std::isnan(result) || (program.propagates_nodata && is_missing);
  return is_nan ? std::numeric_limits<A>::quiet_NaN() : result;
}

/// A stack of kPixels values per entry.
template <class A>
class Machine {
 public:
  using Values = std::array<A, kPixels>;

  /// `pixels`: kPixels pixels of `channels` channels.
  void run(const PixelProgram& program, const A* pixels, std::int64_t channels, std::int64_t self) {
    top_ = stack_.data();
    missing_.fill(0);
    for (const PixelInstruction& one : program.instructions) step(one, pixels, channels, self);
    Values& result = stack_[0];
    constexpr A kNaN = std::numeric_limits<A>::quiet_NaN();
    for (std::int64_t i = 0; i < kPixels; ++i) {
      const bool is_missing = program.propagates_nodata && missing_[i] != missing_[i];
      result[i] = result[i] != result[i] || is_missing ? kNaN : result[i];
    }
  }
  const Values& result() const noexcept { return stack_[0]; }

 private:
  void step(const PixelInstruction& one, const A* pixels, std::int64_t channels, std::int64_t self) {
    const int operands = one.operands();
    if (one.op == Op::constant) {
      (top_++)->fill(static_cast<A>(one.value));
    } else if (operands == 0) {
      const A* const from = pixels + (one.op == Op::self ? self : one.channel);
      Values& values = *top_++;
      for (std::int64_t i = 0; i < kPixels; ++i) values[i] = from[i * channels];
      for (std::int64_t i = 0; i < kPixels; ++i)
        missing_[i] = values[i] != values[i] ? values[i] : missing_[i];
    } else if (operands == 1) {
      apply_unary(one.op, top_[-1]);
    } else if (operands == 2) {
      --top_;
      apply_binary(one.op, top_[-1], top_[0]);
    } else {
      top_ -= 2;
      for (std::int64_t i = 0; i < kPixels; ++i) top_[-1][i] = top_[-1][i] != A(0) ? top_[0][i] : top_[1][i];
    }
  }

  /// The operation is chosen outside of the loop over pixels.
  template <class F>
  static void each(Values& a, const Values& b, const F& f) {
    for (std::int64_t i = 0; i < kPixels; ++i) a[i] = f(a[i], b[i]);
  }

  static void apply_unary(Op op, Values& a) {
    switch (op) {
      case Op::negate:
        return each(a, a, [](A x, A) { return -x; });
      case Op::absolute:
        return each(a, a, [](A x, A) { return std::fabs(x); });
      case Op::square_root:
        return each(a, a, [](A x, A) { return std::sqrt(x); });
      default:
        return each(a, a, [](A x, A) { return x != x ? A(1) : A(0); });
    }
  }

  static void apply_binary(Op op, Values& a, const Values& b) {
    switch (op) {
      case Op::add:
        return each(a, b, [](A x, A y) { return x + y; });
      case Op::subtract:
        return each(a, b, [](A x, A y) { return x - y; });
      case Op::multiply:
        return each(a, b, [](A x, A y) { return x * y; });
      case Op::divide:
        return each(a, b, [](A x, A y) { return x / y; });
      case Op::minimum:
        return each(a, b, [](A x, A y) { return minimum(x, y); });
      case Op::maximum:
        return each(a, b, [](A x, A y) { return maximum(x, y); });
      default:
        return each(a, b, [op](A x, A y) { return binary(op, x, y); });
    }
  }

  std::array<Values, kMaxProgramDepth> stack_;
  Values missing_;
  Values* top_ = nullptr;
};

}  // namespace

int PixelInstruction::operands() const noexcept {
  switch (op) {
    case Op::constant:
    case Op::channel:
    case Op::self:
      return 0;
    case Op::negate:
    case Op::absolute:
    case Op::square_root:
    case Op::is_nan:
      return 1;
    case Op::select:
      return 3;
    default:
      return 2;
  }
}

void check_program(const PixelProgram& program) {
  int depth = 0;
  for (const PixelInstruction& one : program.instructions) {
    depth -= one.operands();
    if (depth < 0) throw InvalidArgument("a pixel program takes a value from an empty stack");
    if (++depth > kMaxProgramDepth)
      throw InvalidArgument(
          fmt::format("a pixel program has more than {} values at a time; split it", kMaxProgramDepth));
  }
  if (depth != 1) throw InvalidArgument(fmt::format("a pixel program leaves {} values, not one", depth));
}

void pixel_program_host(const PixelProgram& program, const ConstPixelView& in, const PixelView& out,
                        Arithmetic arithmetic) {
  check(program, in, out);
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    const LoadRow<A> load = load_row_for<A>(in.type);
    const StoreRow<A> store = store_row_for<A>(out.type);
    const std::int64_t kept = program.keeps_last_channel ? 1 : 0;
    std::vector<A> from(static_cast<std::size_t>(kPixels * in.channels));
    std::vector<A> to(static_cast<std::size_t>(kPixels * out.channels));
    Machine<A> machine;
    for (std::int64_t row = 0; row < out.extent.rows; ++row) {
      for (std::int64_t col = 0; col < out.extent.cols; col += kPixels) {
        const std::int64_t cols = std::min(kPixels, out.extent.cols - col);
        load(in.row_data(row) + col * in.pixel_bytes(), cols * in.channels, from.data());
        for (std::int64_t channel = 0; channel < out.channels - kept; ++channel) {
          machine.run(program, from.data(), in.channels, channel);
          for (std::int64_t i = 0; i < cols; ++i)
            to[static_cast<std::size_t>(i * out.channels + channel)] = machine.result()[i];
        }
        for (std::int64_t i = 0; i < cols * kept; ++i)
          to[static_cast<std::size_t>((i + 1) * out.channels - 1)] =
              from[static_cast<std::size_t>((i + 1) * in.channels - 1)];
        store(to.data(), cols * out.channels, out.row_data(row) + col * out.pixel_bytes());
      }
    }
  });
}

void pixel_program_reference(const PixelProgram& program, const ConstPixelView& in, const PixelView& out,
                             Arithmetic arithmetic) {
  check(program, in, out);
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    std::vector<A> pixel(static_cast<std::size_t>(in.channels));
    for (std::int64_t row = 0; row < out.extent.rows; ++row) {
      for (std::int64_t col = 0; col < out.extent.cols; ++col) {
        visit_pixel_type(in.type, [&]<class T>(std::type_identity<T>) {
          for (std::int64_t c = 0; c < in.channels; ++c)
            pixel[static_cast<std::size_t>(c)] = to_arithmetic<A>(in.row<T>(row)[col * in.channels + c]);
        });
        for (std::int64_t c = 0; c < out.channels; ++c) {
          const bool is_kept = program.keeps_last_channel && c + 1 == out.channels;
          const A value = is_kept ? pixel.back() : evaluate(program, pixel.data(), c);
          visit_pixel_type(out.type, [&]<class T>(std::type_identity<T>) {
            out.row<T>(row)[col * out.channels + c] = to_pixel<T>(value);
          });
        }
      }
    }
  });
}

}  // namespace sepconv
