// What the parts of a report's page are made of. Private to pipeline/report.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "pipeline/report/html_report_drawings.hpp"
#include "pipeline/report/report.hpp"

namespace sepconv {

inline std::string section(std::string_view heading, std::string_view inside) {
  return fmt::format("<section><h2>{}</h2>\n{}</section>\n", heading, inside);
}

inline std::string paragraph(std::string_view text, std::string_view kind = "") {
  return fmt::format("<p{}>{}</p>\n", kind.empty() ? "" : fmt::format(" class=\"{}\"", kind),
                     html_text(text));
}

inline std::string figure(std::string_view inside, std::string_view caption) {
  return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", inside, html_text(caption));
}

/// Pictures of source and result with their histograms, or why there are none.
std::string pixels_section(const RunReport& report, const PreviewCollector* seen);

}  // namespace sepconv
