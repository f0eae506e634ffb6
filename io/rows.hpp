// Readers and writers from a caller's own callbacks: rows from and to anywhere, without a file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "io/reader.hpp"
#include "io/writer.hpp"

namespace sepconv {

/// Called with ascending, full-width groups of rows, each row once, from one thread at a time (not always the
/// same thread). Fills `out` (out.extent.rows rows from `first_row` on). An exception ends the run and
/// reaches the caller of run() unchanged.
using ReadRows = std::function<void(std::int64_t first_row, const PixelView& out)>;
/// Likewise for results. `rows` is valid during the call only.
using WriteRows = std::function<void(std::int64_t first_row, const ConstPixelView& rows)>;

/// These throw InvalidArgument for an image without pixels, and for a view that cannot be one.
std::unique_ptr<Reader> make_rows_reader(const ImageSpec& spec, ReadRows read_rows);
/// `on_finish`, when given, is called once after the last row.
std::unique_ptr<Writer> make_rows_writer(const ImageSpec& spec, WriteRows write_rows,
                                         std::function<void()> on_finish = {});

}  // namespace sepconv
