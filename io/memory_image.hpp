// Readers and writers for an image in the caller's memory.
#pragma once

#include <cstdint>
#include <memory>

#include "io/reader.hpp"
#include "io/writer.hpp"

namespace sepconv {

/// Kind of the caller's memory.
enum class HostMemory : std::uint8_t {
  pageable,
  page_locked,  ///< from cudaHostAlloc, cudaHostRegister or pinned_resource(). Devices copy directly; only
                ///< short rows of panels of matrix products are gathered first
};

/// Views of the caller's image, which must outlive the reader or writer. Support any rectangle in any order.
/// Throw InvalidArgument for an invalid view.
std::unique_ptr<Reader> make_memory_reader(const ConstPixelView& image,
                                           HostMemory memory = HostMemory::pageable);
std::unique_ptr<Writer> make_memory_writer(const PixelView& image, HostMemory memory = HostMemory::pageable);

}  // namespace sepconv
