"""Crammer and Singer's machine: the dual, one sample's block after the other."""
