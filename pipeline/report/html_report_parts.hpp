// HTML building blocks of a report page. Private to pipeline/report.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "pipeline/report/html_report_drawings.hpp"
#include "pipeline/report/report.hpp"

namespace sepconv {

inline std::string section(std::string_view heading, std::string_view content) {
  return fmt::format("<section><h2>{}</h2>\n{}</section>\n", heading, content);
}

inline std::string paragraph(std::string_view text, std::string_view css_class = "") {
  return fmt::format("<p{}>{}</p>\n", css_class.empty() ? "" : fmt::format(" class=\"{}\"", css_class),
                     html_text(text));
}

inline std::string figure(std::string_view content, std::string_view caption) {
  return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", content, html_text(caption));
}

/// Pictures of source and result with their histograms, or the reason why none exist.
std::string pixels_section(const RunReport& report, const PreviewCollector* previews);

}  // namespace sepconv
