#include "core/cancel.hpp"

#include <chrono>

namespace gapless {
namespace {

thread_local bool never_listens = false;

}  // namespace

void (*signal_handler)() = nullptr;

void never_listen() { never_listens = true; }

void listen() {
  using Clock = std::chrono::steady_clock;
  thread_local Clock::time_point last = Clock::now();
  if (never_listens || signal_handler == nullptr) return;
  const Clock::time_point now = Clock::now();
  if (now - last < std::chrono::milliseconds(20)) return;
  last = now;
  signal_handler();
}

}  // namespace gapless
