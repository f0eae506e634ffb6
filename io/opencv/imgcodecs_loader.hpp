// Finding and loading the module that decodes and encodes BMP.
#pragma once

#include <filesystem>
#include <string>

#include "sepconv/io/opencv/imgcodecs_abi.h"

namespace sepconv {

/// The module's functions, valid until the process ends. Looks in the folder named by the environment
/// variable SEPCONV_MODULES (from / on; not heeded in a setuid program), in places relative to the program and to
/// this library, and where it was installed. A module that others than its user, root or the program's owner could
/// have put there is not loaded. Throws IoError, naming `path`, the file that needs it, and what brings the module.
const sepconv_imgcodecs& load_imgcodecs(const std::filesystem::path& path);

}  // namespace sepconv
