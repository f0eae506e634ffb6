// Element types of files. Five of them are pixel types. Others are read as the pixel type that represents all
// their values, and converted back when a result is stored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/image.hpp"

namespace sepconv {

struct SampleType {
  enum class Kind : std::uint8_t { boolean, natural, integer, floating, complex };

  Kind kind = Kind::natural;
  int bits = 8;  ///< of an element; both parts of a complex element

  constexpr SampleType(Kind stored_kind, int stored_bits) noexcept : kind(stored_kind), bits(stored_bits) {}
  /// The element type that stores pixels of this type unchanged.
  constexpr SampleType(PixelType type) noexcept
      : kind(is_floating(type)        ? Kind::floating
             : type == PixelType::i16 ? Kind::integer
                                      : Kind::natural),
        bits(static_cast<int>(8 * size_of(type))) {}

  constexpr bool is_complex() const noexcept { return kind == Kind::complex; }
  /// Number of channels per element: two (real, imaginary) for a complex type, else one.
  constexpr std::int64_t parts() const noexcept { return is_complex() ? 2 : 1; }
  constexpr int bits_of_part() const noexcept { return is_complex() ? bits / 2 : bits; }
  /// Whether elements of a row are bit-packed, most significant bit first, with rows padded to whole bytes:
  /// TIFF's samples of odd widths.
  constexpr bool is_packed() const noexcept { return bits % 8 != 0; }

  /// The pixel type of an element or of its parts. f64 represents only some 64-bit integers; reading others
  /// is an error.
  constexpr PixelType pixels() const noexcept {
    const int width = bits_of_part();
    switch (kind) {
      case Kind::boolean:
        return PixelType::u8;
      case Kind::natural:
        return width <= 8 ? PixelType::u8 : width <= 16 ? PixelType::u16 : PixelType::f64;
      case Kind::integer:
        return width <= 16 ? PixelType::i16 : PixelType::f64;
      default:
        return width <= 32 ? PixelType::f32 : PixelType::f64;
    }
  }
  /// Whether elements are pixels without conversion.
  constexpr bool is_pixels() const noexcept { return *this == SampleType(pixels()); }

  /// Bytes of `count` consecutive elements.
  constexpr std::int64_t bytes_of(std::int64_t count) const noexcept {
    return is_packed() ? (count * bits + 7) / 8 : count * (bits / 8);
  }

  friend constexpr bool operator==(const SampleType&, const SampleType&) noexcept = default;
};

/// The shape of an image in a file: channels and type are those of its elements.
struct SampleSpec {
  Extent extent;
  std::int64_t channels = 1;
  SampleType type = PixelType::u8;

  SampleSpec() = default;
  SampleSpec(Extent image, std::int64_t elements, SampleType element)
      : extent(image), channels(elements), type(element) {}
  /// The spec of pixels that are stored unchanged, or as `stored`. Packed types, which results cannot have,
  /// count as their pixel type.
  SampleSpec(const ImageSpec& spec, const std::optional<SampleType>& stored = {})
      : extent(spec.extent), type(stored && !stored->is_packed() ? *stored : SampleType(spec.type)) {
    channels = spec.channels / type.parts();
  }
};

/// "u8", "i32", "f16", "u12", "bool", "complex64".
std::string name_of(SampleType type);

/// "u8", or with the pixel type: "i32, computed as f64", "complex64, computed as two channels of f32".
std::string describe(SampleType type);

}  // namespace sepconv
