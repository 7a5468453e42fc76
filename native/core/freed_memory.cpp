#include "core/freed_memory.hpp"

#include <cstdlib>

namespace gapless {

void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr std::size_t largest = (std::size_t{32} << 20) - (std::size_t{64} << 10);  // just below its greatest threshold
  void* volatile block = std::malloc(largest);  // volatile: or the compiler drops both calls
  std::free(block);
#endif
}

}  // namespace gapless
