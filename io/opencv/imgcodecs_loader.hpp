// Finding and loading the module that decodes and encodes small formats.
#pragma once

#include <filesystem>
#include <string>

#include "sepconv/io/opencv/imgcodecs_abi.h"

namespace sepconv {

/// The module's functions, valid until the process ends. Looks in the folder named by the environment
/// variable SEPCONV_MODULES, in places relative to the program and to this library, and where it was
/// installed. Throws IoError, naming `path`, the file that needs it, and what brings the module.
const sepconv_imgcodecs& load_imgcodecs(const std::filesystem::path& path);

}  // namespace sepconv
