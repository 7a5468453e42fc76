"""The first layers of a trained network as a feature map; or any function from a matrix to a matrix."""

from __future__ import annotations

import copy
import sys
from collections.abc import Sequence
from typing import Any, NoReturn, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gapless.data import require_memory
from gapless.data.namespace import NamespaceMixin
from gapless.errors import InvalidInputError
from gapless.features.checks import check_input
from gapless.kernels.parameters import check_natural


class NetworkFeatures(NamespaceMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""φ(x) = the output of a named layer of a trained network for x; the network is used as it is, whatever it was trained for.

    Rows go through the network in batches, without gradients and in evaluation mode. ``fit`` copies a PyTorch module: the caller's module keeps its
    device, mode and weights, and the map does not change when the training of the module goes on. CSR input is made dense batch by batch; the output
    is dense.

    Parameters
    ----------
    network : torch.nn.Module or callable
        A PyTorch module (the extra ``torch`` installs PyTorch), or a plain function from a matrix of samples to a matrix with a row for each sample.
    layer : str, default None
        The name of the layer after which the network is cut, one of ``dict(network.named_modules())``; the layers behind it are not run. None is
        the whole network.
    input_shape : tuple of int, default None
        The shape that a row is given before it enters the network, such as (1, 8, 8) for images; None leaves rows as they are.
    batch_size : int, default 1024
        The rows of a batch.
    device : str or torch.device, default None
        Where the network runs, such as ``"cuda"``; None is the device that the module is on.

    Attributes
    ----------
    network_ : torch.nn.Module or callable
        The copy of the module, or the function, in use.
    n_features_in_, feature_names_in_
        Width and column names (where it has them) of the data seen in ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from gapless.features import NetworkFeatures
    >>> W = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> phi = NetworkFeatures(lambda X: np.maximum(X @ W, 0.0)).fit([[1.0, 2.0]])
    >>> phi.transform([[1.0, 2.0], [3.0, 0.0]])
    array([[1., 1., 2.],
           [3., 0., 0.]])
    """

    def __init__(
        self,
        network: Any,
        layer: str | None = None,
        *,
        input_shape: tuple[int, ...] | None = None,
        batch_size: int = 1024,
        device: Any = None,
    ) -> None:
        self.network = network
        self.layer = layer
        self.input_shape = input_shape
        self.batch_size = batch_size
        self.device = device

    def fit(self, X: Any, y: Any = None) -> Self:
        """Copy the network and count its columns on one row; nothing is learnt."""
        check_natural("batch_size", self.batch_size)
        X = check_input(self, X, reset=True, sparse=True)
        self._check_shape(X.shape[1])
        module = _is_module(self.network)
        if not module and not callable(self.network):
            raise InvalidInputError(f"network must be a torch module or a function of a matrix; got {self.network!r}.")
        if not module and not (self.layer is None and self.device is None):
            raise InvalidInputError("layer and device are for torch modules; a function has neither.")
        if module and self.layer is not None and self.layer not in dict(self.network.named_modules()):
            known = ", ".join(name for name, _ in self.network.named_modules() if name)
            raise InvalidInputError(f"layer must be a layer of the network, one of {known}; got {self.layer!r}.")
        self.network_ = self.network
        if module:
            self.network_ = copy.deepcopy(self.network).eval()
            if self.device is not None:
                self.network_.to(self.device)
        self._n_features_out = self._run(X[:1]).shape[1]
        return self

    def transform(self, X: Any) -> np.ndarray:
        """φ(X) of shape (n_samples, number of columns), dense, in X's precision."""
        check_is_fitted(self)
        X = check_input(self, X, reset=False, sparse=True)
        n, m = X.shape[0], self._n_features_out
        require_memory(n * m * X.dtype.itemsize, f"NetworkFeatures makes {m:,} columns: its output for {n:,} rows")
        Z = np.empty((n, m), dtype=X.dtype)
        for start in range(0, n, self.batch_size):
            part = slice(start, start + self.batch_size)
            Z[part] = self._run(X[part])
        return Z

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_shape(self, d: int) -> None:
        shape = self.input_shape
        if shape is not None and (not isinstance(shape, Sequence) or int(np.prod(shape)) != d):
            raise InvalidInputError(f"input_shape must be sizes whose product is X's {d} features; got {shape!r}.")

    def _run(self, X: np.ndarray | sp.csr_array) -> np.ndarray:
        """The features of one batch."""
        rows = X if isinstance(X, np.ndarray) else X.toarray()
        if self.input_shape is not None:
            rows = rows.reshape(len(rows), *self.input_shape)
        out = np.asarray(self._through_layers(rows) if _is_module(self.network_) else self.network_(rows))
        if out.ndim < 2 or out.shape[0] != len(rows):
            raise InvalidInputError(
                f"network must return a row for each of the {len(rows)} rows of a batch; got the shape {out.shape}."
            )
        return out.reshape(len(out), -1)

    def _through_layers(self, rows: np.ndarray) -> np.ndarray:
        import torch

        network = self.network_
        weight = next((p for p in network.parameters() if p.is_floating_point()), None)
        device = self.device if weight is None else weight.device
        dtype = None if weight is None else weight.dtype  # a network without weights takes the type of the rows
        # torch.tensor copies: sharing an array that may not be written to would make torch warn.
        batch = torch.tensor(rows, dtype=dtype, device=device)
        cut = None
        if self.layer is not None:
            cut = dict(network.named_modules())[self.layer].register_forward_hook(_stop)
        try:
            with torch.inference_mode():
                out = network(batch)
        except _Cut as reached:
            out = reached.output
        else:
            if self.layer is not None:
                raise InvalidInputError(f"layer {self.layer!r} takes no part in what the network does with a batch.")
        finally:
            if cut is not None:
                cut.remove()
        if not isinstance(out, torch.Tensor):
            raise InvalidInputError(
                f"layer must be one that returns a single tensor; {self.layer!r} returns {type(out).__name__}."
            )
        return out.cpu().to(torch.float64).numpy()


class _Cut(Exception):
    """Ends a forward pass where the network is cut."""

    def __init__(self, output: Any) -> None:
        super().__init__("cut")
        self.output = output


def _stop(module: Any, inputs: Any, output: Any) -> NoReturn:
    raise _Cut(output)


def _is_module(network: Any) -> bool:
    """Whether the network is a torch module. A caller who has such a module has imported torch, which is therefore not imported here."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(network, torch.nn.Module)
