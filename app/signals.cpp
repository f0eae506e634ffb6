#include "signals.hpp"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <optional>

#include "commands.hpp"

namespace sepconv::app {

namespace {

/// Wakes the watching thread at the end of the program.
constexpr int kWakeUp = SIGUSR1;
/// A stop takes a fraction of a second; whoever asks again after this long wants out, temporary file or not.
constexpr std::chrono::seconds kPatience{3};

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

SignalWatcher::SignalWatcher() {
  sigemptyset(&signals_);
  sigaddset(&signals_, kWakeUp);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // nohup and shells' background jobs ignore signals on purpose; blocked ones would reach sigwait all the
    // same.
    if (!is_ignored(signal)) sigaddset(&signals_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  // A reader of our output that goes away, and a limit on file sizes, are errors of a write, not the end of a run
  // and of its clean-up.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  thread_ = std::thread([this] { watch(); });
}

SignalWatcher::~SignalWatcher() {
  pthread_kill(thread_.native_handle(), kWakeUp);
  thread_.join();
}

void SignalWatcher::watch() {
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> first;
  for (int signal = 0; sigwait(&signals_, &signal) == 0 && signal != kWakeUp;) {
    if (!first) {
      first = Clock::now();
      stop_.request_stop();
    } else if (Clock::now() - *first > kPatience) {
      _exit(kInterrupted);
    }
  }
}

}  // namespace sepconv::app
