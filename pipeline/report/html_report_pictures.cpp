// The pixels of source and result on a report's page.
#include <fmt/format.h>

#include "core/base64.hpp"
#include "core/count_text.hpp"
#include "pipeline/report/html_report_drawings.hpp"
#include "pipeline/report/html_report_parts.hpp"
#include "pipeline/report/preview_collector.hpp"

namespace sepconv {
namespace {

std::string size_text(Extent extent) { return fmt::format("{} x {}", extent.cols, extent.rows); }

std::string image(const std::string& data, std::string_view alt, std::string_view css_class = "") {
  return fmt::format("<img src=\"data:image/png;base64,{}\" alt=\"{}\"{}>", data, html_text(alt),
                     css_class.empty() ? "" : fmt::format(" class=\"{}\"", css_class));
}

/// An image of source or result as the page shows it.
struct EncodedPicture {
  std::string data;   // of a PNG
  std::string range;  // the values of black and white, as text
  Extent part;        // pixels of the image
};

EncodedPicture encode_picture(const SampledPixels& pixels, const Stretch& stretch) {
  std::string range =
      fmt::format("black is {}, white is {}", short_number(stretch.low), short_number(stretch.high));
  return {base64(png_of(pixels, stretch)), std::move(range), pixels.area().extent()};
}

struct Pictures {
  EncodedPicture source_all, result_all, source_detail, result_detail;
};

Pictures pictures_of(const PreviewCollector& previews) {
  const auto stretch = [](const SampledPixels& pixels) { return stretch_of(pixels.type(), pixels.values()); };
  const Stretch source = stretch(previews.source().overview), result = stretch(previews.result().overview);
  return {encode_picture(previews.source().overview, source),
          encode_picture(previews.result().overview, result),
          encode_picture(previews.source().detail, source), encode_picture(previews.result().detail, result)};
}

std::string side_by_side(const EncodedPicture& source, const EncodedPicture& result, std::string_view title,
                         bool for_print) {
  const auto captioned = [&](const EncodedPicture& side, std::string_view name) {
    return figure(image(side.data, fmt::format("{} of the {}", title, name)),
                  fmt::format("{}, {} pixels: {}", name, size_text(side.part), side.range));
  };
  return fmt::format("<div class=\"pair{}\">{}{}</div>\n", for_print ? " both" : "",
                     captioned(source, "source"), captioned(result, "result"));
}

std::string slider(const Pictures& pictures) {
  const EncodedPicture& result = pictures.result_detail;
  // The source picture is scaled to the size of the result picture.
  const std::string before = image(pictures.source_detail.data, "Detail of the source", "before");
  const std::string after = image(result.data, "Detail of the result", "after");
  return fmt::format(
             "<div style=\"max-width:{0}px\"><div class=\"slider\" "
             "style=\"width:100%;--shape:{0}/{1}\">{2}{3}<input type=\"range\" min=\"0\" max=\"100\" "
             "value=\"50\" step=\"1\" aria-label=\"How much of the picture is before\"></div>\n<div "
             "class=\"ends note\"><span>before</span><span>after</span></div></div>\n",
             result.part.cols, result.part.rows, before, after) +
         side_by_side(pictures.source_detail, result, "Detail", true);
}

std::string histogram(const SampledPixels& pixels, std::string_view name) {
  const Histogram statistics = histogram_of(pixels);
  const char* const nan_text = pixels.may_have_missing() ? "missing" : "not-a-number";
  std::string caption =
      fmt::format("{}: mean {}, deviation {}, from {} to {}, of {}", name, short_number(statistics.mean),
                  short_number(statistics.deviation), short_number(statistics.least),
                  short_number(statistics.most), count_text(statistics.samples, "sample"));
  if (statistics.nan_fraction > 0)
    caption += fmt::format("; {:.2g} % are {}, which pictures show as black", 100 * statistics.nan_fraction,
                           nan_text);
  if (statistics.nan_fraction == 1)
    return paragraph(fmt::format("All samples of the {} are {}.", name, nan_text));
  return figure(histogram_drawing(statistics, name), caption);
}

/// The plane and the image that pictures show; empty if the run has only one.
std::string part_text(const RunReport& report, const PreviewCollector& previews) {
  std::string text;
  if (previews.plane()) {
    const ImageSpec& source = report.plan.source();
    text = fmt::format(", of plane {} of {} along z", *previews.plane() + 1, source.extent.rows);
    if (source.extent.cols > report.plan.planes->source.area()) text += ", the first there";
  }
  return text + (report.rasters == 1 ? "" : ", of the first image");
}

}  // namespace

std::string pixels_section(const RunReport& report, const PreviewCollector* previews) {
  if (report.pixels < report.rasters * report.plan.region.area())
    return section("Pictures", paragraph("None: this run made a part of the result only."));
  if (previews == nullptr || !previews->source().overview.seen() || !previews->result().overview.seen())
    return section(
        "Pictures",
        paragraph("None: the pixels of this run did not pass through the host's memory, because a GPU "
                  "decoded or encoded the blocks of the file."));
  const Pictures pictures = pictures_of(*previews);
  std::string text;
  const std::string detail =
      previews->same_positions()
          ? slider(pictures)
          : side_by_side(pictures.source_detail, pictures.result_detail, "Detail", false);
  const std::string part = part_text(report, *previews);
  text +=
      section("Before and after", paragraph(fmt::format("{} pixels from the middle, at full resolution{}.",
                                                        size_text(pictures.result_detail.part), part)) +
                                      detail);
  text += section(part.empty() ? "All of it" : "All of it" + part,
                  side_by_side(pictures.source_all, pictures.result_all, "Overview", false));
  const std::int64_t shown_channel_count = previews->source().overview.channels();
  const std::int64_t channels = report.plan.source().channels;
  text +=
      section("Values" + part, (shown_channel_count == channels
                                    ? ""
                                    : paragraph(fmt::format("Of {} channels the first{}.", channels,
                                                            shown_channel_count == 1 ? "" : " three"),
                                                "note")) +
                                   "<div class=\"pair\">" + histogram(previews->source().overview, "source") +
                                   histogram(previews->result().overview, "result") + "</div>\n");
  return text;
}

}  // namespace sepconv
