// One small pool of threads for the whole process. The thread that calls works too; the threads of the pool spin briefly for the next work, then
// sleep.
//
// Which thread does which piece never changes a result: pieces write to places of their own, and their number does not depend on the number of
// threads. A call from inside a piece, and a call while another thread uses the pool, runs on the calling thread alone. After a fork the child starts
// threads of its own. The caller may hold the interpreter's lock only if no piece takes that lock.
#pragma once

#include <functional>

#include "core/span.hpp"

namespace gapless {

int core_count();              // cores that this process may use (affinity, container quota), counted once
int thread_count();            // threads that a call uses: the cores, or the limit where it is less
void limit_threads(int most);  // sets the limit of the process; 0 is no limit
int thread_limit();            // the limit of the process

// Sets a limit for calls from the present thread, beside that of the process, and returns the limit that it replaces; 0 is no limit.
int limit_threads_here(int most);

// For tests with more threads than cores: core_count() returns `cores` from now on; 0 asks the system again.
void pretend_cores(int cores);

// Calls work(piece, thread) for each piece below `pieces`. The number `thread`, below core_count(), is that of a scratch place which no other thread
// uses at the same time (it is below thread_count() too, as long as no limit is lifted in between). Between two pieces, and while it waits for the
// other threads, the caller listens for Ctrl-C (core/cancel.hpp). After Ctrl-C, and after an exception in a piece, the other threads stop at the end
// of their piece and the exception is thrown here: of several, that of the lowest piece.
void share(Index pieces, const std::function<void(Index piece, int thread)>& work);

}  // namespace gapless
