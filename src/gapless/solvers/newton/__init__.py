"""Second-order methods on the primal."""
