// Ctrl-C, SIGTERM and SIGHUP as a stop token. Every other signal means what it means to any program.
#pragma once

#include <signal.h>

#include <stop_token>
#include <thread>

namespace sepconv::app {

/// Lives in main() to its end. Until start() a signal ends the program, which has nothing to clean up before.
class SignalWatcher {
 public:
  SignalWatcher();
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;
  ~SignalWatcher();

  /// Watches from now on, in a thread of its own; to be called before there is another one, which inherits
  /// the blocked signals. Throws Error if none can be had.
  void start();

  std::stop_token token() const noexcept { return stop_.get_token(); }

 private:
  void watch();

  sigset_t signals_;
  std::stop_source stop_;
  int arrivals_ = -1;  // a signalfd of signals_
  int end_ = -1;       // an eventfd: something to read in it ends the watching
  std::jthread thread_;
};

}  // namespace sepconv::app
