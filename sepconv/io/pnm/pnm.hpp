// PBM, PGM and PPM files, text and binary: https://netpbm.sourceforge.net/doc/pnm.html
#pragma once

#include "sepconv/io/byte_file.hpp"
#include "sepconv/io/formats.hpp"

namespace sepconv {

/// Reads the header. Values are scaled to the whole range of u8 or u16. Throws IoError for a damaged or
/// truncated file.
std::unique_ptr<Reader> open_pnm(InputFile file);
/// Binary: one channel.
std::unique_ptr<Writer> create_pgm(const std::filesystem::path& path, const ImageSpec& spec,
                                   const CreateOptions& options);
/// Binary: three channels.
std::unique_ptr<Writer> create_ppm(const std::filesystem::path& path, const ImageSpec& spec,
                                   const CreateOptions& options);

}  // namespace sepconv
