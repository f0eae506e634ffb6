#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.hpp"
#include "io/file_errors.hpp"
#include "io/stream/stream.hpp"

namespace sepconv {
namespace {

constexpr int kPollMilliseconds = 50;  // maximum delay of a stop
/// Requested capacity of a pipe, to reduce context switches between its writer and reader.
constexpr int kPipeBytes = 1 << 20;
/// A pipe that is ready for writing accepts this many bytes without blocking, pipe(7).
constexpr std::size_t kNonBlockingBytes = 4096;

bool is_pipe(int descriptor) { return fcntl(descriptor, F_GETPIPE_SZ) > 0; }

/// Has no effect on anything but a pipe, or if the capacity is not allowed.
void enlarge_pipe(int descriptor) { fcntl(descriptor, F_SETPIPE_SZ, kPipeBytes); }

/// Waits until the descriptor is ready for `events` or has failed. Returns immediately if no stop is
/// possible, as read() and write() block themselves.
void wait_for(int descriptor, short events, const std::stop_token& stop) {
  if (!stop.stop_possible()) return;
  for (;;) {
    if (stop.stop_requested()) throw Cancelled();
    pollfd entry{descriptor, events, 0};
    if (poll(&entry, 1, kPollMilliseconds) > 0) return;
  }
}

}  // namespace

ReadBytes bytes_from(int descriptor, const std::string& name, std::stop_token stop) {
  enlarge_pipe(descriptor);
  return [descriptor, name, stop = std::move(stop)](std::span<std::byte> bytes) -> std::size_t {
    for (;;) {
      wait_for(descriptor, POLLIN, stop);
      const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR)
        throw_read_error(name, fmt::format("{}; open it for reading", std::strerror(errno)), errno);
    }
  };
}

WriteBytes bytes_to(int descriptor, const std::string& name, std::stop_token stop) {
  enlarge_pipe(descriptor);
  const std::size_t max_bytes = is_pipe(descriptor) && stop.stop_possible() ? kNonBlockingBytes : SSIZE_MAX;
  return [descriptor, name, max_bytes, stop = std::move(stop)](std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      wait_for(descriptor, POLLOUT, stop);
      const ssize_t count = ::write(descriptor, bytes.data(), std::min(bytes.size(), max_bytes));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) throw_write_error(name, errno);
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  };
}

}  // namespace sepconv
