"""Statements of problems, and nothing about solving them."""
