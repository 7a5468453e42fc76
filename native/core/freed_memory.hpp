// Memory that a fit frees stays with the process for the next fit.
//
// The C library of Linux returns the free memory at the end of its heap to the system as soon as it is more than twice the largest block that was
// ever freed, up to 64 MiB. The vectors of a fit are such blocks: with the default each fit would return them and each next fit would touch fresh
// pages, which is up to half of the time of a linear fit (benchmarks/before.py, skin_nonskin: 41 ms with fresh pages, 23 ms without).
#pragma once

namespace gapless {

// Called once, at import: allocates and frees, untouched, a block of 32 MiB, the largest from which the C library learns.
void keep_freed_memory();

}  // namespace gapless
