// Installs the simulated GPU when the extension module is loaded.
#include "simulated_gpu.hpp"

namespace {

[[maybe_unused]] const bool installed = [] {
  sepconv::install_device_backend(sepconv::simulated::gpu);
  return true;
}();

}  // namespace
