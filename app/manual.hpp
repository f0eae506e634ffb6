// Man pages, generated from the declared commands, options, stages and keys.
#pragma once

#include <string>
#include <vector>

#include "cli11.hpp"

namespace sepconv::app {

struct ManualPage {
  std::string path;  ///< relative to the folder of manuals: "man1/sepconv-run.1"
  std::string text;  ///< roff with the macros of man(7)
};

/// Returns the program's page, one for each command that help shows, and sepconv-stages(7) of a program with
/// the command stages.
std::vector<ManualPage> manual_pages(const CLI::App& program);

}  // namespace sepconv::app
