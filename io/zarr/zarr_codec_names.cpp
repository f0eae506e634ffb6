// Parses codecs from their names and settings in the metadata.
#include <algorithm>
#include <limits>

#include "io/zarr/zarr_codecs.hpp"
#include "io/zarr/zarr_json.hpp"

namespace sepconv {
namespace {

using Kind = ZarrCodec::Kind;

constexpr std::int64_t kMaxShuffledBytes = 255;

/// Parses the shuffle: a number in version 2, where -1 chooses by the element size, or a word in version 3.
int parse_shuffle(const JsonFile& file, const Json& settings, std::int64_t element_bytes) {
  if (!settings.contains("shuffle")) return 1;
  const Json& value = settings["shuffle"];
  if (value.is_string()) {
    const auto* const found = std::ranges::find(kShuffleWords, value.get<std::string>());
    if (found == std::end(kShuffleWords)) file.throw_damaged("shuffle");
    return static_cast<int>(found - kShuffleWords);
  }
  const std::int64_t number = file.integer(value, "shuffle", -1, 2);
  return static_cast<int>(number >= 0 ? number : element_bytes == 1 ? 2 : 1);
}

ZarrCodec parse_blosc(const JsonFile& file, const Json& settings, std::int64_t element_bytes) {
  constexpr const char* kInner[] = {"blosclz", "lz4", "lz4hc", "zlib", "zstd"};
  ZarrCodec codec{.kind = Kind::blosc};
  codec.blosc_codec = file.text(settings, "cname", "lz4");
  if (std::ranges::find(kInner, codec.blosc_codec) == std::end(kInner))
    file.throw_unsupported(fmt::format("blosc's codec {}", codec.blosc_codec.substr(0, 60)));
  codec.level = static_cast<int>(file.integer(settings, "clevel", 0, 9, 5));
  codec.blosc_shuffle = parse_shuffle(file, settings, element_bytes);
  codec.blosc_type_size = file.integer(settings, "typesize", 1, kMaxShuffledBytes, element_bytes);
  return codec;
}

/// LZ4 clamps the acceleration to 1 to 65537.
int parse_acceleration(const JsonFile& file, const Json& settings) {
  constexpr std::int64_t kMax = 65537;
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  return static_cast<int>(
      std::clamp<std::int64_t>(file.integer(settings, "acceleration", -kAny, kAny, 1), 1, kMax));
}

}  // namespace

ZarrCodec parse_zarr_codec(const JsonFile& file, const NamedJson& named, std::int64_t element_bytes) {
  const Json& settings = named.configuration;
  std::string_view name = named.name;
  constexpr std::string_view kNumcodecsPrefix = "numcodecs.";  // zarr-python's names of these in version 3
  if (name.starts_with(kNumcodecsPrefix) && name != "numcodecs.crc32c")
    name.remove_prefix(kNumcodecsPrefix.size());
  const auto with_level = [&](Kind kind, std::int64_t min, std::int64_t max, std::int64_t default_level) {
    return ZarrCodec{.kind = kind,
                     .level = static_cast<int>(file.integer(settings, "level", min, max, default_level))};
  };
  if (name == "blosc") return parse_blosc(file, settings, element_bytes);
  if (name == "zstd") {
    ZarrCodec codec = with_level(Kind::zstd, -131072, 22, 1);
    codec.checked = settings.is_object() && settings.value("checksum", Json()) == Json(true);
    return codec;
  }
  if (name == "gzip" || name == "zlib") {
    constexpr int kDefaultLevel = 6;  // zlib's choice for -1
    ZarrCodec codec = with_level(name == "gzip" ? Kind::gzip : Kind::zlib, -1, 9, 1);
    if (codec.level < 0) codec.level = kDefaultLevel;
    return codec;
  }
  if (name == "crc32c") return {.kind = Kind::crc32c};
  if (name == "lz4") return {.kind = Kind::lz4, .level = parse_acceleration(file, settings)};
  file.throw_unsupported(fmt::format("the codec {}", named.name.substr(0, 60)));
}

}  // namespace sepconv
