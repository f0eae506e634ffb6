#include "sepconv/io/small_image.hpp"

#include <fmt/format.h>

#include <cstring>

#include "sepconv/core/error.hpp"
#include "sepconv/io/bmp/bmp.hpp"
#include "sepconv/io/byte_file.hpp"
#include "sepconv/io/jpeg/jpeg.hpp"
#include "sepconv/io/png/png.hpp"
#include "sepconv/io/pnm/pnm.hpp"

namespace sepconv {

std::string_view name_of(SmallFormat format) noexcept {
  constexpr std::string_view names[] = {"PNG", "JPEG", "PNM", "BMP"};
  return names[static_cast<std::size_t>(format)];
}

std::optional<SmallFormat> sniff_small_format(std::span<const std::byte> head) noexcept {
  const auto begins_with = [head](std::string_view magic) {
    return head.size() >= magic.size() && std::memcmp(head.data(), magic.data(), magic.size()) == 0;
  };
  if (begins_with("\x89PNG\r\n\x1A\n")) return SmallFormat::png;
  if (begins_with("\xFF\xD8\xFF")) return SmallFormat::jpeg;
  if (begins_with("BM")) return SmallFormat::bmp;
  const bool pnm =
      head.size() >= 3 && head[0] == std::byte{'P'} && head[1] >= std::byte{'1'} && head[1] <= std::byte{'6'};
  if (pnm && std::string_view(" \t\r\n#").find(std::to_integer<char>(head[2])) != std::string_view::npos)
    return SmallFormat::pnm;
  return std::nullopt;
}

std::int64_t image_count(const InputFile& file, SmallFormat format) {
  return format == SmallFormat::png ? images_of_png(file) : 1;
}

std::unique_ptr<Reader> open_image(InputFile file, SmallFormat format, std::optional<int> page) {
  switch (format) {
    case SmallFormat::png:
      return open_png(std::move(file), page);
    case SmallFormat::jpeg:
      return open_jpeg(std::move(file));
    case SmallFormat::pnm:
      return open_pnm(std::move(file));
    default:
      return open_bmp(std::move(file));
  }
}

std::unique_ptr<Writer> create_image(const std::filesystem::path& path, std::string_view ending,
                                     const ImageSpec& spec, const CreateOptions& options) {
  if (ending == ".png") return create_png(path, spec, options);
  if (ending == ".jpg" || ending == ".jpeg") return create_jpeg(path, spec, options);
  if (ending == ".ppm") return create_ppm(path, spec, options);
  if (ending == ".pgm") return create_pgm(path, spec, options);
  if (ending == ".bmp") return create_bmp(path, spec, options);
  throw InvalidArgument(fmt::format("no small format has the ending {}; choose .png or .jpg", ending));
}

}  // namespace sepconv
