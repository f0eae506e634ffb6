#include "pipeline/report/html_report_drawings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/byte_text.hpp"
#include "core/count_text.hpp"
#include "core/printable.hpp"

namespace sepconv {
namespace {

constexpr double kWide = 1000;  // units of a drawing, however wide it is shown
constexpr double kLane = 26, kGap = 6;

std::string drawing(double height, std::string_view label, std::string_view inside,
                    std::string_view more = "") {
  return fmt::format(
      "<svg viewBox=\"0 0 {} {:g}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\"{}>{}</svg>",
      kWide, height, html_text(label), more, inside);
}

/// What stands under a drawing from its left end to its right.
std::string under(std::string_view left, std::string_view middle, std::string_view right) {
  return fmt::format("<div class=\"axis\"><span>{}</span><span>{}</span><span>{}</span></div>",
                     html_text(left), html_text(middle), html_text(right));
}

std::string line_through(const std::vector<double>& values, double most, double height,
                         std::string_view kind) {
  std::string points;
  const double step = kWide / static_cast<double>(std::max<std::size_t>(1, values.size() - 1));
  for (std::size_t i = 0; i < values.size(); ++i)
    points += fmt::format("{:.1f},{:.2f} ", static_cast<double>(i) * step, height * (1 - values[i] / most));
  return fmt::format("<polyline class=\"line {}\" points=\"{}\"/>", kind, points);
}

std::string level_line(double y, std::string_view kind) {
  return fmt::format("<line class=\"line {}\" x1=\"0\" x2=\"{}\" y1=\"{:.2f}\" y2=\"{:.2f}\"/>", kind, kWide,
                     y, y);
}

struct Block {
  double begin, end;
  std::int64_t band, bands;
};

/// In the order of time; of thousands those that touch, as far as one can see, are one.
std::vector<Block> blocks_of(const std::vector<Span>& spans, const std::string& track, double seconds) {
  constexpr std::size_t kApart = 1000;
  std::vector<Block> blocks;
  for (const Span& span : spans) {
    if (span.track == track)
      blocks.push_back({span.begin, span.end, span.band, span.band == Span::kClosing ? 0 : span.bands});
  }
  std::ranges::sort(blocks, {}, &Block::begin);
  if (blocks.size() <= kApart) return blocks;
  std::vector<Block> joined;
  const double near = seconds / static_cast<double>(2 * kApart);
  for (const Block& block : blocks) {
    if (!joined.empty() && block.begin - joined.back().end < near &&
        block.end - joined.back().begin < 4 * near) {
      Block& last = joined.back();
      last.end = std::max(last.end, block.end);
      if (last.bands == 0) last.band = block.band;
      last.bands += block.bands;
    } else {
      joined.push_back(block);
    }
  }
  return joined;
}

std::string block_text(const std::string& track, const Block& block) {
  const std::string bands = block.bands == 0   ? "closing the file"
                            : block.bands == 1 ? fmt::format("band {}", block.band)
                                               : fmt::format("{} bands from {} on", block.bands, block.band);
  return fmt::format("{}, {}: {:.4f} to {:.4f} s", track, bands, block.begin, block.end);
}

/// Planned or seen.
double max_source_extent(const RunReport& report) {
  std::int64_t most = std::max(report.plan.memory.total(), report.peak_rss_bytes);
  for (const MemorySample& sample : report.timeline.memory()) most = std::max(most, sample.bytes);
  return static_cast<double>(most);
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string safe;
  for (const char letter : printable_lines(text)) {
    switch (letter) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += letter;
    }
  }
  return safe;
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
    lanes +=
        fmt::format("<rect class=\"lane\" x=\"0\" y=\"{}\" width=\"{}\" height=\"{}\"/>", y, kWide, kLane);
    for (const Block& block : blocks_of(spans, step.name, seconds)) {
      lanes += fmt::format(
          "<rect class=\"{}{}\" x=\"{:.3f}\" y=\"{}\" width=\"{:.3f}\" "
          "height=\"{}\"><title>{}</title></rect>",
          step_of(step.name), block.band % 2 == 0 ? "" : " odd", kWide * block.begin / seconds, y,
          kWide * std::max(block.end - block.begin, seconds / 20000) / seconds, kLane,
          html_text(block_text(step.name, block)));
    }
    names += fmt::format("<span>{}</span>", html_text(step.name));
    y += kLane + kGap;
  }
  const std::string label = fmt::format(
      "Timeline of {:.3f} s, a lane each for {} steps; blocks are bands. With the keyboard: plus and minus "
      "zoom, arrows move, 0 shows all.",
      report.wall_seconds, report.steps.size());
  return fmt::format("<div class=\"lanes\"><div class=\"names\" aria-hidden=\"true\">{}</div>", names) +
         drawing(y, label, lanes,
                 fmt::format(" id=\"timeline\" tabindex=\"0\" data-seconds=\"{:.6f}\" style=\"height:{}px\"",
                             report.wall_seconds, y)) +
         under("0 s", "", fmt::format("{:.3f} s", report.wall_seconds)) + "</div>";
}

bool draws_ceiling(const RunReport& report) {
  return static_cast<double>(report.plan.max_memory_bytes) <= 4 * max_source_extent(report);
}

