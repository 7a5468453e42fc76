"""Sequential minimal optimisation in blocks."""
