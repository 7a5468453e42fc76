#include "core/pool.hpp"

#include <thread>

#include "core/cancel.hpp"

namespace gapless {

int core_count() { return static_cast<int>(std::thread::hardware_concurrency()); }
int thread_count() { return 1; }
void limit_threads(int) {}

void share(Index pieces, const std::function<void(Index, int)>& work) {
  for (Index piece = 0; piece < pieces; ++piece) {
    work(piece, 0);
    listen();
  }
}

}  // namespace gapless
