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
constexpr std::chrono::milliseconds kForStop{500}, kForRemoval{400};

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
    // nohup and background jobs of shells ignore signals on purpose. Blocking these signals would make them
    // arrive nevertheless.
    if (!is_ignored(signal)) sigaddset(&signals_, signal);
  }
  // A closed pipe and a file size limit must be reported as write errors. They must not end the process
  // before its clean-up.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

void SignalWatcher::start(std::function<std::string()> left) {
  left_ = std::move(left);
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
  std::optional<Clock::time_point> due;
  for (;;) {
    pollfd watched[] = {{arrivals_, POLLIN, 0}, {end_, POLLIN, 0}};
    const auto left = due ? std::chrono::ceil<std::chrono::milliseconds>(*due - Clock::now()).count() : -1;
    if (poll(watched, 2, due ? std::max(0, static_cast<int>(left)) : -1) < 0)
      continue;  // EINTR: the process was stopped and continued
    if (watched[1].revents != 0) return;
    if (due && Clock::now() >= *due) end_program();
    if (watched[0].revents == 0) continue;
    signalfd_siginfo arrived{};
    if (read(arrivals_, &arrived, sizeof arrived) != sizeof arrived) continue;
    if (due) continue;
    due = Clock::now() + kForStop;
    stop_.request_stop();
  }
}

void SignalWatcher::take_last_word() {
  while (has_last_word_.test_and_set()) pause();
}

void SignalWatcher::end_program() {
  const auto rest = unfinished_paths::remove_all(Clock::now() + kForRemoval);
  if (has_last_word_.test_and_set()) _exit(kInterrupted);
  std::string sentence = "interrupted";
  if (const std::string left = left_(); !left.empty()) sentence += "; " + left;
  if (!rest.empty())
    sentence +=
        fmt::format("; {} is not all removed yet, which the next command that writes the same result does",
                    rest.front().native());
  complain_at_once(sentence);
  _exit(kInterrupted);
}

}  // namespace sepconv::app
