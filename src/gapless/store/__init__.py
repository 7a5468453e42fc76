"""Models on disk without pickle, and their export to ONNX."""

from gapless.store.kernel_text import parse_kernel
from gapless.store.storing import StoringMixin, describe, load, register, register_later, save

__all__ = ["StoringMixin", "describe", "load", "parse_kernel", "register", "register_later", "save"]
