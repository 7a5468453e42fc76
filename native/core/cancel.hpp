// Interruption by Ctrl-C: between two bounded pieces of work the thread that came from Python calls `listen`, which throws where a signal has come.
#pragma once

namespace gapless {

// Set by the bindings: takes the interpreter's lock, lets Python handle signals, and throws its exception.
extern void (*signal_handler)();

// Calls the handler, at most every 20 ms (a delay that nobody notices, and long beside the microseconds of taking the interpreter's lock); does
// nothing on threads of the pool.
void listen();

// Called once by each thread of the pool: Python does not know these threads, and they must not run its signal handlers.
void never_listen();

}  // namespace gapless
