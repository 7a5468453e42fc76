#include "core/cancel.hpp"

#include <chrono>

namespace gapless {
namespace {

thread_local bool deaf = false;

}  // namespace

void (*signal_handler)() = nullptr;

void never_listen() { deaf = true; }

void listen() {
  using Clock = std::chrono::steady_clock;
  thread_local Clock::time_point last = Clock::now();
  if (deaf || signal_handler == nullptr) return;
  const Clock::time_point now = Clock::now();
  if (now - last < std::chrono::milliseconds(20)) return;
  last = now;
  signal_handler();
}

}  // namespace gapless
