#include "sepconv/pipeline/timeline.hpp"
