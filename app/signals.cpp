#include "signals.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "commands.hpp"
#include "console.hpp"
#include "core/error.hpp"
#include "core/start_thread.hpp"
#include "io/unfinished_paths.hpp"

namespace sepconv::app {

namespace {

using Clock = std::chrono::steady_clock;

/// Timeouts after the first signal, together less than a second. Computations detect a stop request within a
/// tenth of a second; a single call into a library can take longer.
constexpr std::chrono::milliseconds kStopTimeout{500}, kRemovalTimeout{400};

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

int checked_descriptor(int descriptor) {
  if (descriptor < 0)
    throw Error(fmt::format("signals cannot be watched: {}; raise the limit on open files (ulimit -n)",
                            std::strerror(errno)));
  return descriptor;
}

}  // namespace

SignalWatcher::SignalWatcher() {
  sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // nohup and background jobs of shells ignore signals on purpose. Blocking these signals would make them
    // arrive nevertheless.
    if (!is_ignored(signal)) sigaddset(&signals_, signal);
  }
  // A closed pipe and a file size limit must be reported as write errors. They must not end the process
  // before its clean-up.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

void SignalWatcher::start(std::function<std::string()> describe_leftovers) {
  describe_leftovers_ = std::move(describe_leftovers);
  signal_descriptor_ = checked_descriptor(signalfd(-1, &signals_, SFD_CLOEXEC));
  end_descriptor_ = checked_descriptor(eventfd(0, EFD_CLOEXEC));
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  thread_ = start_thread([this] { watch(); });
}

SignalWatcher::~SignalWatcher() {
  if (thread_.joinable()) {
    eventfd_write(end_descriptor_, 1);
    thread_.join();
  }
  if (signal_descriptor_ >= 0) close(signal_descriptor_);
  if (end_descriptor_ >= 0) close(end_descriptor_);
}

void SignalWatcher::watch() {
  std::optional<Clock::time_point> deadline;
  for (;;) {
    pollfd polled[] = {{signal_descriptor_, POLLIN, 0}, {end_descriptor_, POLLIN, 0}};
    const auto remaining =
        deadline ? std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count() : -1;
    if (poll(polled, 2, deadline ? std::max(0, static_cast<int>(remaining)) : -1) < 0)
      continue;  // EINTR: the process was stopped and continued
    if (polled[1].revents != 0) return;
    if (deadline && Clock::now() >= *deadline) force_exit();
    if (polled[0].revents == 0) continue;
    signalfd_siginfo received{};
    if (read(signal_descriptor_, &received, sizeof received) != sizeof received) continue;
    if (deadline) continue;
    deadline = Clock::now() + kStopTimeout;
    stop_.request_stop();
  }
}

void SignalWatcher::claim_final_message() {
  while (final_message_claimed_.test_and_set()) pause();
}

void SignalWatcher::force_exit() {
  const auto not_removed = unfinished_paths::remove_all(Clock::now() + kRemovalTimeout);
  if (final_message_claimed_.test_and_set()) _exit(kInterrupted);
  std::string message = "interrupted";
  if (const std::string leftovers = describe_leftovers_(); !leftovers.empty()) message += "; " + leftovers;
  if (!not_removed.empty())
    message += fmt::format(
        "; {} is not completely removed yet; the next command that writes the same result "
        "removes it",
        not_removed.front().native());
  print_error_nonblocking(message);
  _exit(kInterrupted);
}

}  // namespace sepconv::app
