"""Models on disk without pickle, and their export to ONNX."""

from gapless.store.kernel_text import parse_kernel
from gapless.store.storing import StoringMixin, describe, load, register, save

__all__ = ["StoringMixin", "describe", "load", "parse_kernel", "register", "save"]
