// One small pool of threads for the whole process. The caller works too; others spin briefly for the next piece of work, then sleep.
//
// Which thread does which piece never changes a result: pieces write to places of their own, and their number does not depend on the number of
// threads. A call from inside a piece, and a call while another thread uses the pool, runs on the caller alone. After a fork the child starts
// threads of its own. The caller does not hold the interpreter's lock, unless no piece asks for it.
#pragma once

#include <functional>

#include "core/span.hpp"

namespace gapless {

int core_count();              // that this process may use (affinity, container quota), counted once
int thread_count();            // in use: cores, or the limit where it is less
void limit_threads(int most);  // 0: no limit
int thread_limit();

// The limit for calls from the present thread alone, beside the one above; returns the one that it replaces. 0: no limit.
int limit_threads_here(int most);

// For tests of more threads than there are cores: core_count() is `cores` from now on; 0 asks the system again.
void pretend_cores(int cores);

// work(piece, thread) for each piece below `pieces`; thread < core_count() names a scratch place (thread < thread_count() too, as long as
// nobody lifts a limit in between). Between two pieces, and while it waits for the others, the caller listens for Ctrl-C (core/cancel.hpp);
// then, and after an exception in a piece, the others stop after their own piece and the exception is thrown here: of several, the one of the
// lowest piece.
void share(Index pieces, const std::function<void(Index piece, int thread)>& work);

}  // namespace gapless
