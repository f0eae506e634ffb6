// TIFF and BigTIFF through libtiff, which decodes and encodes on as many threads as the executor has.
// docs/formats.md lists what is read and written.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "sepconv/io/formats.hpp"

namespace sepconv {

/// Whether a file that begins with these bytes (at least 4) is a TIFF or BigTIFF of either byte order.
bool is_tiff(std::span<const std::byte> head) noexcept;

/// Opens the directory that the options name, else the file's only image. Throws IoError: not a TIFF, no such
/// page, damaged, unsupported codec or pixel layout (and says which are supported).
std::unique_ptr<Reader> open_tiff(InputFile file, const OpenOptions& options = {});

/// See create_writer.
std::unique_ptr<Writer> create_tiff(const std::filesystem::path& path, const ImageSpec& spec,
                                    const CreateOptions& options);

/// Pages that cannot be read are listed with the reason, unless the options ask for one.
FileInfo describe_tiff(InputFile file, const OpenOptions& options);

}  // namespace sepconv
