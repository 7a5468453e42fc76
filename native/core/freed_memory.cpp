#include "core/freed_memory.hpp"

#include <cstdlib>

namespace gapless {

void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr std::size_t largest = (std::size_t{32} << 20) - (std::size_t{64} << 10);  // just below glibc's DEFAULT_MMAP_THRESHOLD_MAX of 32 MiB
  void* volatile block = std::malloc(largest);  // volatile, since the compiler would drop both calls otherwise
  std::free(block);
#endif
}

}  // namespace gapless
