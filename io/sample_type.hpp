// The types of elements that files have, of which the pixel types are five. What is not one of those is read
// as the pixel type that holds all its values, and a result becomes it again when it is stored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/image.hpp"

namespace sepconv {

struct SampleType {
  enum class Kind : std::uint8_t { boolean, natural, integer, floating, complex };

  Kind kind = Kind::natural;
  int bits = 8;  ///< of an element; of a complex one both parts

  constexpr SampleType(Kind stored_kind, int stored_bits) noexcept : kind(stored_kind), bits(stored_bits) {}
  /// The type as which a file stores pixels of this one without changing them.
  constexpr SampleType(PixelType type) noexcept
      : kind(is_floating(type)        ? Kind::floating
             : type == PixelType::i16 ? Kind::integer
                                      : Kind::natural),
        bits(static_cast<int>(8 * size_of(type))) {}

  constexpr bool is_complex() const noexcept { return kind == Kind::complex; }
  /// Channels of an image that an element is: a complex one is two, its real part first.
  constexpr std::int64_t parts() const noexcept { return is_complex() ? 2 : 1; }
  constexpr int bits_of_part() const noexcept { return is_complex() ? bits / 2 : bits; }
  /// Elements of a row follow each other without regard to bytes, the most significant bit first, and rows
  /// begin with a byte: TIFF's samples of odd widths.
  constexpr bool is_packed() const noexcept { return bits % 8 != 0; }

  /// What holds all values of an element or of its part. Of 64-bit integers f64 holds those that it has a
  /// number for; others are an error when they are read.
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
  /// Whether elements are pixels as they are.
  constexpr bool is_pixels() const noexcept { return *this == SampleType(pixels()); }

  /// Bytes of `count` elements one behind the other.
  constexpr std::int64_t bytes_of(std::int64_t count) const noexcept {
    return is_packed() ? (count * bits + 7) / 8 : count * (bits / 8);
  }

  friend constexpr bool operator==(const SampleType&, const SampleType&) noexcept = default;
};

/// An image as a file has it: channels and type are those of its elements.
struct SampleSpec {
  Extent extent;
  std::int64_t channels = 1;
  SampleType type = PixelType::u8;

  SampleSpec() = default;
  SampleSpec(Extent image, std::int64_t elements, SampleType element)
      : extent(image), channels(elements), type(element) {}
  /// Pixels that are stored as they are, or as `stored`; packed elements, which no result has, count as what
  /// holds them.
  SampleSpec(const ImageSpec& spec, const std::optional<SampleType>& stored = {})
      : extent(spec.extent), type(stored && !stored->is_packed() ? *stored : SampleType(spec.type)) {
    channels = spec.channels / type.parts();
  }
};

/// "u8", "i32", "f16", "u12", "bool", "complex64".
std::string name_of(SampleType type);

/// "u8", or with what it is computed as: "i32, computed as f64", "complex64, computed as two channels of
/// f32".
std::string describe(SampleType type);

}  // namespace sepconv
