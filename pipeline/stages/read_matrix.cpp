#include "pipeline/stages/read_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error.hpp"
#include "core/memory.hpp"
#include "io/byte_file.hpp"
#include "io/formats.hpp"
#include "kernels/pointwise/pointwise.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kMaxBytes = 64 << 20;

/// A token of a file for an error message: shortened, with unprintable characters replaced.
std::string quotable(std::string token) {
  constexpr std::size_t kLength = 24;
  std::ranges::replace_if(
      token, [](unsigned char c) { return c < 0x20 || c > 0x7e; }, '?');
  return token.size() <= kLength ? token : token.substr(0, kLength) + "...";
}

double parse_number(const std::string& token, const std::filesystem::path& path, std::size_t line) {
  double value = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error != std::errc() || end != token.data() + token.size() || !std::isfinite(value)) {
    throw InvalidArgument(
        fmt::format("{} line {}: '{}' is not a finite number; a table is text with numbers, or NPY",
                    path.string(), line, quotable(token)));
  }
  return value;
}

Table read_text(const std::filesystem::path& path) {
  const InputFile file(path);
  if (file.size() > kMaxBytes)
    throw InvalidArgument(fmt::format("{} is too large for a table of numbers", path.string()));
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  file.read_at(0, std::as_writable_bytes(std::span(text)));
  Table table;
  std::istringstream lines(text);
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    line.erase(std::min(line.find('#'), line.size()));
    for (char& character : line) {
      if (character == ',' || character == ';') character = ' ';
    }
    std::istringstream tokens(line);
    std::vector<double> row;
    for (std::string token; tokens >> token;) row.push_back(parse_number(token, path, number));
    if (!row.empty()) table.push_back(std::move(row));
  }
  return table;
}

Table read_npy(const std::filesystem::path& path) {
  const auto reader = open_reader(path);
  const ImageSpec& spec = reader->spec();
  if (spec.channels != 1 || spec.bytes() > kMaxBytes) {
    throw InvalidArgument(
        fmt::format("{} is not a table of numbers: one or two dimensions are needed", path.string()));
  }
  Buffer pixels(spec.bytes());
  const PixelView view = dense_view(pixels.data(), spec);
  SerialExecutor executor;
  reader->read(Rect::whole(spec.extent), view, executor);
  Table table(static_cast<std::size_t>(spec.extent.rows),
              std::vector<double>(static_cast<std::size_t>(spec.extent.cols)));
  for (std::int64_t row = 0; row < spec.extent.rows; ++row) {
    const ConstPixelView from = view.crop({row, 0, 1, spec.extent.cols});
    std::vector<double>& to = table[static_cast<std::size_t>(row)];
    pointwise_reference({}, from, from, view_of(to.data(), from.extent), Arithmetic::f64);
    for (const double value : to) {
      if (!std::isfinite(value))
        throw InvalidArgument(fmt::format("{} row {} holds a number that is not finite", path.string(), row));
    }
  }
  return table;
}

}  // namespace

Table parse_table(const std::string& text) {
  using nlohmann::json;
  const json rows = json::parse(text, nullptr, false);
  const auto is_row = [](const json& row) {
    return row.is_array() && std::ranges::all_of(row, [](const json& value) {
             return value.is_number() && std::isfinite(value.get<double>());
           });
  };
  if (!rows.is_array() || !std::ranges::all_of(rows, is_row))
    throw InvalidArgument(
        fmt::format("'{}' is not rows of numbers; write it like [[1,2,1],[2,4,2],[1,2,1]]", quotable(text)));
  return rows.get<Table>();
}

Table read_table(const std::filesystem::path& path) {
  Table table = path.extension() == ".npy" ? read_npy(path) : read_text(path);
  if (table.empty()) throw InvalidArgument(fmt::format("{} holds no numbers", path.string()));
  return table;
}

}  // namespace sepconv
