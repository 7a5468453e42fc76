// Instruction sets. A file *.isa.cpp is compiled once for each level, inside the namespace of that level, and hands its loops over in a
// table of function pointers; the table of the level in use is read outside of loops, once for each call from Python.
//
//     struct TileLoops { void (*expand)(...); };             // in a plain header
//     GAPLESS_DECLARE_LEVELS(TileLoops, tile_loops)          // declares v2::tile_loops, ..., and tile_loops(), the one in use
//
//     namespace gapless::GAPLESS_LEVEL {                     // in the *.isa.cpp file
//     namespace { void expand(...) {...} }                   // everything in an anonymous namespace
//     extern const TileLoops tile_loops = {expand};
//     }
//
// Such a file must not instantiate templates of the standard library that are not inlined (vectors, sort, ...): the linker keeps one copy of each
// such instance, perhaps that of a level whose instructions this machine lacks. Loops take pointers and lengths.
#pragma once

namespace gapless {

enum class Level { base, v2, v3, v4 };

Level best_level();        // the highest level that this machine has
Level level();             // the level in use
void use_level(Level to);  // for GAPLESS_ISA and the tests; not to be called while other threads are inside a loop

}  // namespace gapless

#ifdef GAPLESS_X86_LEVELS
#define GAPLESS_DECLARE_LEVELS(Table, name)        \
  namespace v2 { extern const Table name; }        \
  namespace v3 { extern const Table name; }        \
  namespace v4 { extern const Table name; }        \
  inline const Table& name() {                     \
    switch (level()) {                             \
      case Level::v4: return v4::name;             \
      case Level::v3: return v3::name;             \
      default: return v2::name;                    \
    }                                              \
  }
#else
#define GAPLESS_DECLARE_LEVELS(Table, name)        \
  namespace base { extern const Table name; }      \
  inline const Table& name() { return base::name; }
#endif
