// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/signals.hpp"

#include <csignal>

#include <atomic>

namespace curlew {

namespace {

std::atomic<int> stop_signal{0};
std::atomic<bool> checkpoint_wanted{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

extern "C" void take_signal(int signal) {
  if (signal == SIGUSR1) {
    checkpoint_wanted = true;
    return;
  }
  int none = 0;
  stop_signal.compare_exchange_strong(none, signal);
  // The next Ctrl-C ends the process as if nothing had been installed.
  if (signal == SIGINT) std::signal(SIGINT, SIG_DFL);
}

void take(int signal) {
  struct sigaction action = {};
  action.sa_handler = take_signal;
  action.sa_flags = SA_RESTART;  // a file being written is not disturbed
  sigaction(signal, &action, nullptr);
}

}  // namespace

void outlive_signals() {
  take(SIGUSR1);
  for (const int signal : {SIGXFSZ, SIGPIPE}) std::signal(signal, SIG_IGN);
}

void stop_on_signals() {
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction now = {};
    sigaction(signal, nullptr, &now);
    // A shell starts what is to go on in the background with interrupts ignored.
    if (now.sa_handler != SIG_IGN) take(signal);
  }
}

int stop_requested() {
  const int signal = stop_signal;
  return signal == 0 ? 0 : 128 + signal;
}

bool take_checkpoint_request() {
  return checkpoint_wanted.exchange(false);
}

}  // namespace curlew
