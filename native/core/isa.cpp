#include "core/isa.hpp"

#include <atomic>

namespace gapless {
namespace {

#ifdef GAPLESS_X86_LEVELS
Level detect() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return Level::v4;
  if (__builtin_cpu_supports("x86-64-v3")) return Level::v3;
  return Level::v2;
}
#else
Level detect() { return Level::base; }
#endif

std::atomic<Level> in_use = detect();

}  // namespace

Level best_level() { return detect(); }
Level level() { return in_use.load(std::memory_order_relaxed); }
void use_level(Level to) { in_use.store(to, std::memory_order_relaxed); }

}  // namespace gapless
