#include "pipeline/report/html_report_drawings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/byte_text.hpp"
#include "core/count_text.hpp"
#include "core/printable.hpp"

namespace sepconv {
namespace {

constexpr double kWidth = 1000;  // width of a drawing in its own units
constexpr double kLaneHeight = 26, kGap = 6;

std::string drawing(double height, std::string_view label, std::string_view inside,
                    std::string_view attributes = "") {
  return fmt::format(
      "<svg viewBox=\"0 0 {} {:g}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\"{}>{}</svg>",
      kWidth, height, html_text(label), attributes, inside);
}

/// Labels under a drawing: at its left end, its middle and its right end.
std::string axis_labels(std::string_view left, std::string_view middle, std::string_view right) {
  return fmt::format("<div class=\"axis\"><span>{}</span><span>{}</span><span>{}</span></div>",
                     html_text(left), html_text(middle), html_text(right));
}

std::string polyline(const std::vector<double>& values, double maximum, double height,
                     std::string_view css_class) {
  std::string points;
  const double step = kWidth / static_cast<double>(std::max<std::size_t>(1, values.size() - 1));
  for (std::size_t i = 0; i < values.size(); ++i)
    points +=
        fmt::format("{:.1f},{:.2f} ", static_cast<double>(i) * step, height * (1 - values[i] / maximum));
  return fmt::format("<polyline class=\"line {}\" points=\"{}\"/>", css_class, points);
}

std::string level_line(double y, std::string_view css_class) {
  return fmt::format("<line class=\"line {}\" x1=\"0\" x2=\"{}\" y1=\"{:.2f}\" y2=\"{:.2f}\"/>", css_class,
                     kWidth, y, y);
}

struct Block {
  double begin, end;
  std::int64_t band, bands;
};

/// A track's blocks in order of time. Among more than 1000 blocks, visually adjacent ones are merged.
std::vector<Block> blocks_of(const std::vector<Span>& spans, const std::string& track, double seconds) {
  constexpr std::size_t kMaxSeparate = 1000;
  std::vector<Block> blocks;
  for (const Span& span : spans) {
    if (span.track == track)
      blocks.push_back({span.begin, span.end, span.band, span.band == Span::kClosing ? 0 : span.bands});
  }
  std::ranges::sort(blocks, {}, &Block::begin);
  if (blocks.size() <= kMaxSeparate) return blocks;
  std::vector<Block> merged;
  const double max_gap = seconds / static_cast<double>(2 * kMaxSeparate);
  for (const Block& block : blocks) {
    if (!merged.empty() && block.begin - merged.back().end < max_gap &&
        block.end - merged.back().begin < 4 * max_gap) {
      Block& last = merged.back();
      last.end = std::max(last.end, block.end);
      if (last.bands == 0) last.band = block.band;
      last.bands += block.bands;
    } else {
      merged.push_back(block);
    }
  }
  return merged;
}

std::string block_text(const std::string& track, const Block& block) {
  const std::string bands = block.bands == 0   ? "closing the file"
                            : block.bands == 1 ? fmt::format("band {}", block.band)
                                               : fmt::format("{} bands from {} on", block.bands, block.band);
  return fmt::format("{}, {}: {:.4f} to {:.4f} s", track, bands, block.begin, block.end);
}

/// Maximum of the planned and the measured resident memory, in bytes.
double max_memory_bytes(const RunReport& report) {
  std::int64_t maximum = std::max(report.plan.memory.total(), report.peak_rss_bytes);
  for (const MemorySample& sample : report.timeline.memory()) maximum = std::max(maximum, sample.bytes);
  return static_cast<double>(maximum);
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string escaped;
  for (const char character : printable_lines(text)) {
    switch (character) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += character;
    }
  }
  return escaped;
}

std::string short_number(double value) {
  if (value == 0) return "0";
  if (std::abs(value) >= 1e4 && std::abs(value) < 1e6) return fmt::format("{:.0f}", value);
  return std::abs(value) < 1e6 && std::abs(value) >= 1e-3 ? fmt::format("{:.4g}", value)
                                                          : fmt::format("{:.3e}", value);
}

std::string timeline_drawing(const RunReport& report) {
  const double seconds = std::max(report.wall_seconds, 1e-9);
  const std::vector<Span> spans = report.timeline.spans();
  std::string lanes, names;
  double y = 0;
  for (const StepReport& step : report.steps) {
    lanes += fmt::format("<rect class=\"lane\" x=\"0\" y=\"{}\" width=\"{}\" height=\"{}\"/>", y, kWidth,
                         kLaneHeight);
    for (const Block& block : blocks_of(spans, step.name, seconds)) {
      lanes += fmt::format(
          "<rect class=\"{}{}\" x=\"{:.3f}\" y=\"{}\" width=\"{:.3f}\" "
          "height=\"{}\"><title>{}</title></rect>",
          step_of(step.name), block.band % 2 == 0 ? "" : " odd", kWidth * block.begin / seconds, y,
          kWidth * std::max(block.end - block.begin, seconds / 20000) / seconds, kLaneHeight,
          html_text(block_text(step.name, block)));
    }
    names += fmt::format("<span>{}</span>", html_text(step.name));
    y += kLaneHeight + kGap;
  }
  const std::string label = fmt::format(
      "Timeline of {:.3f} s, a lane each for {} steps; blocks are bands. With the keyboard: plus and minus "
      "zoom, arrows move, 0 shows all.",
      report.wall_seconds, report.steps.size());
  return fmt::format("<div class=\"lanes\"><div class=\"names\" aria-hidden=\"true\">{}</div>", names) +
         drawing(y, label, lanes,
                 fmt::format(" id=\"timeline\" tabindex=\"0\" data-seconds=\"{:.6f}\" style=\"height:{}px\"",
                             report.wall_seconds, y)) +
         axis_labels("0 s", "", fmt::format("{:.3f} s", report.wall_seconds)) + "</div>";
}

bool draws_ceiling(const RunReport& report) {
  return static_cast<double>(report.plan.max_memory_bytes) <= 4 * max_memory_bytes(report);
}

std::string memory_drawing(const RunReport& report) {
  constexpr double kHeight = 100;
  const auto ceiling = static_cast<double>(report.plan.max_memory_bytes);
  const auto planned = static_cast<double>(report.plan.memory.total());
  const std::vector<MemorySample> samples = report.timeline.memory();
  const double maximum =
      1.05 * (draws_ceiling(report) ? std::max(ceiling, max_memory_bytes(report)) : max_memory_bytes(report));
  const auto x = [&](double seconds) { return kWidth * seconds / std::max(report.wall_seconds, 1e-9); };
  std::string area = fmt::format("0,{} ", kHeight);
  double y = kHeight;
  for (const MemorySample& sample : samples) {
    y = kHeight * (1 - static_cast<double>(sample.bytes) / maximum);
    area += fmt::format("{:.1f},{:.2f} ", area.size() < 8 ? 0.0 : x(sample.seconds), y);
  }
  area += fmt::format("{0},{1:.2f} {0},{2}", kWidth, y, kHeight);
  const std::string label =
      fmt::format("Resident memory over time, below a ceiling of {}", format_bytes(ceiling));
  return drawing(kHeight, label,
                 fmt::format("<polygon class=\"area\" points=\"{}\"/>", area) +
                     (draws_ceiling(report) ? level_line(kHeight * (1 - ceiling / maximum), "ceiling") : "") +
                     level_line(kHeight * (1 - planned / maximum), "planned")) +
         axis_labels("0 s", "", fmt::format("{:.3f} s", report.wall_seconds));
}

std::string histogram_drawing(const Histogram& histogram, std::string_view of_what) {
  constexpr double kHeight = 100;
  constexpr const char* kGreyClass[] = {"value"};
  constexpr const char* kColourClasses[] = {"red", "green", "blue"};
  std::int64_t maximum = 1;
  // The end bins also count values outside the range and would dwarf the others.
  for (const auto& counts : histogram.counts) {
    const int skipped = histogram.ends_count_outliers && counts.size() > 2 ? 1 : 0;
    if (!counts.empty())
      maximum = std::max(maximum, *std::max_element(counts.begin() + skipped, counts.end() - skipped));
  }
  std::string inside;
  for (std::size_t channel = 0; channel < histogram.counts.size(); ++channel) {
    std::vector<double> values;
    for (const std::int64_t count : histogram.counts[channel])
      values.push_back(static_cast<double>(std::min(count, maximum)));
    inside += polyline(values, 1.02 * static_cast<double>(maximum), kHeight,
                       histogram.counts.size() == 1 ? kGreyClass[0] : kColourClasses[channel % 3]);
  }
  const std::string label = fmt::format("Histogram of the {} from {} to {}", of_what,
                                        short_number(histogram.low), short_number(histogram.high));
  return drawing(kHeight, label, inside) +
         axis_labels(short_number(histogram.low), "", short_number(histogram.high));
}

std::string taps_drawing(const ChainResponse& response) {
  const auto& [unavailable_reason, along_x, along_y] = response;
  const bool is_isotropic = response.is_isotropic();
  constexpr double kHeight = 120;
  double minimum = 0, maximum = 0;
  for (const LineResponse* line : {&along_x, &along_y}) {
    for (const double tap : line->taps) minimum = std::min(minimum, tap), maximum = std::max(maximum, tap);
  }
  const double range = maximum > minimum ? maximum - minimum : 1;
  const auto y = [&](double value) { return kHeight * (maximum - value) / range; };
  const std::size_t max_taps = std::max(along_x.taps.size(), along_y.taps.size());
  const double step = kWidth / static_cast<double>(max_taps);
  std::string inside;
  const auto bars = [&](const LineResponse& line, double from, std::string_view css_class) {
    const double left = (static_cast<double>(max_taps - line.taps.size()) / 2 + from) * step;
    for (std::size_t i = 0; i < line.taps.size(); ++i)
      inside += fmt::format(
          "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"><title>{}: "
          "{:.6g}</title></rect>",
          css_class, left + static_cast<double>(i) * step, y(std::max(line.taps[i], 0.0)),
          (is_isotropic ? 0.8 : 0.4) * step, kHeight * std::abs(line.taps[i]) / range,
          static_cast<std::int64_t>(i) - static_cast<std::int64_t>(line.taps.size() / 2), line.taps[i]);
  };
  bars(along_x, 0.1, "x");
  if (!is_isotropic) bars(along_y, 0.5, "y");
  inside += level_line(y(0), "zero");
  const auto reach = static_cast<std::int64_t>(max_taps / 2);
  return drawing(kHeight, "Taps along x and along y", inside) +
         axis_labels(fmt::format("-{}", reach),
                     fmt::format("from {} to {}", short_number(minimum), short_number(maximum)),
                     count_text(reach, "pixel"));
}

std::string frequencies_drawing(const ChainResponse& response) {
  const auto& [unavailable_reason, along_x, along_y] = response;
  constexpr double kHeight = 120;
  double maximum = 1;
  for (const LineResponse* line : {&along_x, &along_y})
    maximum = std::max(maximum, *std::ranges::max_element(line->magnitudes));
  std::string inside = level_line(kHeight * (1 - 1 / (1.05 * maximum)), "zero");
  inside += polyline(along_x.magnitudes, 1.05 * maximum, kHeight, "x");
  if (!response.is_isotropic()) inside += polyline(along_y.magnitudes, 1.05 * maximum, kHeight, "y");
  return drawing(kHeight, "Magnitude of the response by frequency, along x and along y", inside) +
         axis_labels("0", fmt::format("up to {} times", short_number(maximum)), "0.5 cycles per pixel");
}

}  // namespace sepconv
