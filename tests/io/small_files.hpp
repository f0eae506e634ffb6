// Opening PNG, JPEG, PNM and BMP files as the door to io/ does.
#pragma once

#include <array>
#include <memory>

#include "sepconv/core/error.hpp"
#include "sepconv/io/byte_file.hpp"
#include "sepconv/io/small_image.hpp"

namespace sepconv::small_files {

inline std::unique_ptr<Reader> open(const std::filesystem::path& path) {
  InputFile file(path);
  std::array<std::byte, 8> head{};
  file.read_some_at(0, head);
  const std::optional<SmallFormat> format = sniff_small_format(head);
  if (!format) throw IoError("cannot read " + path.native() + ": no small format");
  return open_image(std::move(file), *format);
}

}  // namespace sepconv::small_files
