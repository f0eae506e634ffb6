// Ctrl-C, SIGTERM and SIGHUP as a stop token.
#pragma once

#include <signal.h>

#include <stop_token>
#include <thread>

namespace sepconv::app {

/// Lives in main() from before the first other thread, which inherits the blocked signals, to the end.
class SignalWatcher {
 public:
  SignalWatcher();
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;
  ~SignalWatcher();

  std::stop_token token() const noexcept { return stop_.get_token(); }

 private:
  void watch();

  sigset_t signals_;
  std::stop_source stop_;
  std::thread thread_;
};

}  // namespace sepconv::app
