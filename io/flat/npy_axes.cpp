#include "io/flat/npy_axes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "core/error.hpp"

namespace sepconv {
namespace {

std::string_view guess_axes(std::span<const std::int64_t> shape, const std::string& subject) {
  switch (shape.size()) {
    case 0:
      throw IoError(subject + " is not an image; reshape it to (rows, cols) or (rows, cols, channels)");
    case 1:
      return "x";
    case 2:
      return "yx";
    case 3:
      if (shape[2] <= kMaxGuessedChannels) return "yxc";
      throw IoError(fmt::format(
          "{} may be one image of {} channels or {} images; say which with OpenOptions::axes yxc or zyx",
          subject, shape[2], shape[0]));
    default:
      throw IoError(subject + " has axes of unknown meaning; name them with OpenOptions::axes, like zyxc");
  }
}

void check_names(std::string_view names, std::size_t count, const std::string& subject) {
  const auto throw_invalid = [&](std::string_view reason) {
    throw InvalidArgument(
        fmt::format("OpenOptions::axes {} is invalid: {}; write a letter for each axis, like yx, yxc or tzyx",
                    names, reason));
  };
  for (const char letter : names) {
    if (letter < 'a' || letter > 'z') throw_invalid("its letters are not from a to z");
    if (std::ranges::count(names, letter) > 1) throw_invalid(fmt::format("{} is repeated", letter));
  }
  if (count > 1 && (names.find('y') == names.npos || names.find('x') == names.npos))
    throw_invalid("y, rows, and x, columns, must be among them");
  if (names.size() != count) throw IoError(fmt::format("{} does not have the axes {}", subject, names));
}

/// Strides of the axes in elements. Throws IoError if they overflow.
std::vector<std::int64_t> steps_of(std::span<const std::int64_t> shape, bool fortran_order,
                                   const std::string& subject) {
  std::vector<std::int64_t> steps(shape.size());
  constexpr std::int64_t kMax = std::int64_t{1} << 58;  // of 16 bytes each
  std::int64_t step = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t axis = fortran_order ? i : shape.size() - 1 - i;
    steps[axis] = step;
    if (shape[axis] > 0 && (__builtin_mul_overflow(step, shape[axis], &step) || step > kMax))
      throw IoError(fmt::format("{} cannot be; sides are at most {}", subject, kMaxSide));
  }
  return steps;
}

}  // namespace

NpyAxes npy_axes(std::span<const std::int64_t> shape, bool fortran_order, std::string_view names,
                 const std::filesystem::path& path) {
  const std::string subject =
      fmt::format("cannot read {}: an array of shape ({})", path.native(), fmt::join(shape, ", "));
  if (names.empty()) {
    names = guess_axes(shape, subject);
  } else {
    check_names(names, shape.size(), subject);
  }
  const std::vector<std::int64_t> steps = steps_of(shape, fortran_order, subject);
  NpyAxes axes{std::string(names), {1, 1}, 1, {}, {}};
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (names[i] == 'y') {
      axes.extent.rows = shape[i], axes.steps.row = steps[i];
    } else if (names[i] == 'x') {
      axes.extent.cols = shape[i], axes.steps.col = steps[i];
    } else if (names[i] == 'c' && i + 1 == shape.size()) {
      axes.channels = shape[i], axes.steps.channel = steps[i];
    } else {
      if (shape[i] < 1) throw IoError(subject + " has no images");
      axes.others.push_back({names[i], shape[i], steps[i]});
    }
  }
  if (shape.size() == 1) axes.steps.row = shape[0];
  return axes;
}

}  // namespace sepconv
