#include "smo/single_pairs.hpp"

#include <algorithm>
#include <cmath>

#include "core/cancel.hpp"
#include "smo/face_walk.hpp"
#include "smo/sizes.hpp"

namespace gapless::smo {
namespace {

constexpr double ahead = 0.9;  // pairs in float32 stop at this share of the target, so that rounding leaves the violation below it
constexpr Index most_idle = 3;  // rounds that have not halved the violation after which rounding hides the way

}  // namespace

SinglePairs::End SinglePairs::solve(const DualBox& dual, const double* diagonal, Matrix<const float> K, double target, double max_steps, double* beta,
                                    double* f) {
  const Index n = K.rows;
  const bool whole = n <= one_block;
  const double pair = (whole ? 4.0 : 12.0) * static_cast<double>(whole ? n : block_size);  // its work, as Turns counts it
  up_.resize(n);
  down_.resize(n);
  groups_.assign(n, 0);
  room_.resize(pair_room(K.columns));
  steps_ = 0.0;
  double least = infinity;
  for (Index idle = 0;;) {
    listen();
    const Violation now = survey(dual, n, diagonal, beta, f, {groups_.data(), 1}, true, up_.data(), down_.data());
    if (now.worst <= target) return End::reached;
    idle = now.worst > 0.5 * least ? idle + 1 : 0;
    least = std::min(least, now.worst);
    if (now.worst <= now.noise || idle > most_idle) return End::lost;
    if (steps_ >= max_steps) return End::tired;
    if (steps_ >= static_cast<double>(n) && pair * steps_ >= FaceWalk::expected_work(dual, n, beta)) return End::tired;
    const Index most = static_cast<Index>(std::min(static_cast<double>(n), std::ceil(max_steps - steps_)));
    Index taken;
    if (whole) {
      const Index ends[2] = {0, n};
      taken = pair_loops().single({dual, diagonal, K, n, ends, 1}, true, ahead * target, most, beta, f, room_.data());
    } else {
      taken = blocks_.solve({dual, diagonal, Matrix<const float>{K.data, n, n, K.stride}, {groups_.data(), 1}, true, true}, block_size, block_share,
                            ahead * target, most, beta, f);
    }
    if (taken == 0) return End::lost;
    if (taken >= most) idle = 0;  // there is more to be done
    steps_ += static_cast<double>(taken);
  }
}

}  // namespace gapless::smo
