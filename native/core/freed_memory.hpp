// Memory that a fit frees stays with the process for the next fit.
//
// The C library of Linux returns what is free at the end of its heap as soon as that is more than twice the largest block that was ever freed, up
// to 64 MiB. The vectors of a fit are such blocks: without this, each fit would return them to the system and each next fit would touch
// fresh pages, which is up to half of the time of a linear fit (benchmarks/before.py, skin_nonskin: 41 ms with fresh pages, 23 ms without).
#pragma once

namespace gapless {

// Called once, at import: frees a block of 32 MiB that nobody has touched, the largest that the C library learns from.
void keep_freed_memory();

}  // namespace gapless
