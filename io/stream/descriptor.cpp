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

constexpr int kLookMilliseconds = 50;  // how late a stop is seen
/// What a pipe may hold, if the system lets it: fewer switches between who writes and who reads.
constexpr int kPipeBytes = 1 << 20;
/// A pipe that can be written to takes so much without waiting, pipe(7).
constexpr std::size_t kAtOnceBytes = 4096;

bool is_pipe(int descriptor) { return fcntl(descriptor, F_GETPIPE_SZ) > 0; }

/// For what is not a pipe, or may not be so large, nothing changes.
void make_roomy(int descriptor) { fcntl(descriptor, F_SETPIPE_SZ, kPipeBytes); }

/// Until the descriptor is ready for `events` or has failed. Without a stop there is nothing else to wait
/// for.
void wait_for(int descriptor, short events, const std::stop_token& stop) {
  if (!stop.stop_possible()) return;
  for (;;) {
    if (stop.stop_requested()) throw Cancelled();
    pollfd one{descriptor, events, 0};
    if (poll(&one, 1, kLookMilliseconds) > 0) return;
  }
}

}  // namespace

ReadBytes bytes_from(int descriptor, const std::string& name, std::stop_token stop) {
  make_roomy(descriptor);
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
  make_roomy(descriptor);
  const std::size_t most = is_pipe(descriptor) && stop.stop_possible() ? kAtOnceBytes : SSIZE_MAX;
  return [descriptor, name, most, stop = std::move(stop)](std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      wait_for(descriptor, POLLOUT, stop);
      const ssize_t count = ::write(descriptor, bytes.data(), std::min(bytes.size(), most));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) throw_write_error(name, errno);
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  };
}

}  // namespace sepconv
