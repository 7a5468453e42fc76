#include "core/blas.hpp"

namespace gapless {

Blas blas;

}  // namespace gapless
