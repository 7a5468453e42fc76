"""NetworkFeatures: a function, a torch module cut at a layer, and a network whose first layers serve another task."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import parametrize_with_checks

import gapless as gl
import gapless.data.memory
from gapless.errors import InvalidInputError, TooLargeError
from gapless.features import NetworkFeatures

X = np.random.default_rng(0).normal(size=(25, 4))


def test_a_function_sees_batches_of_dense_rows():
    seen = []

    def halves(rows: np.ndarray) -> np.ndarray:
        seen.append(rows.shape)
        return rows[:, :2] / 2

    for rows in (X, sp.csr_array(X)):
        seen.clear()
        Z = NetworkFeatures(halves, batch_size=10).fit(rows).transform(rows)
        assert seen == [(1, 4), (10, 4), (10, 4), (5, 4)]
        np.testing.assert_array_equal(Z, X[:, :2] / 2)


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"network": 3}, "network must be a torch module or a function of a matrix; got 3."),
        ({"network": np.tanh, "layer": "first"}, "layer and device are for torch modules; a function has neither."),
        ({"network": np.tanh, "batch_size": 0}, "batch_size must be a natural number of at least 1; got 0."),
        (
            {"network": np.tanh, "input_shape": (1, 3)},
            "input_shape must be sizes whose product is X's 4 features; got (1, 3).",
        ),
        (
            {"network": lambda rows: rows.sum()},
            "network must return a row for each of the 1 rows of a batch; got the shape ().",
        ),
    ],
)
def test_errors_name_the_parameter(parameters, message):
    with pytest.raises(InvalidInputError) as caught:
        NetworkFeatures(**parameters).fit(X)
    assert str(caught.value) == message


def test_an_output_that_does_not_fit_into_memory_is_refused_in_words(monkeypatch):
    phi = NetworkFeatures(np.tanh).fit(X)
    monkeypatch.setattr(gapless.data.memory, "available_bytes", lambda: 25 * 4 * 8 - 1)
    with pytest.raises(TooLargeError) as caught:
        phi.transform(X)
    assert str(caught.value) == (
        "NetworkFeatures makes 4 columns: its output for 25 rows needs 0.00 GiB, but only 0.00 GiB of memory is available."
    )


class TestTorch:
    """A module cut at a named layer."""

    torch = pytest.importorskip("torch", reason="needs the extra torch")

    def network(self):
        torch = self.torch
        torch.manual_seed(0)
        layers = [("first", torch.nn.Linear(4, 6)), ("drop", torch.nn.Dropout(0.5)), ("act", torch.nn.ReLU())]
        return torch.nn.Sequential(dict_of(layers, ("last", torch.nn.Linear(6, 2))))

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_the_layers_up_to_the_cut_in_evaluation_mode(self, dtype):
        network = self.network().train()
        W, b = (p.detach().numpy().astype(np.float64) for p in network.first.parameters())
        rows = X.astype(dtype)
        for layer, expected in {"first": X @ W.T + b, "act": np.maximum(X @ W.T + b, 0.0)}.items():
            phi = NetworkFeatures(network, layer, batch_size=7).fit(rows)
            assert phi.transform(rows).dtype == dtype
            np.testing.assert_allclose(phi.transform(rows), expected, atol=1e-5)
            np.testing.assert_allclose(phi.transform(sp.csr_array(rows)), expected, atol=1e-5)
        assert NetworkFeatures(network).fit(rows).transform(rows).shape == (25, 2)
        assert network.training and not phi.network_.training

    def test_layers_behind_the_cut_are_not_run_and_no_gradients_are_kept(self):
        torch = self.torch

        class Fragile(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.good = torch.nn.Linear(4, 3)
                self.spare = torch.nn.Identity()

            def forward(self, rows):
                out = self.good(rows)
                assert not out.requires_grad
                raise ArithmeticError("behind the cut")

        assert NetworkFeatures(Fragile(), "good").fit(X).transform(X).shape == (25, 3)
        with pytest.raises(ArithmeticError):
            NetworkFeatures(Fragile(), "spare").fit(X)

    def test_training_on_does_not_change_the_map(self):
        network = self.network()
        phi = NetworkFeatures(network, "act", device="cpu").fit(X)
        before = phi.transform(X)
        with self.torch.no_grad():
            network.first.weight.zero_()
        np.testing.assert_array_equal(phi.transform(X), before)

    def test_images_get_their_shape(self):
        images = np.random.default_rng(0).normal(size=(6, 64))
        network = self.torch.nn.Sequential(self.torch.nn.Conv2d(1, 2, 3), self.torch.nn.ReLU())
        phi = NetworkFeatures(network, "0", input_shape=(1, 8, 8)).fit(images)
        assert phi.transform(images).shape == (6, 2 * 6 * 6)
        assert len(phi.get_feature_names_out()) == 72

    def test_errors_name_the_layer(self):
        with pytest.raises(InvalidInputError) as caught:
            NetworkFeatures(self.network(), "second").fit(X)
        assert str(caught.value) == (
            "layer must be a layer of the network, one of first, drop, act, last; got 'second'."
        )

        class Idle(self.torch.nn.Module):
            def __init__(self, torch) -> None:
                super().__init__()
                self.idle, self.lstm = torch.nn.Linear(4, 4), torch.nn.LSTM(4, 2)

            def forward(self, rows):
                return self.lstm(rows)[0]

        with pytest.raises(InvalidInputError) as caught:
            NetworkFeatures(Idle(self.torch), "idle").fit(X)
        assert str(caught.value) == "layer 'idle' takes no part in what the network does with a batch."
        with pytest.raises(InvalidInputError) as caught:
            NetworkFeatures(Idle(self.torch), "lstm").fit(X)
        assert str(caught.value) == "layer must be one that returns a single tensor; 'lstm' returns tuple."

    def test_layers_trained_on_some_digits_serve_the_others(self):
        """A network learns 0 to 4; its hidden layer, a linear machine on top, tells 5 to 9 apart with few samples."""
        torch = self.torch
        images, digits = load_digits(return_X_y=True)
        images = images / 16.0
        old = digits < 5
        torch.manual_seed(0)
        network = torch.nn.Sequential(
            dict_of([("hidden", torch.nn.Linear(64, 48)), ("act", torch.nn.Tanh()), ("top", torch.nn.Linear(48, 5))])
        )
        rows, labels = torch.tensor(images[old], dtype=torch.float32), torch.tensor(digits[old])
        optimizer = torch.optim.LBFGS(network.parameters(), max_iter=60)

        def loss():
            optimizer.zero_grad()
            value = torch.nn.functional.cross_entropy(network(rows), labels) + 1e-4 * sum(
                (p**2).sum() for p in network.parameters()
            )
            value.backward()
            return value

        optimizer.step(loss)
        assert float((network(rows).argmax(1) == labels).float().mean()) > 0.99
        few, rest = np.flatnonzero(~old)[:200], np.flatnonzero(~old)[200:]
        score = {}
        for layer in ("act", "top"):
            phi = NetworkFeatures(network, layer).fit(images)
            model = gl.LinearSVC(C=1.0).fit(phi.transform(images[few]), digits[few])
            assert model.certificate_.relative_gap <= model.tol
            score[layer] = model.score(phi.transform(images[rest]), digits[rest])
        # What the first layers see is of use for every digit; what the last one says is about 0 to 4 alone.
        assert score["act"] > 0.85 > 0.75 > score["top"]


def dict_of(layers: list, *more: tuple) -> dict:
    from collections import OrderedDict

    return OrderedDict([*layers, *more])


def modules() -> list:
    torch = pytest.importorskip("torch", reason="needs the extra torch")
    return [
        NetworkFeatures(torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Softmax(dim=1)), layer, batch_size=9)
        for layer in (None, "0")
    ]


@parametrize_with_checks(modules())
def test_scikit_learn_checks(estimator, check):
    check(estimator)
