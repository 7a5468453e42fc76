"""Models along C, with a certified gap at every C between them."""

from gapless.path.c_path import C_path
from gapless.path.models import CPath, PathModel

__all__ = ["CPath", "C_path", "PathModel"]
