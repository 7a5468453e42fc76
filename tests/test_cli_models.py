"""train, predict, verify and info: what they print and write, and with which exit code."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file
from sklearn.metrics import r2_score
from typer.testing import CliRunner

import gapless
from gapless.cli import app


def run(*arguments, stdin=None):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


def data(kind="two", n=90):
    """Rows around centres, with labels: −1 and 1, three texts, or a smooth target."""
    rng = np.random.default_rng(3)
    codes = np.arange(n) % (3 if kind == "three" else 2)
    X = (rng.normal(size=(n, 4)) + 1.2 * np.eye(4)[codes]).round(3)
    if kind == "smooth":
        return X, (np.sin(X[:, 0]) + 0.1 * rng.normal(size=n)).round(4)
    return X, np.array(["no", "perhaps", "yes"])[codes] if kind == "three" else 2 * codes - 1


def csv_text(X, y=None, header="a,b,c,d,kind\n"):
    rows = X.tolist() if y is None else [[*row, label] for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    return header + "".join(",".join(map(str, row)) + "\n" for row in rows)


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


def test_help():
    for command in ("train", "predict", "verify", "info"):
        shown = run(command, "--help")
        assert shown.exit_code == 0 and "Example:" in shown.stdout
        assert command in run("--help").stdout


def test_train_prints_the_certificate_and_what_was_saved(svm, tmp_path):
    path = tmp_path / "model.safetensors"
    done = run("train", svm, "--kernel", "rbf", "--gamma", 0.5, "-C", 10, "--out", path)
    assert (done.exit_code, done.stderr) == (0, "")
    model = gapless.load(path)
    assert done.stdout.splitlines()[:4] == [
        "model            SVC with the kernel RBF(gamma=0.5)",
        "data             90 samples, 4 features",
        f"certificate      {model.certificate_}",
        "proven           to 0.001",
    ]
    assert f"saved to         {path} ({path.stat().st_size:,} bytes)" in done.stdout
    ours = gapless.SVC(C=10, gamma=0.5).fit(sp.csr_array(data()[0]), data()[1])
    assert model.certificate_ == ours.certificate_ and model.verbose is False


def test_train_json(svm, tmp_path):
    path = tmp_path / "model.safetensors"
    content = json.loads(run("train", svm, "--tol", 1e-6, "--out", path, "--json").stdout)
    model = gapless.load(path)
    assert content.pop("seconds") > 0
    certificate = model.certificate_
    proof = {
        "primal": certificate.primal,
        "dual": certificate.dual,
        "gap": certificate.gap,
        "relative_gap": certificate.relative_gap,
        "kkt_violation": certificate.kkt_violation,
    }
    assert content == {
        "model": str(path),
        "class": "SVC",
        "kernel": repr(model._kernel_object),
        "samples": 90,
        "features": 4,
        "classes": [-1, 1],
        "support_vectors": int(model.n_support_.sum()),
        "tol": 1e-6,
        "proven": True,
        "status": "CONVERGED",
        "certificate": proof,
        "certificates": [proof],
    }


# What each set of options trains, on which data.
WAYS = [
    ("two", [], "SVC(kernel=RBF)"),
    ("two", ["--kernel", "linear", "-C", "0.1"], "SVC(kernel=Linear)"),
    ("two", ["--kernel", "poly", "--degree", "2", "--coef0", "1"], "SVC(kernel=Polynomial)"),
    ("two", ["--kernel", "laplacian", "--gamma", "0.3"], "SVC(kernel=Laplacian)"),
    ("two", ["--kernel", "0.5 * RBF(gamma=0.1) + Linear()"], "SVC(kernel=Sum)"),
    ("two", ["--nu", "0.3"], "NuSVC(kernel=RBF)"),
    ("two", ["--linear"], "LinearSVC"),
    ("two", ["--linear", "--loss", "hinge", "--intercept", "free", "--seed", "3"], "LinearSVC"),
    ("two", ["--linear", "--intercept", "none"], "LinearSVC"),
    ("two", ["--task", "one-class", "--nu", "0.2"], "OneClassSVM(kernel=RBF)"),
    ("two", ["--tol", "1e-8", "-C", "100"], "SVC(kernel=RBF)"),
    ("three", ["--n-jobs", "2"], "SVC(kernel=RBF)"),
    ("three", ["--nu", "0.2"], "NuSVC(kernel=RBF)"),
    ("three", ["--linear"], "LinearSVC"),
    ("three", ["--positive", "yes"], "SVC(kernel=RBF)"),
    ("smooth", [], "SVR(kernel=RBF)"),
    ("smooth", ["--nu", "0.5", "-C", "2"], "NuSVR(kernel=RBF)"),
    ("smooth", ["--epsilon", "0.2", "--linear", "--max-iter", "100000"], "LinearSVR"),
    ("smooth", ["--linear", "--loss", "squared_epsilon_insensitive"], "LinearSVR"),
]


def other_label(kind, label):
    """Another label; a target far away."""
    if kind == "smooth":
        return label + 10.0
    return -label if kind == "two" else {"no": "yes", "yes": "perhaps", "perhaps": "no"}[label]


@pytest.mark.parametrize(("kind", "options", "expected"), WAYS, ids=lambda value: "-".join(value) if isinstance(value, list) else None)  # fmt: skip
def test_every_way_to_train_verifies_and_a_flipped_label_does_not(kind, options, expected, tmp_path):
    X, y = data(kind)
    path, out = tmp_path / "data.csv", tmp_path / "model.safetensors"
    path.write_text(csv_text(X, y))
    one_class = "one-class" in options
    positive = options if "--positive" in options else []
    if one_class:
        path.write_text(csv_text(X, header="a,b,c,d\n"))
    done = run("train", path, "--out", out, *options)
    assert done.exit_code == 0, done.output
    model = gapless.load(out)
    kernel = f"(kernel={type(model._kernel_object).__name__})" if hasattr(model, "_kernel_object") else ""
    assert f"{type(model).__name__}{kernel}" == expected
    good = run("verify", out, path, *positive)
    assert (good.exit_code, good.stderr) == (0, ""), good.output
    assert good.stdout.splitlines()[-1] == f"The proof holds: the relative gap is at most {model.tol:g}."
    for i in () if one_class else range(0, len(y), 17):
        flipped = y.copy()
        flipped[i] = other_label(kind, y[i])
        if positive and (flipped[i] == "yes") == (y[i] == "yes"):
            continue
        path.write_text(csv_text(X, flipped))
        bad = run("verify", out, path, *positive)
        assert bad.exit_code == 1, (i, bad.output)
        assert "does not hold on this data: " in bad.stderr and bad.stderr.count("\n") == 1


@pytest.mark.parametrize("options", [["--kernel", "linear"], ["--gamma", "0.1"], ["--linear"]], ids="-".join)
def test_a_hard_margin_verifies(options, tmp_path):
    X, y = data()
    X = X + 4 * y[:, None]
    path, out = tmp_path / "data.csv", tmp_path / "model.safetensors"
    path.write_text(csv_text(X, y))
    assert run("train", path, "-C", "inf", "--out", out, *options).exit_code == 0
    assert run("verify", out, path).exit_code == 0
    y[5] = -y[5]
    path.write_text(csv_text(X, y))
    assert run("verify", out, path).exit_code == 1


def test_every_flipped_label_is_found(svm, model):
    lines = svm.read_text().splitlines()
    for i in range(0, len(lines), 3):
        label, _, rest = lines[i].partition(" ")
        svm.write_text("\n".join([*lines[:i], f"{-int(label)} {rest}", *lines[i + 1 :]]) + "\n")
        assert run("verify", model, svm).exit_code == 1, i


def test_every_flipped_byte_is_found(svm, model):
    content = model.read_bytes()
    for place in np.linspace(0, len(content) - 1, 60).astype(int):
        changed = bytearray(content)
        changed[place] ^= 1
        model.write_bytes(changed)
        bad = run("verify", model, svm)
        assert bad.exit_code == 2, place
        assert bad.stderr.startswith(f"gapless: The file '{model}'") and bad.stderr.count("\n") == 1


def test_verify_json_and_other_data(svm, model, tmp_path):
    content = json.loads(run("verify", model, svm, "--json").stdout)
    assert content["holds"] is True and content["objection"] is None and content["tol"] == 1e-3
    for side in ("primal", "dual"):
        assert content["recomputed"][side] == pytest.approx(content["stored"][side], rel=1e-9)
    assert content["parts"] == [{"stored": content["stored"], "recomputed": content["recomputed"]}]
    lines = svm.read_text().splitlines()
    svm.write_text("\n".join(lines[:-1]) + "\n")
    fewer = run("verify", model, svm)
    assert (fewer.exit_code, fewer.stderr) == (
        1,
        "gapless: The proof does not hold on this data: the model was trained on 90 samples, and the data has 89.\n",
    )
    svm.write_text("\n".join(["7 1:1", *lines[1:]]) + "\n")
    label = run("verify", model, svm, "--json")
    assert label.stderr == (
        "gapless: The proof does not hold on this data: y has labels that the model was not trained on.\n"
    )
    svm.write_text("\n".join(reversed(lines)) + "\n")
    assert "the model's support vectors are not rows of X" in run("verify", model, svm).stderr
    foreign = run("verify", svm, svm)
    assert foreign.exit_code == 2 and "is not a model file of Gapless" in foreign.stderr
    missing = run("verify", tmp_path / "none", svm)
    assert (missing.exit_code, missing.stderr) == (2, f"gapless: There is no model file '{tmp_path / 'none'}'.\n")


def test_verify_says_which_models_it_does_not_read(svm, tmp_path):
    X, y = data()
    path = tmp_path / "l1.safetensors"
    gapless.LinearSVC(penalty="l1", dual=False).fit(X, y).save(path)
    done = run("verify", path, svm)
    assert done.exit_code == 2
    assert done.stderr.startswith("gapless: certify reads LinearSVC with penalty='l2' and multi_class='ovr';")


def test_a_run_that_stops_early_saves_its_model(svm, tmp_path):
    path = tmp_path / "model.safetensors"
    done = run("train", svm, "--max-iter", 20, "--tol", 1e-9, "--out", path)
    assert done.exit_code == 1
    assert done.stderr == (
        "gapless: the model is saved, but it is not proven to tol. "
        "Stopped at max_iter before tol was reached; the certificate tells how close the best iterate is.\n"
    )
    assert "proven           no" in done.stdout
    gap = gapless.load(path).certificate_.relative_gap
    checked = run("verify", path, svm)
    assert checked.exit_code == 1
    assert checked.stderr.startswith("gapless: The model is not proven to tol on this data: its relative gap is ")
    assert json.loads(run("info", path, "--json").stdout)["certificate"]["relative_gap"] == gap
    json_run = run("train", svm, "--max-iter", 20, "--tol", 1e-9, "--out", path, "--json")
    assert (json_run.exit_code, json.loads(json_run.stdout)["proven"]) == (1, False)


def test_an_indefinite_kernel_has_no_proof(svm, tmp_path):
    path = tmp_path / "model.safetensors"
    done = run("train", svm, "--kernel", "sigmoid", "--out", path, "--json")
    content = json.loads(done.stdout)
    assert done.exit_code == 1 and content["status"] == "STATIONARY" and content["certificate"]["dual"] is None
    checked = run("verify", path, svm)
    assert (checked.exit_code, checked.stderr) == (
        1,
        "gapless: There is no proof to verify: the kernel is not positive semi-definite, so that no dual value bounds the optimum.\n",
    )
    assert "dual none" in run("info", path).stdout


def test_ctrl_c_saves_the_best_model(svm, tmp_path, monkeypatch):
    from gapless.solvers.smo.solver import SmoEngine

    original = SmoEngine.step

    def step(self, budget, targets):
        original(self, budget, targets)
        raise KeyboardInterrupt

    monkeypatch.setattr(SmoEngine, "step", step)
    path = tmp_path / "model.safetensors"
    done = run("train", svm, "--tol", 1e-12, "--out", path)
    assert done.exit_code == 130
    assert done.stderr.startswith("gapless: interrupted during smo; its best certificate so far: primal ")
    assert f"certificate      {gapless.load(path).certificate_}" in done.stdout


def test_warnings_are_sentences(tmp_path, monkeypatch):
    import warnings

    original = gapless.SVC.fit

    def fit(self, X, y):
        warnings.warn("the fit is slow.", stacklevel=2)
        return original(self, X, y)

    monkeypatch.setattr(gapless.SVC, "fit", fit)
    done = run("train", "-", "--out", tmp_path / "m", stdin="+1 1:1\n-1 1:-1\n")
    assert (done.exit_code, done.stderr) == (0, "gapless: the fit is slow.\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--task", "rank"], "--task must be one of auto, classify, regress, one-class; got 'rank'."),
        (["--kernel", "rfb"], "--kernel must be one of linear, rbf, polynomial, laplacian, matern, cosine, chi2, sigmoid; got 'rfb'."),
        (["--kernel", "RBF(gama=1)"], "The kernel expression 'RBF(gama=1)' is not understood:"),
        (["--kernel", "RBF(gamma=1)", "--gamma", "2"], "--gamma belongs into the kernel's expression, as in RBF(gamma=0.1)."),
        (["--kernel", "linear", "--gamma", "1"], "--gamma is no parameter of the kernel linear."),
        (["--kernel", "laplacian", "--gamma", "scale"], "--gamma must be a number for the kernel laplacian; got 'scale'."),
        (["--gamma", "wide"], "--gamma must be a number, scale or auto; got 'wide'."),
        (["--linear", "--kernel", "rbf"], "--kernel is no option of LinearSVC, which the task classify with --linear asks for."),
        (["--loss", "hinge"], "--loss is no option of SVC, which the task classify asks for."),
        (["--nu", "0.5", "-C", "1"], "-C is no option of NuSVC, which the task classify with --nu asks for."),
        (["--linear", "--intercept", "maybe"], "--intercept must be one of regularized, free, none; got 'maybe'."),
        (["--linear", "--task", "one-class"], "--linear is for --task classify and regress; a one-class machine takes --kernel linear."),
        (["--linear", "--loss", "square"], "The 'loss' parameter of LinearSVC must be one of 'hinge', 'squared_hinge'; got 'square'."),
        (["-C", "0"], "The 'C' parameter of SVC must be a positive number; got 0.0."),
        (["--label-column", "z"], "label_column is for CSV and Parquet files; two.svm is in LIBSVM format, where the label comes first."),
        (["--positive", "3"], "--positive must be a label of the file (-1, 1); got '3'."),
    ],
)  # fmt: skip
def test_bad_options_are_one_sentence_and_exit_code_2(svm, tmp_path, options, message):
    done = run("train", svm, "--out", tmp_path / "m", *options)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"gapless: {message}") and done.stderr.count("\n") == 1
    assert done.stdout == "" and not (tmp_path / "m").exists()


def test_bad_files_and_places(svm, tmp_path):
    place = run("train", svm, "--out", tmp_path / "none" / "m")
    assert (place.exit_code, place.stderr) == (
        2,
        f"gapless: --out must be a file in a folder that exists; got '{tmp_path / 'none' / 'm'}'.\n",
    )
    svm.write_text("1 1:1\n-1 1:x\n")
    bad = run("train", svm, "--out", tmp_path / "m")
    assert bad.stderr == "gapless: two.svm, line 2: the value of index 1 must be a finite number; got 'x'.\n"
    many = run("train", "-", "--out", tmp_path / "m", stdin="".join(f"{i} 1:{i}\n" for i in range(60)))
    assert (many.exit_code, many.stderr) == (
        2,
        "gapless: the labels are 60 different whole numbers, which may be classes or targets: give --task classify or --task regress.\n",
    )


def test_predict_lines_decisions_json_and_files(svm, model, tmp_path):
    X, y = data()
    fitted = gapless.load(model)
    labels = fitted.predict(sp.csr_array(X))
    done = run("predict", model, svm)
    assert done.exit_code == 0 and done.stdout.split() == [str(label) for label in labels]
    assert done.stderr == f"accuracy {np.mean(labels == y):.6g} on 90 samples\n"
    decided = run("predict", model, svm, "--decision", "--out", tmp_path / "out.txt")
    assert decided.stdout == ""
    np.testing.assert_array_equal(np.loadtxt(tmp_path / "out.txt"), fitted.decision_function(sp.csr_array(X)))
    content = json.loads(run("predict", model, svm, "--json").stdout)
    assert content == {"predictions": labels.tolist(), "accuracy": np.mean(labels == y)}
    assert "decisions" in json.loads(run("predict", model, svm, "--json", "--decision").stdout)


def test_predict_several_classes_and_texts(tmp_path):
    X, y = data("three")
    path, out = tmp_path / "data.csv", tmp_path / "model.safetensors"
    path.write_text(csv_text(X, y))
    run("train", path, "--out", out)
    done = run("predict", out, path, "--decision")
    assert [len(line.split("\t")) for line in done.stdout.splitlines()] == [3] * 90
    assert run("predict", out, path).stdout.split() == gapless.load(out).predict(X).tolist()
    placeholders = run("predict", out, "-", stdin=csv_text(X, np.zeros(90, dtype=int)))
    assert (placeholders.exit_code, placeholders.stderr) == (0, "")


def test_predict_values_and_their_score(tmp_path):
    X, y = data("smooth")
    path, out = tmp_path / "data.csv", tmp_path / "model.safetensors"
    path.write_text(csv_text(X, y))
    run("train", path, "--out", out)
    values = gapless.load(out).predict(X)
    done = run("predict", out, path)
    assert [float(line) for line in done.stdout.split()] == values.tolist()
    assert done.stderr == f"R² {r2_score(y, values):.6g} on 90 samples\n"
    refused = run("predict", out, path, "--decision")
    assert refused.stderr == "gapless: --decision is for classifiers; SVR predicts its values as they are.\n"
    text = run("predict", out, "-", stdin=csv_text(X[:1], np.array(["high"])))
    assert text.exit_code == 2 and "line 2, column 'kind': expected a finite number; got 'high'." in text.stderr


def test_data_without_labels_and_of_other_widths(svm, model, tmp_path):
    X, _ = data()
    fitted = gapless.load(model)
    lines = [str(label) for label in fitted.predict(sp.csr_array(X))]
    bare = run("predict", model, "-", stdin=csv_text(X, header=""))
    assert (bare.exit_code, bare.stdout.split(), bare.stderr) == (0, lines, "")
    short = run("predict", model, "-", stdin="1 1:0.5\n")
    assert short.stdout.split() == [str(fitted.predict(sp.csr_array([[0.5, 0, 0, 0]]))[0])]
    long = run("predict", model, "-", stdin="1 1:0.5 6:1\n")
    assert (long.exit_code, long.stderr) == (2, "gapless: the input has 6 features, but the model was trained on 4.\n")
    narrow = run("predict", model, "-", stdin="1,2,3\n")
    assert (narrow.exit_code, narrow.stderr) == (
        2,
        "gapless: the input has 2 features, but the model was trained on 4.\n",
    )


def test_every_format_gives_one_model(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    X, y = data()
    S = sp.csr_array(X)
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=False)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(csv_text(X, y).encode()))
    pd.DataFrame({**dict(zip("abcd", X.T, strict=True)), "kind": y}).to_parquet(tmp_path / "a.parquet")
    np.savez(tmp_path / "dense.npz", X=X, y=y)
    np.savez(tmp_path / "sparse.npz", data=S.data, indices=S.indices, indptr=S.indptr, shape=S.shape, y=y)
    names = ["a.svm", "a.csv.gz", "a.parquet", "dense.npz", "sparse.npz"]
    out = tmp_path / "m"
    for name in names:
        assert run("train", tmp_path / name, "--tol", 1e-6, "--out", out).exit_code == 0
        for other in names:
            assert run("verify", out, tmp_path / other).exit_code == 0, (name, other)
            assert run("predict", out, tmp_path / other).stderr.startswith("accuracy ")
    piped = run("verify", out, "-", stdin=(tmp_path / "a.parquet").read_bytes())
    assert piped.exit_code == 0


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
    assert "features     4: a, b, c, d" in shown and "parameters   C='inf'" in shown
    assert not any(line.startswith(("kernel", "support")) for line in shown)


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "options"), [(None, ["--linear"]), (2000, ["--kernel", "rbf", "-C", "10"])], ids=["linear", "rbf"])  # fmt: skip
def test_a9a(shared_data, tmp_path, rows, options):
    X, y, _, _ = shared_data("a9a")
    X, y = X[:rows], y[:rows].astype(int)
    path, out = tmp_path / "a9a.svm", tmp_path / "model.safetensors"
    dump_svmlight_file(X, y, str(path), zero_based=False)
    done = run("train", path, "--out", out, *options)
    assert done.exit_code == 0 and "relative gap" in done.stdout, done.output
    assert run("verify", out, path).exit_code == 0
    lines = path.read_text().splitlines()
    for i in np.linspace(0, len(lines) - 1, 4).astype(int):
        label, _, rest = lines[i].partition(" ")
        path.write_text("\n".join([*lines[:i], f"{-int(label)} {rest}", *lines[i + 1 :]]) + "\n")
        assert run("verify", out, path).exit_code == 1, i


def test_train_takes_a_store(svm, tmp_path):
    store = gapless.data.convert(svm, tmp_path / "store")
    path = tmp_path / "linear.safetensors"
    done = run("train", store, "--linear", "--out", path)
    assert (done.exit_code, done.stderr) == (0, "")
    ours = gapless.LinearSVC().fit(sp.csr_array(data()[0]), data()[1])
    assert gapless.load(path).certificate_ == ours.certificate_
