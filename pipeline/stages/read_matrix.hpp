// Small tables of numbers from files: taps and channel matrices.
#pragma once

#include <filesystem>
#include <vector>

namespace sepconv {

/// Rows of numbers, not necessarily of equal length.
using Table = std::vector<std::vector<double>>;

/// Reads a table from NPY (one or two dimensions, any of the pixel types) or from text: a row a line, numbers
/// parted by commas, semicolons or blanks, '#' begins a comment. Throws IoError, or InvalidArgument for a
/// word that is not a finite number.
Table read_table(const std::filesystem::path& path);

}  // namespace sepconv
