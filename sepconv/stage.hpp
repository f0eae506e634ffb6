// Headers for adding a stage: docs/adding-a-stage.md.
#pragma once

#include "kernels/pointwise/pointwise.hpp"
#include "pipeline/stages/expression.hpp"
#include "pipeline/stages/keys.hpp"
