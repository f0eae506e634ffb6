// Headers for adding a GPU backend: docs/adding-a-backend.md.
#pragma once

#include "kernels/device/backend.hpp"
