// Readers and writers of an image that a caller has in memory.
#pragma once

#include <cstdint>
#include <memory>

#include "io/reader.hpp"
#include "io/writer.hpp"

namespace sepconv {

/// What a caller promises of its memory.
enum class HostMemory : std::uint8_t {
  pageable,
  page_locked,  ///< from cudaHostAlloc, cudaHostRegister or pinned_resource(): devices copy from and to it;
                ///< only short rows of panels of products are gathered first
};

/// Views of a caller's image, which must outlive the reader or writer. Any rectangle, any order. Throw
/// InvalidArgument for a view that cannot be an image.
std::unique_ptr<Reader> make_memory_reader(const ConstPixelView& image,
                                           HostMemory memory = HostMemory::pageable);
std::unique_ptr<Writer> make_memory_writer(const PixelView& image, HostMemory memory = HostMemory::pageable);

}  // namespace sepconv
