from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

import gapless as gl
from gapless.data import pieces
from gapless.data import store as module
from gapless.data.rows import compact, is_mapped
from gapless.data.store import convert, is_store, open_store
from gapless.errors import InvalidInputError


def data(n: int = 50, d: int = 7) -> tuple[sp.csr_array, np.ndarray]:
    rng = np.random.default_rng(0)
    X = np.where(rng.random((n, d)) < 0.5, 0.0, rng.normal(size=(n, d)).round(3))
    X[0, -1] = 1.0
    return sp.csr_array(X), np.where(rng.random(n) < 0.5, 1, -1)


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("piece", [1 << 24, 100])
def test_a_libsvm_file_in_pieces_is_the_whole(tmp_path, monkeypatch, zero_based, piece):
    monkeypatch.setattr(pieces, "PIECE", piece)
    X, y = data()
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=zero_based)
    told = []
    samples = open_store(convert(tmp_path / "a.svm", tmp_path / "s", progress=lambda *news: told.append(news)))
    np.testing.assert_array_equal(samples.X.toarray(), X.toarray())
    np.testing.assert_array_equal(samples.y, y)
    assert is_store(tmp_path / "s") and told[-1] == ("a.svm", 50) and (len(told) > 1) == (piece == 100)


def test_a_folder_of_parquet_files(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    X, _ = data()
    kinds = np.array(["ham", "spam"])[np.arange(50) % 2]
    (tmp_path / "in").mkdir()
    for k, part in enumerate((slice(0, 20), slice(20, 50))):
        table = pd.DataFrame(X.toarray()[part], columns=list("abcdefg"))
        table["kind"] = kinds[part]
        table.to_parquet(tmp_path / "in" / f"{k}.parquet")
    samples = open_store(convert(tmp_path / "in", tmp_path / "s", label_column="kind", dtype="float32"))
    np.testing.assert_array_equal(samples.X, X.toarray().astype(np.float32))
    assert samples.y.tolist() == kinds.tolist() and is_mapped(samples.X)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 12), st.integers(1, 6), st.integers(0, 2**32 - 1), st.sampled_from(["float32", "float64"]))
def test_what_goes_in_comes_out(tmp_path_factory, n, d, seed, dtype):
    folder = tmp_path_factory.mktemp("store")
    rng = np.random.default_rng(seed)
    X = np.round(np.where(rng.random((n, d)) < 0.5, 0.0, rng.normal(size=(n, d))), 3)
    X[0, 0] = X[0, -1] = 1.0
    y = rng.integers(0, 3, size=n)
    dump_svmlight_file(X, y, str(folder / "a.svm"))
    samples = open_store(convert(folder / "a.svm", folder / "s", dtype=dtype, n_features=d))
    np.testing.assert_array_equal(samples.X.toarray(), X.astype(dtype))
    np.testing.assert_array_equal(samples.y, y)


@pytest.mark.parametrize("kind", ["csr", "dense"])
def test_a_problem_on_a_store_copies_nothing_and_solves_the_same(tmp_path, kind):
    X, y = data()
    if kind == "csr":
        dump_svmlight_file(X, y, str(tmp_path / "a.svm"))
    else:
        np.savez(tmp_path / "a.npz", X=X.toarray(), y=y)
    samples = open_store(convert(tmp_path / ("a.svm" if kind == "csr" else "a.npz"), tmp_path / "s"))
    stored = gl.Problem(samples.X, samples.y, C=1.0)
    assert is_mapped(stored.rows.values) and compact(stored.rows) is stored.rows
    assert kind == "dense" or np.shares_memory(stored.rows.indices, samples.X.indices)
    result, plain = gl.solve(stored, "sdca"), gl.solve(gl.Problem(X, y, C=1.0), "smo")
    assert result.status is gl.Status.CONVERGED
    assert abs(result.certificate.primal - plain.certificate.primal) <= result.certificate.gap + plain.certificate.gap


def test_mistakes_are_named(tmp_path):
    with pytest.raises(InvalidInputError, match=r"does not exist\.$"):
        convert(tmp_path / "none.svm", tmp_path / "s")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInputError, match=r"holds no files\.$"):
        convert(tmp_path / "empty", tmp_path / "s")
    (tmp_path / "bad.svm").write_text("1 1:2\n1 1:x\n")
    with pytest.raises(InvalidInputError, match=r"^bad\.svm, line 2: the value of index 1 must be a finite number"):
        convert(tmp_path / "bad.svm", tmp_path / "s")
    assert not (tmp_path / "s").exists() and not (tmp_path / "s.part").exists()
    with pytest.raises(InvalidInputError, match=r"^dtype must be float32 or float64; got 'int8'\.$"):
        convert(tmp_path / "bad.svm", tmp_path / "s", dtype="int8")
    with pytest.raises(InvalidInputError, match=r"is neither\.$"):
        convert(tmp_path / "bad.svm", tmp_path)
    with pytest.raises(InvalidInputError, match=r"is no store: "):
        open_store(tmp_path)


def test_a_cut_store_is_refused(tmp_path):
    X, y = data()
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"))
    store = convert(tmp_path / "a.svm", tmp_path / "s")
    (store / "values.bin").write_bytes((store / "values.bin").read_bytes()[:-8])
    with pytest.raises(InvalidInputError, match=r"is a store that cannot be read: values\.bin has"):
        open_store(store)


