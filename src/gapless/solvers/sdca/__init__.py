"""Dual coordinate ascent that keeps w."""