std::string memory_drawing(const RunReport& report) {
  constexpr double kHigh = 100;
  const auto ceiling = static_cast<double>(report.plan.max_memory_bytes);
  const auto planned = static_cast<double>(report.plan.memory.total());
  const std::vector<MemorySample> samples = report.timeline.memory();
  const double most = 1.05 * (draws_ceiling(report) ? std::max(ceiling, max_source_extent(report))
                                                    : max_source_extent(report));
  const auto x = [&](double seconds) { return kWide * seconds / std::max(report.wall_seconds, 1e-9); };
  std::string area = fmt::format("0,{} ", kHigh);
  double y = kHigh;
  for (const MemorySample& sample : samples) {
    y = kHigh * (1 - static_cast<double>(sample.bytes) / most);
    area += fmt::format("{:.1f},{:.2f} ", area.size() < 8 ? 0.0 : x(sample.seconds), y);
  }
  area += fmt::format("{0},{1:.2f} {0},{2}", kWide, y, kHigh);
  const std::string label =
      fmt::format("Resident memory over time, below a ceiling of {}", format_bytes(ceiling));
  return drawing(kHigh, label,
                 fmt::format("<polygon class=\"area\" points=\"{}\"/>", area) +
                     (draws_ceiling(report) ? level_line(kHigh * (1 - ceiling / most), "ceiling") : "") +
                     level_line(kHigh * (1 - planned / most), "planned")) +
         under("0 s", "", fmt::format("{:.3f} s", report.wall_seconds));
}

std::string histogram_drawing(const Histogram& histogram, std::string_view of_what) {
  constexpr double kHigh = 100;
  constexpr const char* kOne[] = {"value"};
  constexpr const char* kThree[] = {"red", "green", "blue"};
  std::int64_t most = 1;
  // Ends that also hold what lies beyond would press all others down.
  for (const auto& counts : histogram.counts) {
    const int left_out = histogram.ends_hold_others && counts.size() > 2 ? 1 : 0;
    if (!counts.empty())
      most = std::max(most, *std::max_element(counts.begin() + left_out, counts.end() - left_out));
  }
  std::string inside;
  for (std::size_t channel = 0; channel < histogram.counts.size(); ++channel) {
    std::vector<double> values;
    for (const std::int64_t count : histogram.counts[channel])
      values.push_back(static_cast<double>(std::min(count, most)));
    inside += line_through(values, 1.02 * static_cast<double>(most), kHigh,
                           histogram.counts.size() == 1 ? kOne[0] : kThree[channel % 3]);
  }
  const std::string label = fmt::format("Histogram of the {} from {} to {}", of_what,
                                        short_number(histogram.low), short_number(histogram.high));
  return drawing(kHigh, label, inside) + under(short_number(histogram.low), "", short_number(histogram.high));
}

std::string taps_drawing(const ChainResponse& response) {
  const auto& [why_not, along_x, along_y] = response;
  const bool one = response.same_along_both();
  constexpr double kHigh = 120;
  double least = 0, most = 0;
  for (const LineResponse* line : {&along_x, &along_y}) {
    for (const double tap : line->taps) least = std::min(least, tap), most = std::max(most, tap);
  }
  const double range = most > least ? most - least : 1;
  const auto y = [&](double value) { return kHigh * (most - value) / range; };
  const std::size_t longest = std::max(along_x.taps.size(), along_y.taps.size());
  const double step = kWide / static_cast<double>(longest);
  std::string inside;
  const auto bars = [&](const LineResponse& line, double from, std::string_view kind) {
    const double left = (static_cast<double>(longest - line.taps.size()) / 2 + from) * step;
    for (std::size_t i = 0; i < line.taps.size(); ++i)
      inside += fmt::format(
          "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"><title>{}: "
          "{:.6g}</title></rect>",
          kind, left + static_cast<double>(i) * step, y(std::max(line.taps[i], 0.0)),
          (one ? 0.8 : 0.4) * step, kHigh * std::abs(line.taps[i]) / range,
          static_cast<std::int64_t>(i) - static_cast<std::int64_t>(line.taps.size() / 2), line.taps[i]);
  };
  bars(along_x, 0.1, "x");
  if (!one) bars(along_y, 0.5, "y");
  inside += level_line(y(0), "zero");
  const auto reach = static_cast<std::int64_t>(longest / 2);
  return drawing(kHigh, "Taps along x and along y", inside) +
         under(fmt::format("-{}", reach),
               fmt::format("from {} to {}", short_number(least), short_number(most)),
               count_text(reach, "pixel"));
}

std::string frequencies_drawing(const ChainResponse& response) {
  const auto& [why_not, along_x, along_y] = response;
  constexpr double kHigh = 120;
  double most = 1;
  for (const LineResponse* line : {&along_x, &along_y})
    most = std::max(most, *std::ranges::max_element(line->magnitudes));
  std::string inside = level_line(kHigh * (1 - 1 / (1.05 * most)), "zero");
  inside += line_through(along_x.magnitudes, 1.05 * most, kHigh, "x");
  if (!response.same_along_both()) inside += line_through(along_y.magnitudes, 1.05 * most, kHigh, "y");
  return drawing(kHigh, "Magnitude of the response by frequency, along x and along y", inside) +
         under("0", fmt::format("up to {} times", short_number(most)), "1/2 cycle a pixel");
}

}  // namespace sepconv
