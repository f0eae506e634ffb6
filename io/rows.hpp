// Readers and writers from a caller's own callbacks and memory: the ways into run() without a file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "sepconv/io/reader.hpp"
#include "sepconv/io/writer.hpp"

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

/// What a caller promises of its memory.
enum class HostMemory : std::uint8_t {
  pageable,
  page_locked,  ///< from cudaHostAlloc, cudaHostRegister or pinned_resource(): devices copy from and to it; only short rows of panels of products are gathered first
};

/// Views of a caller's image, which must outlive the reader or writer. Any rectangle, any order.
std::unique_ptr<Reader> make_memory_reader(const ConstPixelView& image, HostMemory memory = HostMemory::pageable);
std::unique_ptr<Writer> make_memory_writer(const PixelView& image, HostMemory memory = HostMemory::pageable);

}  // namespace sepconv