_CHILD = """
import sys
import gapless as gl
from gapless.data.store import open_store

peak = 0

def look(progress=None):
    global peak
    line = next(line for line in open("/proc/self/status") if line.startswith("RssAnon"))
    peak = max(peak, 1024 * int(line.split()[1]))

samples = open_store(sys.argv[1])
gl.solve(gl.Problem(samples.X[:100], samples.y[:100], lam_mean=0.1, intercept="none"), "sdca", max_iter=3)  # compiles
look()
before = peak
result = gl.solve(gl.Problem(samples.X, samples.y, lam_mean=0.1, intercept="none"), "sdca", tol=1e-2, callback=look)
look()
print(peak - before, result.certificate.relative_gap)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="resident memory is read from /proc")
@pytest.mark.parametrize("kind", ["csr", "dense"])
def test_resident_memory_does_not_grow_with_the_entries(tmp_path, kind):
    """160 MB of values (and as many of indices in CSR), of which at most 64 MiB may be the process's own at a time."""
    n, d = 4_000, 10_000
    rng = np.random.default_rng(0)
    X = rng.standard_normal(size=(n, d), dtype=np.float32)
    y = np.where(X[:, 0] > 0, 1, -1)
    folder = tmp_path / "s"
    folder.mkdir()
    writer = module._Writer(folder, np.dtype(np.float32), None)
    writer.add("generated", gl.data.files.Samples(sp.csr_array(X) if kind == "csr" else X, y))
    writer.finish()
    del X
    done = subprocess.run([sys.executable, "-c", _CHILD, str(folder)], capture_output=True, text=True, check=True)
    grown, gap = map(float, done.stdout.split())
    assert gap <= 1e-2
    assert grown <= 64 * 2**20


def test_a_full_disk_is_told_in_a_sentence(tmp_path, monkeypatch):
    """NumPy's own error, "1000 requested and 61 written", names neither the store nor the cause."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    source = tmp_path / "samples.svm"
    source.write_text("+1 1:0.5\n-1 2:1\n")
    monkeypatch.setattr("gapless.data.store._Writer.add", full)
    with pytest.raises(InvalidInputError, match=r"store '.*' cannot be written: No space left on device\."):
        convert(source, tmp_path / "store")
    assert [path.name for path in tmp_path.iterdir()] == ["samples.svm"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda head: head["arrays"].update(y=["|O", 50]), r"its head names an array 'y' of the type '\|O'"),
        (lambda head: head["arrays"].update({"../y": ["<f8", 50]}), r"its head names an array '\.\./y'"),
        (lambda head: head.update(shape=[10**15, 3]), r"labels for 1,000,000,000,000,000 samples"),
        (lambda head: head.update(shape=[True, 3]), r"its head holds True"),
        (lambda head: head.update(arrays=[]), r"has no attribute 'items'"),
        (lambda head: head["arrays"].pop("indptr"), r"'indptr'"),
    ],
)
def test_a_head_that_lies_is_refused(tmp_path, change, message):
    X, y = data()
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"))
    store = convert(tmp_path / "a.svm", tmp_path / "s")
    head = json.loads((store / "store.json").read_text())
    change(head)
    (store / "store.json").write_text(json.dumps(head))
    with pytest.raises(InvalidInputError, match=rf"is a store that cannot be read: .*{message}"):
        open_store(store)


@pytest.mark.parametrize(("name", "place"), [("indices", 3), ("indptr", 2)])
def test_a_store_with_wrong_indices_is_refused_before_it_is_read(tmp_path, name, place):
    X, y = data()
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"))
    store = convert(tmp_path / "a.svm", tmp_path / "s")
    array = np.fromfile(store / f"{name}.bin", dtype=np.int32)
    array[place] = 10**9
    array.tofile(store / f"{name}.bin")
    with pytest.raises(InvalidInputError, match=r"indptr does not divide|indices must lie between 0 and"):
        samples = open_store(store)
        gl.Problem(samples.X, samples.y)


def test_what_a_killed_conversion_leaves_is_removed_by_the_next(tmp_path):
    X, y = data()
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"))
    for left in ("s.part", "s.former.part"):
        (tmp_path / left).mkdir()
        (tmp_path / left / "values.bin").write_bytes(b"half")
    convert(tmp_path / "a.svm", tmp_path / "s")
    convert(tmp_path / "a.svm", tmp_path / "s")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.svm", "s"]


@pytest.mark.parametrize("n_features", [None, 4, 5, 9])
def test_a_store_has_the_columns_that_reading_the_file_has(tmp_path, n_features):
    """Neither an empty first column of a sparse array nor a width that was given shifts any column."""
    X = sp.csr_array(np.array([[0, 0, 0.5, 2], [0, 1, 0, 0]]))
    y = np.array([1, -1])
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=False)
    np.savez(tmp_path / "a.npz", data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)
    (tmp_path / "a.svm.gz").write_bytes(gzip.compress((tmp_path / "a.svm").read_bytes()))
    for name in ("a.svm", "a.npz", "a.svm.gz"):
        store = convert(tmp_path / name, tmp_path / "s", n_features=n_features)
        whole = gl.data.files.read_samples(tmp_path / name, n_features=n_features)
        np.testing.assert_array_equal(open_store(store).X.toarray(), whole.X.toarray())
        again = open_store(convert(store, tmp_path / "t"))
        np.testing.assert_array_equal(again.X.toarray(), whole.X.toarray())
