#include "signals.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>

#include "commands.hpp"
#include "sepconv/core/error.hpp"
#include "sepconv/core/start_thread.hpp"

namespace sepconv::app {

namespace {

/// A stop takes a fraction of a second; whoever asks again after this long wants out, temporary file or not.
constexpr std::chrono::seconds kPatience{3};

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

int checked(int descriptor) {
  if (descriptor < 0)
    throw Error(fmt::format("signals cannot be watched: {}; raise the limit on open files (ulimit -n)",
                            std::strerror(errno)));
  return descriptor;
}

}  // namespace

SignalWatcher::SignalWatcher() {
  sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // nohup and shells' background jobs ignore signals on purpose; blocked ones would arrive all the same.
    if (!is_ignored(signal)) sigaddset(&signals_, signal);
  }
  // A reader of our output that goes away, and a limit on file sizes, are errors of a write, not the end of a
  // run and of its clean-up.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

void SignalWatcher::start() {
  arrivals_ = checked(signalfd(-1, &signals_, SFD_CLOEXEC));
  end_ = checked(eventfd(0, EFD_CLOEXEC));
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  thread_ = start_thread([this] { watch(); });
}

SignalWatcher::~SignalWatcher() {
  if (thread_.joinable()) {
    eventfd_write(end_, 1);
    thread_.join();
  }
  if (arrivals_ >= 0) close(arrivals_);
  if (end_ >= 0) close(end_);
}

void SignalWatcher::watch() {
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> first;
  for (;;) {
    pollfd watched[] = {{arrivals_, POLLIN, 0}, {end_, POLLIN, 0}};
    if (poll(watched, 2, -1) < 0) continue;  // a stopped and continued program
    if (watched[1].revents != 0) return;
    signalfd_siginfo arrived{};
    if (read(arrivals_, &arrived, sizeof arrived) != sizeof arrived) continue;
    if (!first) {
      first = Clock::now();
      stop_.request_stop();
    } else if (Clock::now() - *first > kPatience) {
      _exit(kInterrupted);
    }
  }
}

}  // namespace sepconv::app
