// An exact active-set method for the dual of a small problem, from one face of the box to the next.
//
// Where the kernel matrix is badly conditioned pairs take thousands of steps for a digit. The variables between their bounds span a face, F. With
// M = K_FF + D (and a ridge at the size of rounding) and s the slopes of the dual, the step to the maximum over the face is
//
//     M δ + Eλ = s_F,   Eᵀδ = 0   (E: which group a variable is in; no λ without free offsets).
//
// Eᵀδ being given, a multiple of EEᵀ is added to M without changing δ: a linear kernel of d features has d + 1 variables in its last face, and its
// K_FF is singular by one. A badly conditioned M leaves an error in Eᵀδ, which the next step takes back: 0 above is in truth what the sum of each group is short of its total.
// Where δ meets a bound on its way, the variable that meets it leaves the face. Where it does not, the face is solved, and the variable at a bound
// that violates most joins. M is never factored anew (face_factor.hpp), and f of all samples is needed on solved faces alone, since along δ the
// slopes within the face change by multiples of known vectors. A variable with ε > 0 is in the piece of its box above zero or below it.
#pragma once

#include <vector>

#include "core/dual.hpp"
#include "smo/face_factor.hpp"
#include "smo/table_rows.hpp"
#include "smo/violation.hpp"

namespace gapless::smo {

class FaceWalk {
 public:
  // The dual of the samples whose kernel matrix is K.
  struct Part {
    const DualBox& dual;
    const double* diagonal;
    TableRows<double> K;
    Groups groups;
    const double* totals;
    bool coupled;
  };
  // The walk ends where no violation is above the target, where its work is done, or where K is not positive semi-definite or rounding hides the way.
  enum class End { reached, tired, lost };

  // The work, in the unit of SmoAdvance, that a walk from β is expected to take.
  static double expected_work(const DualBox& dual, Index n, const double* beta);

  // The part of it that the factor of the first face takes.
  static double work_of_beginning(const DualBox& dual, Index n, const double* beta);

  // Maximises the dual until no violation is above `target`; writes beta and f. A walk that ended `tired` goes on where β is still what it was.
  End go(const Part& part, double target, double most_work, double* beta, double* f);

  // The next walk does not go on with the last one.
  void forget() { tired_ = false; }

  double work() const { return work_; }
  Index moves() const { return moves_; }  // how often a variable moved in the last walk

 private:
  bool begin(const Part& part, const double* beta, const double* f);
  bool join(const Part& part, const double* beta, const double* f, Index i, bool rises);
  void leave(Index place);
  bool newton(const Part& part);
  void find_levels();
  Index move(const Part& part, double* beta);  // the place of the variable that meets a bound, −1 where none does
  void round_to_ends(const Part& part, double target, double* beta) const;
  void settle(const Part& part, double* beta, double* f);
  void bring_up_to_date(const Part& part, const double* beta, double* f);
  double find_short(const Part& part, const double* beta);  // the largest of them, as a share of Σ|β|
  double slope(const Part& part, const double* beta, const double* f, Index place) const;
  bool enter(const Part& part, const double* beta, const double* f);

  FaceFactor factor_;
  // Of each variable of the face: its sample, the ends of its piece, its slope, its ridge, its group, and the step.
  std::vector<Index> rows_, group_;
  std::vector<double> low_, high_, slope_, ridge_, step_;
  std::vector<char> inside_;             // of each sample, whether it is in the face
  std::vector<double> known_;            // β for which f is right
  std::vector<double> level_;            // λ
  std::vector<double> short_;            // what the sum of each group is short of its total
  std::vector<Index> members_;           // the number of variables of each group in the face
  std::vector<double> column_, right_, half_, up_, down_, change_;
  std::vector<Index> moved_;
  double work_ = 0.0, bend_ = 0.0;
  Index moves_ = 0;
  bool tired_ = false;  // whether the last walk ended so
};

}  // namespace gapless::smo
