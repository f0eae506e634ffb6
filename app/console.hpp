// The standard streams as this program uses them: what is said on stderr may be lost, and is never a reason
// to fail.
#pragma once

#include <string_view>

namespace sepconv::app {

/// Gives descriptors 0 to 2 that the caller closed (`2>&-`) a place where reading and writing fail. Else the
/// next file opened would take their number, and messages would be written into an image. To be called
/// before anything is opened.
void reserve_standard_descriptors() noexcept;

/// In one write where stdio can. A stderr that is full or gone is ignored.
void write_to_stderr(std::string_view text) noexcept;

}  // namespace sepconv::app
