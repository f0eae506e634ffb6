// Headers for adding a file format: docs/adding-a-format.md.
#pragma once

#include "io/buffered_image.hpp"
#include "io/byte_file.hpp"
#include "io/byte_stream.hpp"
#include "io/codec_guard.hpp"
#include "io/exif.hpp"
#include "io/flat/flat_image.hpp"
#include "io/formats.hpp"
#include "io/limited_executor.hpp"
#include "io/metadata.hpp"
#include "io/sample_conversion.hpp"
#include "io/stream/stream.hpp"
