// Readers and writers that call functions of the caller instead of using a file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "io/reader.hpp"
#include "io/writer.hpp"

namespace sepconv {

/// Called with full-width groups of rows in ascending order, each row once, never concurrently (but not
/// always by the same thread). Fills `out` (out.extent.rows rows from `first_row` on). An exception ends the
/// run and reaches the caller of run() unchanged.
using ReadRows = std::function<void(std::int64_t first_row, const PixelView& out)>;
/// The same for results. `rows` is valid only during the call.
using WriteRows = std::function<void(std::int64_t first_row, const ConstPixelView& rows)>;

/// These functions throw InvalidArgument for an image without pixels or with an invalid shape, and for an
/// empty callback.
std::unique_ptr<Reader> make_rows_reader(const ImageSpec& spec, ReadRows read_rows);
/// `on_finish`, if set, is called once after the last row.
std::unique_ptr<Writer> make_rows_writer(const ImageSpec& spec, WriteRows write_rows,
                                         std::function<void()> on_finish = {});

}  // namespace sepconv
