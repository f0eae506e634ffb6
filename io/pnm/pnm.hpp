// PBM, PGM and PPM files, text and binary: https://netpbm.sourceforge.net/doc/pnm.html
#pragma once

#include "io/byte_file.hpp"
#include "io/formats.hpp"

namespace sepconv {

bool is_pnm(std::span<const std::byte> head) noexcept;

/// Reads the header. Values are scaled to the whole range of u8 or u16. Throws IoError for a damaged or
/// truncated file.
std::unique_ptr<Reader> open_pnm(InputFile file, const OpenOptions& options = {});
/// Writes a binary file: one channel if the name ends in .pgm, else three.
std::unique_ptr<Writer> create_pnm(const std::filesystem::path& path, const ImageSpec& spec,
                                   const CreateOptions& options);

}  // namespace sepconv
