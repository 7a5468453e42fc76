"""The proof: bounds on the optimum, and everything that is said of a solution without asking the solver that found it."""
