"""gapless info: what a model file says of itself."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
import sklearn

import gapless
from tests.cli.running import data, run


def test_info(svm, model):
    content = json.loads(run("info", model, "--json").stdout)
    fitted = gapless.load(model)
    assert content["class"] == "SVC" and content["parameters"]["C"] == 10.0 and content["changed"] == {"C": 10.0}
    assert content["kernel"] == repr(fitted._kernel_object)
    assert content["classes"] == [-1, 1] and content["features"] == 4 and content["feature_names"] is None
    assert content["support_vectors"] == fitted.n_support_.sum()
    assert content["certificate"]["primal"] == fitted.certificate_.primal and len(content["certificates"]) == 1
    assert content["status"] == "CONVERGED" and content["version"] == gapless.__version__
    assert content["bytes"] == model.stat().st_size
    shown = run("info", model).stdout
    for line in (
        "class            SVC",
        "parameters       C=10.0",
        "classes          -1, 1",
        f"saved by         gapless {gapless.__version__}",
    ):
        assert line in shown.splitlines()
    damaged = bytearray(model.read_bytes())
    damaged[-1] ^= 1
    model.write_bytes(damaged)
    bad = run("info", model)
    assert bad.exit_code == 2 and "is damaged: its checksum does not fit its content" in bad.stderr


def test_info_of_a_linear_model_with_names(tmp_path):
    pd = pytest.importorskip("pandas")
    X, y = data()
    path = tmp_path / "m"
    gapless.LinearSVC(C=float("inf")).fit(pd.DataFrame(X + 4 * y[:, None], columns=list("abcd")), y).save(path)
    shown = run("info", path).stdout.splitlines()
    assert "features         4: a, b, c, d" in shown and "parameters       C='inf'" in shown
    assert "support vectors  2" in shown and not any(line.startswith("kernel") for line in shown)


@pytest.mark.parametrize("estimator", [gapless.KernelPerceptron, gapless.KernelFisherDiscriminant])
def test_info_and_verify_of_a_model_without_a_certificate(estimator, svm, tmp_path):
    """Both showed a traceback: these two prove nothing, and have no status."""
    path = tmp_path / "m"
    X, y = data()
    estimator().fit(X + 4 * y[:, None], y).save(path)  # apart, so that a perceptron ends
    content = json.loads(run("info", path, "--json").stdout)
    assert content["class"] == estimator.__name__ and content["features"] == 4
    assert (content["certificate"], content["certificates"], content["status"]) == (None, [], None)
    shown = run("info", path)
    assert shown.exit_code == 0 and "classes" in shown.stdout and "certificate" not in shown.stdout
    checked = run("verify", path, svm)
    assert (checked.exit_code, checked.stderr) == (
        2,
        f"gapless: A {estimator.__name__} has no proof to verify, since its fit gives no certificate.\n",
    )


def test_without_a_model_it_tells_versions_and_the_machine():
    content = json.loads(run("info", "--json").stdout)
    assert content["gapless"] == gapless.__version__ and content["numpy"] == np.__version__
    assert content["scikit-learn"] == sklearn.__version__ and content["cores"] >= 1
    assert content["instruction set"] == gapless._native.isa()
    shown = run("info").stdout
    for name, value in content.items():
        assert (value is not None) == any(
            line.split(maxsplit=1)[0] == name.split()[0] for line in shown.splitlines()
        ), name
    assert os.path.expanduser("~") not in shown


def test_an_absent_package_is_left_out(monkeypatch):
    monkeypatch.setattr("gapless.cli.versions._OPTIONAL", ("no-such-package",))
    assert json.loads(run("info", "--json").stdout)["no-such-package"] is None
    assert "no-such-package" not in run("info").stdout
