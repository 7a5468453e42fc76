#include "textbook/projected_gradient.hpp"

namespace gapless {

void project_gradient_step(const DualTerms& dual, Vector z, Vector f, double L, Out beta) {
  std::visit(
      [&](const auto& terms) {
        for (std::size_t i = 0; i < z.size(); ++i) beta[i] = terms.step(count(i), f[i], z[i], L);
      },
      dual);
}

}  // namespace gapless
