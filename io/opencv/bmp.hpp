// BMP files, decoded and encoded by OpenCV in a module of its own.
#pragma once

#include <optional>

#include "sepconv/io/file.hpp"
#include "sepconv/io/files.hpp"

namespace sepconv {

/// What OpenCV makes of a BMP, but for a fourth channel that the header does not call alpha; palettes and bits become what it expands them to.
struct BmpHeader {
  ImageSpec spec;
  std::string_view storage;  ///< "palette", "run lengths"; may be empty
  std::optional<Resolution> resolution;
};
/// Without OpenCV. Throws IoError: damaged or truncated header, a variant that is not read, a size that
/// OpenCV refuses.
BmpHeader read_bmp_header(const InputFile& file);

/// Reads the header only; the module is loaded at the first read.
std::unique_ptr<Reader> open_bmp(InputFile file);
/// Throws IoError when the module is missing.
std::unique_ptr<Writer> create_bmp(const std::filesystem::path& path, const ImageSpec& spec,
                                   const CreateOptions& options);

}  // namespace sepconv
