// Reads small tables of numbers from files: taps and channel matrices.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sepconv {

/// Rows of numbers, not necessarily of equal length.
using Table = std::vector<std::vector<double>>;

/// Reads a table from NPY (one or two dimensions, any pixel type) or from text: one row per line, numbers
/// separated by commas, semicolons or blanks; '#' begins a comment. Throws IoError, and InvalidArgument for a
/// token that is not a finite number.
Table read_table(const std::filesystem::path& path);

/// Rows in brackets: "[[1,2],[3,4]]". Throws InvalidArgument.
Table parse_table(const std::string& text);

}  // namespace sepconv
