#include "smo/turns.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "smo/sizes.hpp"

namespace gapless::smo {

Index Turns::solve(BlockSolver<DualBox, double>& blocks, const BlockSolver<DualBox, double>::Part& part, const double* totals, double target,
                   Index max_steps, double* beta, double* f) {
  const Index n = part.K.matrix.rows;
  const Index size = n <= one_block ? n : block_size;
  // The work of a pair; in blocks, copying them and adding what they changed to f takes twice as long as the pairs.
  const double pair = (size == n ? 4.0 : 12.0) * static_cast<double>(size);
  Index taken = 0;
  if (std::exchange(first_, false)) {
    pairs_ = std::max(static_cast<double>(n), FaceWalk::expected_work(part.dual, n, beta) / pair);
    walk_left_ = walk_room * pairs_ * pair;
  }
  for (;;) {
    if (!lost_ && walk_left_ <= 0.0 && pairs_ >= patience_ * static_cast<double>(n) &&
        pairs_ * pair >= patience_ * FaceWalk::expected_work(part.dual, n, beta))
      walk_left_ = walk_room * pairs_ * pair;
    while (walk_left_ > 0.0) {
      // A walk that is stopped while it factors its first face has moved next to nothing, and does the same again when it is called next.
      const double some = std::max(static_cast<double>(max_steps - taken) * pair, walk_room * FaceWalk::work_of_beginning(part.dual, n, beta));
      const double room = std::min(walk_left_, some);
      const FaceWalk::End end =
          walk_.go({part.dual, part.diagonal, part.K, part.groups, totals, part.coupled}, walk_share * target, room, beta, f);
      walks_ += walk_.moves() > 0;
      taken += static_cast<Index>(std::ceil(walk_.work() / pair));
      if (end == FaceWalk::End::reached) return taken;
      walk_left_ -= walk_.work();
      lost_ = end == FaceWalk::End::lost;
      if (lost_ || walk_left_ <= 0.0) {
        walk_left_ = pairs_ = 0.0;
        patience_ *= 2.0;
      }
      if (taken >= max_steps) return taken;
    }
    const Index most = lost_ ? max_steps - taken : std::min(n, max_steps - taken);
    const Index pairs = blocks.solve(part, size, size == n ? groups_share : block_share, target, most, beta, f);
    taken += pairs;
    pairs_ += static_cast<double>(pairs);
    if (pairs < most || taken >= max_steps) return taken;
  }
}

}  // namespace gapless::smo
