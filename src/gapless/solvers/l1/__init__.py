"""The ℓ₁ penalty: coordinate descent on the primal, with Newton steps on the weights that are not zero."""
