// What tests on a GPU share: they skip themselves where there is none, and they have images in its memory.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>

#include "core/memory.hpp"
#include "kernels/cuda/runtime.hpp"

/// Ends a test case where there is no GPU. CTest knows the line (tests/CMakeLists.txt) and counts the test as
/// skipped.
#define SEPCONV_NEEDS_GPU()                  \
  do {                                       \
    if (::sepconv::cuda_devices().empty()) { \
      WARN("skipped: no GPU");               \
      return;                                \
    }                                        \
  } while (false)

namespace sepconv::test {

/// An image in memory of the current device, laid out as a whole image on the host is: same extent, channels,
/// type and pitch.
class DeviceImage {
 public:
  /// Copies the host's bytes, those between the rows included.
  DeviceImage(const ConstPixelView& host, DeviceStream stream)
      : memory_(std::max<std::int64_t>(bytes_of(host), 1), device_resource()),
        view_{memory_.data(), host.extent, host.channels, host.type, host.pitch_bytes} {
    upload(host, stream);
  }

  PixelView view() const noexcept { return view_; }

  /// All bytes, in stream order; `host` has this image's layout.
  void upload(const ConstPixelView& host, DeviceStream stream) const {
    copy_rows(view_.data, 0, host.data, 0, bytes_of(view_), 1, stream);
  }
  /// Returns when the bytes have arrived and everything before on the stream is done.
  void download(const PixelView& host, const Stream& stream) const {
    copy_rows(host.data, 0, view_.data, 0, bytes_of(view_), 1, stream.get());
    stream.synchronize();
  }

 private:
  static std::int64_t bytes_of(const ConstPixelView& view) { return view.extent.rows * view.pitch_bytes; }

  Buffer memory_;
  PixelView view_;
};

}  // namespace sepconv::test
