// One small pool of threads for the whole process. The caller works too; others spin briefly for the next piece of work, then sleep.
//
// Which thread does which piece never changes a result: pieces write to places of their own, and their number does not depend on the number of
// threads. A call from inside a piece runs on the caller alone. After a fork the child starts threads of its own.
#pragma once

#include <functional>

#include "core/span.hpp"

namespace gapless {

int core_count();              // that this process may use (affinity, container quota)
int thread_count();            // in use: cores, or the limit
void limit_threads(int most);  // 0: no limit

// work(piece, thread) for each piece below `pieces`; thread < thread_count() names a scratch place. Between two pieces the caller listens for
// Ctrl-C (core/cancel.hpp); then, and after an exception in a piece, the others stop after their own piece and the exception is thrown here.
void share(Index pieces, const std::function<void(Index piece, int thread)>& work);

}  // namespace gapless
