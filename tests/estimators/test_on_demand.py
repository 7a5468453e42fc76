"""The objects of pairs of classes that were solved in one go are made when they are read, and kept wherever a model is kept."""

from __future__ import annotations

import gc
import pickle
import weakref

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

import gapless as gl
from gapless.errors import DroppedError
from gapless.estimators.every_pair import EveryPair
from tests.estimators.data import many

X, Y = many()


def test_objects_are_made_when_they_are_read(monkeypatch):
    made = []
    original = EveryPair._make
    monkeypatch.setattr(EveryPair, "_make", lambda self, k: (made.append(k), original(self, k))[1])
    model = gl.SVC().fit(X, Y)
    assert len(made) == 1 and model.certificate_.relative_gap <= 1e-3  # the widest
    assert model.predict(X).shape == Y.shape and len(model.n_iter_) == 28 and len(made) == 1
    assert len(model.certificates_) == 28 and sorted(made) == list(range(28))
    assert any(model.certificate_ is each for each in model.certificates_)
    assert model.trace_ is model.traces_[model.certificates_.index(model.certificate_)]
    assert model.alpha_.shape == (48, 28) and sorted(made) == list(range(28))


@pytest.mark.parametrize("model", [gl.SVC(), gl.NuSVC(nu=0.3)], ids=str)
def test_copies_and_files_keep_everything(model, tmp_path):
    model = model.fit(X, Y)
    model.save(tmp_path / "model.safetensors")
    for again in (pickle.loads(pickle.dumps(model)), gl.load(tmp_path / "model.safetensors")):
        assert again.certificates_ == model.certificates_ and again.certificate_ == model.certificate_
        assert again.traces_ == model.traces_
        assert_array_equal(again.decision_function(X), model.decision_function(X))
        assert_array_equal(again.alpha_, model.alpha_)
        for one, other in zip(again.decision_interval(X), model.decision_interval(X), strict=True):
            assert_array_equal(one, other)


def test_compact_keeps_the_proofs_and_drops_the_rest():
    model = gl.SVC().fit(X, Y)
    whole, interval, certificates = len(pickle.dumps(model)), model.decision_interval(X), model.certificates_
    assert len(pickle.dumps(model.compact())) < whole
    assert model.certificates_ == certificates and model.certificate_ in certificates
    for one, other in zip(model.decision_interval(X), interval, strict=True):
        assert_array_equal(one, other)
    with pytest.raises(DroppedError):
        _ = model.alpha_
    fresh = gl.SVC().fit(X, Y).compact()  # without a look at anything before
    assert fresh.certificates_ == certificates


def test_a_fitted_model_does_not_hold_the_gram_matrix():
    gram = rbf_kernel(X, gamma=0.2)

    class Array(np.ndarray):
        pass

    held = weakref.ref(kept := gram.view(Array))
    kernel = gl.kernels.Precomputed(kept)
    places = np.arange(48, dtype=float)[:, None]
    model = gl.SVC(kernel=kernel).fit(places, Y)
    model.kernel = model._kernel_object = None
    del kept, kernel
    gc.collect()
    assert held() is None and len(model.certificates_) == 28
