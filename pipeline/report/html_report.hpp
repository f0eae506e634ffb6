// The report of a run as one self-contained HTML page, drawn by report.html from the run's JSON: no other
// file, no network.
#pragma once

#include <string>
#include <string_view>

#include "pipeline/report/report.hpp"

namespace sepconv {

class PreviewCollector;

/// The run's JSON (to_json()) with the key "pictures": the pictures of `previews`, which observed the run, or
/// the reason why none exist.
std::string with_pictures(std::string_view run_json, const RunReport& report,
                          const PreviewCollector& previews);

/// The page that shows this JSON. Throws IoError that says that `name` is not the JSON of a run, of this
/// version or an earlier one, and which key is missing or has another type. What an earlier one did not write
/// is left out of the page.
std::string to_html(std::string_view run_json, std::string_view name = "the text");

}  // namespace sepconv
