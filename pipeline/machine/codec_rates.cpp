#include "pipeline/machine/codec_rates.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <span>

#include "core/executor.hpp"
#include "io/deflate/deflater.hpp"
#include "io/deflate/inflater.hpp"
#include "io/test_pattern.hpp"
#include "io/zstd/raster_coder.hpp"
#include "io/zstd/zstd_coder.hpp"

namespace sepconv {
namespace {

using Bytes = std::vector<std::byte>;

constexpr Extent kTile{512, 512};
constexpr deflate::MatchDistances kRaster{1, kTile.cols};

/// A tile of the natural test image after the horizontal difference predictor.
Bytes predicted_tile() {
  const ImageSpec spec{kTile, 1, PixelType::u8};
  Bytes tile(static_cast<std::size_t>(spec.bytes()));
  SerialExecutor executor;
  make_pattern_reader(spec, Pattern::natural, 1)
      ->read(Rect::whole(kTile), dense_view(tile.data(), spec), executor);
  for (std::int64_t row = 0; row < kTile.rows; ++row) {
    std::byte* const pixels = tile.data() + row * kTile.cols;
    for (std::int64_t col = kTile.cols - 1; col > 0; --col)
      pixels[col] =
          static_cast<std::byte>(std::to_integer<int>(pixels[col]) - std::to_integer<int>(pixels[col - 1]));
  }
  return tile;
}

/// Bytes per second of the fastest call of `work`; the calls are repeated for some milliseconds.
double rate_of(std::size_t bytes, const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::duration<double> kMinTotal{0.004};
  std::chrono::duration<double> best{1e9}, total{0};
  for (int rounds = 0; rounds < 3 || total < kMinTotal; ++rounds) {
    const auto begin = Clock::now();
    work();
    const std::chrono::duration<double> elapsed = Clock::now() - begin;
    best = std::min(best, elapsed), total += elapsed;
  }
  return static_cast<double>(bytes) / std::max(best.count(), 1e-9);
}

/// encode(out) returns the stream's size. decode(stream, out) decodes the stream kTimes times.
template <std::size_t kTimes = 1, class Encode, class Decode>
FileModel::Codec measured(std::string_view name, const Bytes& tile, const Encode& encode,
                          const Decode& decode) {
  Bytes stream(2 * tile.size()), out(kTimes * tile.size());
  std::int64_t size = 0;
  FileModel::Codec codec{name, 0, 0};
  codec.encode_rate = rate_of(tile.size(), [&] { size = encode(std::span(stream)); });
  stream.resize(static_cast<std::size_t>(size));
  codec.decode_rate =
      rate_of(out.size(), [&] { decode(std::span<const std::byte>(stream), std::span(out)); });
  return codec;
}

}  // namespace

std::vector<FileModel::Codec> measure_codecs() {
  const Bytes tile = predicted_tile();
  deflate::Deflater searching(6), fast(deflate::kFast);
  deflate::Inflater inflater, second_inflater;
  ZstdEncoder zstd_encoder(1);
  zstd::RasterCoder zstd_fast;
  ZstdDecoder zstd_decoder;
  const auto inflate = [&](auto stream, auto out) { inflater.decode(stream, out, out.size()); };
  const auto inflate_two = [&](auto stream, auto out) {  // as runs do where memory allows
    deflate::Inflater::decode_two({inflater, stream, out.first(tile.size())},
                                  {second_inflater, stream, out.subspan(tile.size())});
  };
  const auto unpack = [&](auto stream, auto out) { zstd_decoder.decode(stream, out); };
  std::vector<FileModel::Codec> codecs{
      measured(
          "deflate", tile, [&](auto out) { return searching.encode(tile, kRaster, out); }, inflate),
      measured<2>(
          "deflate:fast", tile, [&](auto out) { return fast.encode(tile, kRaster, out); }, inflate_two),
      measured(
          "zstd", tile, [&](auto out) { return zstd_encoder.encode(tile, out); }, unpack),
      measured(
          "zstd:fast", tile, [&](auto out) { return zstd_fast.encode(tile, kRaster, true, out); }, unpack)};
  codecs.front().encode_rate = 0;
  return codecs;
}

}  // namespace sepconv
