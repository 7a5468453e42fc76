#include "smo/single_pairs.hpp"

#include <algorithm>
#include <cmath>

#include "core/cancel.hpp"
#include "smo/face_walk.hpp"
#include "smo/sizes.hpp"

namespace gapless::smo {
namespace {

constexpr double ahead = 0.9;  // pairs in float32 stop at this share of the target, so that rounding leaves the violation below it
constexpr Index sweep_bytes = 20 << 10;  // of the vectors of problems that are solved at a time: two thirds of the nearest cache
constexpr Index sample_bytes = 16;       // of a sample in the vectors of a problem
constexpr Index most_idle = 3;           // rounds that have not halved the violation after which rounding hides the way

// A problem between two rounds of pairs.
struct Course {
  Course(SingleProblem& problem) : problem(&problem) {}

  SingleProblem* problem;
  double least = infinity;  // the least violation so far
  Index idle = 0;           // rounds in a row that have not halved it
  Index most = 0;           // pairs of the next round

  // Whether there is another round, where the violation is this and a pair takes so much work, as Turns counts it.
  bool goes_on(const Violation& now, Index n, double pair) {
    const SingleProblem& own = *problem;
    if (now.worst <= own.target) return end(SingleProblem::End::reached);
    idle = now.worst > 0.5 * least ? idle + 1 : 0;
    least = std::min(least, now.worst);
    if (now.worst <= now.noise || idle > most_idle) return end(SingleProblem::End::lost);
    const bool long_enough = own.steps >= static_cast<double>(n) && pair * own.steps >= FaceWalk::expected_work(own.dual, n, own.beta);
    if (own.steps >= own.max_steps || long_enough) return end(SingleProblem::End::tired);
    most = static_cast<Index>(std::min(static_cast<double>(n), std::ceil(own.max_steps - own.steps)));
    return true;
  }
  // Whether the round has done anything.
  bool counts(Index taken) {
    if (taken == 0) return end(SingleProblem::End::lost);
    if (taken >= most) idle = 0;  // there is more to be done
    problem->steps += static_cast<double>(taken);
    return true;
  }

 private:
  bool end(SingleProblem::End how) {
    problem->end = how;
    return false;
  }
};

}  // namespace

void SinglePairs::solve(std::span<SingleProblem> problems, const double* diagonal, Matrix<const float> K) {
  up_.resize(K.rows);
  down_.resize(K.rows);
  groups_.assign(K.rows, 0);
  while (!problems.empty()) {
    const Index fit = std::clamp<Index>(sweep_bytes / (sample_bytes * K.columns), 1, most_pair_tasks);
    const std::size_t many = std::min(problems.size(), static_cast<std::size_t>(fit));
    solve_together(problems.first(many), diagonal, K);
    problems = problems.subspan(many);
  }
}

void SinglePairs::solve_together(std::span<SingleProblem> problems, const double* diagonal, Matrix<const float> K) {
  const Index n = K.rows, ends[2] = {0, n}, size = n <= one_block ? n : block_size;
  const double pair = (n <= one_block ? 4.0 : 12.0) * static_cast<double>(size);  // its work, as Turns counts it
  const Groups groups = {groups_.data(), 1};
  std::vector<Course> courses(problems.begin(), problems.end());
  std::vector<PairTask<float>> tasks;
  for (;;) {
    listen();
    std::erase_if(courses, [&](Course& course) {
      const SingleProblem& own = *course.problem;
      return !course.goes_on(survey(own.dual, n, diagonal, own.beta, own.f, groups, true, up_.data(), down_.data()), n, pair);
    });
    if (courses.empty()) return;
    if (size < n) {
      const SingleProblem& own = problems[0];
      const BlockSolver<DualBox, float>::Part part = {own.dual, diagonal, Matrix<const float>{K.data, n, n, K.stride}, groups, true, true};
      const Index taken = blocks_.solve(part, size, block_share, ahead * own.target, courses[0].most, own.beta, own.f);
      if (!courses[0].counts(taken)) return;
      continue;
    }
    room_.resize(courses.size() * static_cast<std::size_t>(pair_room(K.columns)));
    tasks.clear();
    for (Course& course : courses) {
      const SingleProblem& own = *course.problem;
      tasks.push_back({{own.dual, diagonal, K, n, ends, 1}, true, ahead * own.target, course.most, own.beta, own.f,
                       room_.data() + count(tasks.size()) * pair_room(K.columns)});
    }
    pair_loops().single(tasks.data(), count(tasks.size()));
    auto task = tasks.begin();
    std::erase_if(courses, [&](Course& course) { return !course.counts((task++)->steps); });
  }
}

}  // namespace gapless::smo
