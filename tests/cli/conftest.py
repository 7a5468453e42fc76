"""A LIBSVM file of two classes, and a model trained on it."""

from __future__ import annotations

import pytest
from sklearn.datasets import dump_svmlight_file

from tests.cli.running import data, run


@pytest.fixture
def svm(tmp_path):
    path = tmp_path / "two.svm"
    dump_svmlight_file(*data(), str(path), zero_based=False)
    return path


@pytest.fixture
def model(svm, tmp_path):
    path = tmp_path / "model.safetensors"
    assert run("train", svm, "-C", 10, "--out", path).exit_code == 0
    return path
