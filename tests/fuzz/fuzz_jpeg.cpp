// The JPEG decoder for GPUs, run here on a thread. It must accept only streams that libjpeg decodes without a
// warning, with the same pixels, and must accept all streams that libjpeg produced. The first byte selects a
// stream, or pixels that are encoded first and then damaged at positions given by four bytes; five bytes give
// the expected format.
#include <cstdint>
#include <cstdlib>

#include "../kernels/jpeg_case.hpp"

namespace {

using namespace sepconv;
using Bytes = std::vector<std::byte>;

void require(bool holds) {
  if (!holds) std::abort();
}

test::JpegEncoderSettings job_manifest(const std::uint8_t* head) {
  constexpr int kSamplings[][2] = {{1, 1}, {2, 1}, {2, 2}};
  test::JpegEncoderSettings made;
  const int components = (head[0] & 2) != 0 ? 1 : 3;
  made.is_ycbcr = components == 3 && (head[0] & 4) == 0;
  const auto& sampling = kSamplings[made.is_ycbcr ? head[3] % 3 : 0];
  made.geometry = {1 + head[1] % 64, 1 + head[2] % 64, components, sampling[0], sampling[1]};
  made.optimises = (head[0] & 8) != 0;
  made.is_baseline = (head[0] & 16) != 0;
  made.quality = 1 + head[4] % 100;
  made.restart_interval = head[5] % 32U;
  return made;
}

/// Whether the decoder accepts the stream.
bool check(const Bytes& stream, const test::JpegEncoderSettings& made) {
  const Bytes actual = test::decode_on_one_thread(stream, made);
  require(actual.empty() || actual == test::decode_with_libjpeg(stream, made));
  return !actual.empty();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kHead = 10;
  if (size <= kHead) return 0;
  const test::JpegEncoderSettings made = job_manifest(data);
  const auto* const begin = reinterpret_cast<const std::byte*>(data);
  const Bytes bytes(begin + kHead, begin + size);
  if ((data[0] & 1) != 0) {
    check(bytes, made);
    return 0;
  }
  Bytes pixels(test::jpeg_pixel_bytes(made.geometry));
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = bytes[i % bytes.size()];
  Bytes stream = test::jpeg_of(pixels, made);
  require(check(stream, made));
  for (std::size_t i = 6; i < kHead; i += 2)
    stream[data[i] * 7919U % std::min<std::size_t>(stream.size(), i == 6 ? 700 : 1 << 20)] ^=
        std::byte{data[i + 1]};
  check(stream, made);
  return 0;
}
