"""The proof: bounds on the optimum, and everything that is said of a solution without asking the solver that found it."""

# A kind of problem with another primal and dual registers an evaluation of its own.
from gapless.proof import crammer_singer, l1, multinomial

__all__ = ["crammer_singer", "l1", "multinomial"]
