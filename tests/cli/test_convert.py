"""gapless convert: every format to every other, to the last bit, and nothing half-done left behind."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
import scipy.sparse as sp

import gapless
from gapless.cli.models import read_data
from gapless.data import pieces, writing
from tests.cli.running import data, run

TARGETS = ["a.svm", "a.libsvm.gz", "a.svmlight.bz2", "a.csv", "a.tsv.gz", "a.parquet", "a.npz", "a-store"]


def rows(kind="dense"):
    """Numbers of full precision, with zeros among them, an empty column at the front and zeros in the first and the last row."""
    rng = np.random.default_rng(7)
    X = np.where(rng.random((40, 5)) < 0.5, 0.0, rng.normal(size=(40, 5)) * 10.0 ** rng.integers(-12, 12, size=(40, 5)))
    X[:, 0] = X[0] = X[-1] = 0.0
    X[1, -1] = 1 / 3
    return (sp.csr_array(X) if kind == "sparse" else X), np.arange(40) % 3


def write(path, X, y):
    if sp.issparse(X):
        np.savez(path, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)
    else:
        np.savez(path, X=X, y=y)


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def dense(X):
    return X.toarray() if sp.issparse(X) else np.asarray(X)


@pytest.mark.parametrize("piece", [pieces.PIECE, 200])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_round_through_all_formats_keeps_every_bit(kind, piece, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(pieces, "PIECE", piece)
    X, y = rows(kind)
    write(tmp_path / "begin.npz", X, y)
    former = "begin.npz"
    for name in TARGETS:
        text = ".svm" in name or ".libsvm" in name
        # LIBSVM text does not tell how wide it is, nor whether its first column is empty.
        wide = ["--n-features", 5] if ".svm" in former or ".libsvm" in former else []
        done = run("convert", tmp_path / former, tmp_path / name, *wide)
        assert (done.exit_code, done.stderr) == (0, ""), (former, name, done.output)
        samples = read_data(str(tmp_path / name), n_features=5 if text else None, label_column=None)
        np.testing.assert_array_equal(dense(samples.X), dense(X), err_msg=name)
        assert samples.y.tolist() == y.tolist()
        former = name
    assert files(tmp_path) == sorted(["begin.npz", *TARGETS])


def test_names_and_texts_go_along(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "a.csv").write_text('price,"size; m²",height\nlow,1,2.5\n"very, high",3,4\n')
    for source, target in [("a.csv", "s"), ("s", "b.parquet"), ("b.parquet", "t"), ("t", "b.csv")]:
        done = run(
            "convert", tmp_path / source, tmp_path / target, *(["--label-column", "price"] if source == "a.csv" else [])
        )
        assert done.exit_code == 0, done.output
    assert (tmp_path / "b.csv").read_text() == '"size; m²","height","price"\n1.0,2.5,"low"\n3.0,4.0,"very, high"\n'
    samples = gapless.data.open_store(tmp_path / "t")
    assert samples.feature_names == ("size; m²", "height") and samples.label_name == "price"
    run("convert", tmp_path / "t", tmp_path / "c.tsv")
    assert (tmp_path / "c.tsv").read_text().splitlines()[1] == '1.0\t2.5\t"low"'


def test_names_that_are_numbers_are_no_header(tmp_path):
    """A first line of numbers would be read as a sample."""
    (tmp_path / "a.csv").write_text("0,1,kind\n0.5,2,3\n4,5,6\n")
    run("convert", tmp_path / "a.csv", tmp_path / "s", "--label-column", "kind")
    run("convert", tmp_path / "s", tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text() == "0.5,2.0,3\n4.0,5.0,6\n"


def test_json_and_what_is_printed(svm, tmp_path):
    done = run("convert", svm, tmp_path / "s", "--json")
    content = json.loads(done.stdout)
    X, _ = data()
    size = sum(path.stat().st_size for path in (tmp_path / "s").iterdir())
    assert content.pop("seconds") > 0
    assert content == {
        "source": str(svm), "target": str(tmp_path / "s"), "format": "store", "samples": 90, "features": 4,
        "entries": np.count_nonzero(X), "labels": "numbers", "bytes": size,
    }  # fmt: skip
    shown = run("convert", tmp_path / "s", tmp_path / "a.npz").stdout.splitlines()
    assert shown[0] == f"data      90 samples, 4 features, {np.count_nonzero(X)} entries, labels are numbers"
    assert shown[2] == f"saved to  {tmp_path / 'a.npz'} (npz, {(tmp_path / 'a.npz').stat().st_size:,} bytes)"


def test_a_number_type_of_ones_own(svm, tmp_path):
    run("convert", svm, tmp_path / "s", "--dtype", "float32")
    run("convert", tmp_path / "s", tmp_path / "t")
    assert gapless.data.open_store(tmp_path / "t").X.dtype == np.float32
    run("convert", tmp_path / "t", tmp_path / "u", "--dtype", "float64")
    np.testing.assert_array_equal(gapless.data.open_store(tmp_path / "u").X.toarray(), data()[0].astype(np.float32))


def test_a_name_says_nothing_where_to_does(svm, tmp_path):
    assert run("convert", svm, tmp_path / "a.dat", "--to", "csv").exit_code == 0
    assert (tmp_path / "a.dat").read_text().count(",") == 4 * 90
    assert run("convert", svm, tmp_path / "b.dat", "--to", "store").exit_code == 0
    assert gapless.data.open_store(tmp_path / "b.dat").X.shape == (90, 4)


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ("a.txt", [], "the target must end in one of .libsvm, .svm, .svmlight, .csv, .tsv, .parquet, .npz (text also in .gz or .bz2), or in"),
        ("a.npz.gz", [], "the target must end in one of "),
        ("a.csv", ["--to", "arff"], "--to must be one of svmlight, csv, parquet, npz, store; got 'arff'."),
        ("a.csv", ["--dtype", "int8"], "--dtype must be float32 or float64; got 'int8'."),
        ("none/a.csv", [], "TARGET must be a file or a store in a folder that exists; got "),
        ("folder.csv", [], "TARGET must be a file or a store in a folder that exists; got "),
        ("a.csv", ["--label-column", "z"], "label_column is for CSV and Parquet files; two.svm is in LIBSVM format, where the label comes first."),
        ("a.csv", ["--n-features", "2"], "n_features must be at least 4, as the files have; got 2."),
        (".", ["--to", "store"], "store must be a new folder, or a store to replace; "),
    ],
)  # fmt: skip
def test_refusals_are_sentences_and_leave_nothing(svm, tmp_path, target, options, message):
    (tmp_path / "folder.csv").mkdir()
    before = files(tmp_path)
    done = run("convert", svm, tmp_path / target, *options)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"gapless: {message}") and done.stderr.count("\n") == 1
    assert files(tmp_path) == before


def test_texts_have_no_place_in_libsvm_format(tmp_path):
    (tmp_path / "a.csv").write_text("1,2,no\n3,4,yes\n")
    done = run("convert", tmp_path / "a.csv", tmp_path / "a.svm")
    assert done.exit_code == 2 and done.stderr.startswith(
        "gapless: LIBSVM format has numbers as labels; got texts, such as 'no'."
    )
    assert files(tmp_path) == ["a.csv"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["full", "Ctrl-C"])
@pytest.mark.parametrize("name", ["a.csv", "a.svm", "a.npz", "a.parquet"])
def test_a_write_that_fails_leaves_the_old_file(svm, name, error, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    (tmp_path / name).write_text("old")

    def stop(stream, *_):
        stream.write(b"half")
        raise error

    monkeypatch.setitem(writing._WRITERS, writing.format_of(tmp_path / name), stop)
    done = run("convert", svm, tmp_path / name)
    assert done.exit_code == (1 if isinstance(error, OSError) else 130)
    assert done.stderr.count("\n") == 1 and (tmp_path / name).read_text() == "old"
    assert files(tmp_path) == sorted([name, "two.svm"])


def test_a_bad_line_is_named_by_its_number_in_the_whole_file(tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "PIECE", 20)
    (tmp_path / "a.svm").write_text("1 1:1\n" * 30 + "1 1:x\n")
    (tmp_path / "b.svm.gz").write_bytes(gzip.compress(b"1 1:1\n" * 30)[:-9])
    done = run("convert", tmp_path / "a.svm", tmp_path / "s")
    assert done.stderr == "gapless: a.svm, line 31: the value of index 1 must be a finite number; got 'x'.\n"
    (tmp_path / "c.svm.bz2").write_bytes(b"BZh9 no such stream")
    for name in ("b.svm.gz", "c.svm.bz2"):
        cut = run("convert", tmp_path / name, tmp_path / "s")
        assert cut.exit_code == 2 and cut.stderr.startswith(f"gapless: {tmp_path / name} cannot be read: ")
    assert files(tmp_path) == ["a.svm", "b.svm.gz", "c.svm.bz2"]


def test_a_folder_of_two_formats_is_refused(tmp_path):
    X, y = rows("sparse")
    folder = tmp_path / "in"
    folder.mkdir()
    write(folder / "a.npz", X, y)
    (folder / "b.svm").write_text("1 1:1\n")
    done = run("convert", folder, tmp_path / "s")
    assert done.stderr == "gapless: b.svm is in another format than the files before it; convert them one by one.\n"


def test_help_lists_every_format():
    shown = " ".join(run("convert", "--help").stdout.replace("│", " ").split())
    for name in (
        "LIBSVM/SVMlight",
        "CSV",
        "Parquet",
        ".npz",
        "store",
        ".svm",
        ".libsvm",
        ".svmlight",
        ".csv",
        ".tsv",
        ".parquet",
        ".gz",
        ".bz2",
    ):
        assert name in shown, name
    assert "Example:" in shown and "convert" in run("--help").stdout
