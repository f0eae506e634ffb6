// The manual: man pages of what commands, options, stages and keys declare.
#pragma once

#include <string>
#include <vector>

#include "cli11.hpp"

namespace sepconv::app {

struct ManualPage {
  std::string path;  ///< below a folder of manuals: "man1/sepconv-run.1"
  std::string text;  ///< in the macros of man(7)
};

/// sepconv(1), one for each command that help shows, and sepconv-stages(7).
std::vector<ManualPage> manual_pages(const CLI::App& program);

}  // namespace sepconv::app
