// How long work is interrupted: `listen` is called between two bounded pieces by the thread that came from Python, and throws where a signal came.
#pragma once

namespace gapless {

// Set by the bindings: takes the interpreter's lock, lets Python handle signals, and throws its exception.
extern void (*signal_handler)();

// Asks the handler, at most every 20 ms; does nothing on threads of the pool.
void listen();

// Called by the threads of the pool, which Python does not know.
void never_listen();

}  // namespace gapless
