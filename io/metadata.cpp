#include "sepconv/io/metadata.hpp"
