// Helpers for tests on a GPU: skipping without a GPU, and images in device memory.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>

#include "core/memory.hpp"
#include "kernels/device/runtime.hpp"

/// Ends a test case if no GPU exists. CTest recognises the message (tests/CMakeLists.txt) and counts the test
/// as skipped.
#define SEPCONV_NEEDS_GPU()                  \
  do {                                       \
    if (::sepconv::list_devices().empty()) { \
      WARN("skipped: no GPU");               \
      return;                                \
    }                                        \
  } while (false)

namespace sepconv::test {

/// An image in memory of the current device with the extent, channels, type and pitch of a host image.
class DeviceImage {
 public:
  /// Copies the host's bytes, including the padding between rows.
  DeviceImage(const ConstPixelView& host, DeviceStream stream)
      : memory_(std::max<std::int64_t>(bytes_of(host), 1), device_resource()),
        view_{memory_.data(), host.extent, host.channels, host.type, host.pitch_bytes} {
    upload(host, stream);
  }

  PixelView view() const noexcept { return view_; }

  /// Copies all bytes in stream order; `host` has this image's layout.
  void upload(const ConstPixelView& host, DeviceStream stream) const {
    copy_rows(view_.data, 0, host.data, 0, bytes_of(view_), 1, stream);
  }
  /// Returns after the copy and all earlier work on the stream have finished.
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
