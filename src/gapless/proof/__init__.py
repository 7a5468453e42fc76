"""The proof: bounds on the optimum, and everything that is said of a solution without asking the solver that found it."""

# These modules register evaluations of problems whose primal and dual are other than ``Problem``'s (``certificate.evaluate``).
from gapless.proof import crammer_singer, l1, multinomial

__all__ = ["crammer_singer", "l1", "multinomial"]
