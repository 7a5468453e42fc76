#include "proof/repair_loss.hpp"

#include <cmath>
#include <vector>

#include "core/sums.hpp"

namespace gapless::proof {
namespace {

// The largest slope of h(β) − f β between β and `to`.
double steepest(const DualBox& box, Index i, double beta, double to, double f) {
  return std::fabs(box.p[i] - f) + 2.0 * unit * (std::fabs(box.p[i]) + std::fabs(f)) + box.epsilon[i] +
         box.d[i] * std::max(std::fabs(beta), std::fabs(to));
}

double steepest(const DualEntropy& entropy, Index i, double beta, double to, double f) {
  if (entropy.cost[i] <= 0.0) return std::fabs(f);
  return 1.0 + std::max(std::fabs(entropy.slope(i, beta) - f), std::fabs(entropy.slope(i, to) - f));
}

struct Group {
  Sum off;                          // Σβ − total
  double up = 0.0, down = 0.0;      // Σ of positive β and of |negative β|
  double room_up = 0.0, room_down = 0.0;
  double size = 0.0;                // Σ|β| + |total|
  Index n = 0;
};

}  // namespace

double repair_loss(const DualTerms& dual, Places groups, Vector totals, Vector beta, Vector f, Vector error, const Weights& weights) {
  return std::visit(
      [&](const auto& terms) {
        std::vector<Group> all(totals.size());
        for (Index i = 0; i < length(beta); ++i) {
          Group& group = all[static_cast<std::size_t>(groups[i])];
          const double b = beta[i];
          group.off.add(b);
          (b > 0.0 ? group.up : group.down) += std::fabs(b);
          group.room_up += terms.upper[i] - b;
          group.room_down += b - terms.lower[i];
          ++group.n;
        }
        double loss = 0.0;  // of D
        std::vector<double> share(totals.size(), 0.0), ways(totals.size(), 0.0);
        std::vector<int> side(totals.size(), 0);  // ±1: scale that side; ±2: towards the upper or the lower bound
        for (std::size_t g = 0; g < totals.size(); ++g) {
          Group& group = all[g];
          group.size = group.up + group.down + std::fabs(totals[g]);
          group.off.add(-totals[g]);
          const double off = group.off.value(), r = std::fabs(off) + sum_error(group.n + 1, off, group.size);
          if (r == 0.0) continue;
          const bool over = off >= 0.0;
          const double weight = over ? group.up : group.down, room = over ? group.room_down : group.room_up;
          if (weight >= 2.0 * r) {
            side[g] = over ? 1 : -1;
            share[g] = 1.01 * r / weight;
          } else if (room >= 2.0 * r && std::isfinite(room)) {
            side[g] = over ? -2 : 2;
            share[g] = 1.01 * r / room;
          } else if (group.size > 0.0) {
            return infinity;
          }
        }
        for (Index i = 0; i < length(beta); ++i) {
          const std::size_t g = static_cast<std::size_t>(groups[i]);
          if (share[g] == 0.0) continue;
          const double b = beta[i];
          double way = 0.0;
          if (std::abs(side[g]) == 1)
            way = side[g] * b > 0.0 ? share[g] * std::fabs(b) : 0.0;
          else
            way = share[g] * std::fabs((side[g] > 0 ? terms.upper[i] : terms.lower[i]) - b);
          if (way == 0.0) continue;
          const double to = side[g] == 1 || side[g] == -2 ? b - way : b + way;
          loss += way * (steepest(terms, i, b, to, f[i]) + error[i]);
          ways[g] += way;
        }
        double moved = 0.0;
        for (const double way : ways) moved += way * weights.largest;
        return 1.01 * (loss + 0.5 * moved * moved);
      },
      dual);
}

}  // namespace gapless::proof
