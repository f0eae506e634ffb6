// For another GPU backend: docs/adding-a-backend.md.
#pragma once

#include "kernels/cuda/backend.hpp"
