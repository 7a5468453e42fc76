"""Reading LIBSVM-format, CSV, Parquet and .npz files, and the sentence for each mistake in one."""

from __future__ import annotations

import bz2
import gzip
import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from gapless.data.files import read_samples
from gapless.errors import InvalidInputError, MissingDependencyError


def read(content: str | bytes, name: str = "", **options):
    stream = io.BytesIO(content.encode() if isinstance(content, str) else content)
    if name:
        stream.name = name
    return read_samples(stream, **options)


@given(st.integers(0, 2**32 - 1))
def test_svmlight_round_trip(seed):
    rng = np.random.default_rng(seed)
    X = sp.random_array((5, 4), density=0.5, rng=rng).toarray()
    X[0, 3] = 1.0  # the last column shows in the file
    y = rng.integers(0, 3, 5)
    stream = io.BytesIO()
    dump_svmlight_file(X, y, stream, zero_based=False)
    samples = read(stream.getvalue())
    np.testing.assert_allclose(samples.X.toarray(), X)
    assert samples.y.dtype == np.int64 and (samples.y == y).all()


def test_svmlight_comments_blank_lines_and_labels_alone():
    samples = read("# made by hand\n+1 1:2 # first\n\n-1\n0.5 qid:3 2:1\n")
    assert samples.X.toarray().tolist() == [[2, 0], [0, 0], [0, 1]]
    assert samples.y.tolist() == [1.0, -1.0, 0.5]


@pytest.mark.parametrize(
    ("line", "mistake"),
    [
        ("yes 1:2", "the label must be a finite number; got 'yes'."),
        ("1 1:2 abc", "expected index:value after the label; got 'abc'."),
        ("1 a:2", "an index must be a whole number of at least 0; got 'a' in 'a:2'."),
        ("1 -1:2", "an index must be a whole number of at least 0; got '-1' in '-1:2'."),
        ("1 1:2x", "the value of index 1 must be a finite number; got '2x'."),
        ("1 1:nan", "the value of index 1 must be a finite number; got 'nan'."),
        ("inf 1:1", "the label must be a finite number; got 'inf'."),
        ("1 2:1 1:1", "indices must rise along a line; 1 comes after 2."),
    ],
)
def test_svmlight_mistakes_name_the_line(line, mistake):
    with pytest.raises(InvalidInputError) as caught:
        read(f"1 1:0.5\n# note\n{line}\n-1 1:0\n", name="data.svm")
    assert str(caught.value) == f"data.svm, line 3: {mistake}"


def test_csv_label_by_default_name_and_number():
    text = "a,b,kind\n1,2,yes\n3,4,no\n"
    samples = read(text)
    assert samples.X.tolist() == [[1, 2], [3, 4]]
    assert samples.y.tolist() == ["yes", "no"]
    assert samples.feature_names == ("a", "b")
    assert read("kind;a\n1;2,\n".replace(",", ""), label_column="kind").X.tolist() == [[2]]
    for column in (0, "0", -3):
        assert read("1,2,3\n4,5,6\n", label_column=column).y.tolist() == [1, 4]
    assert read("1,2,3\n4,5,6\n").feature_names is None


def test_csv_quotes_tabs_and_numbers_as_labels():
    assert read('"x, m"\ty\n"1.5"\t2\n').feature_names == ("x, m",)
    assert read("1,0.5\n2,1\n").y.tolist() == [0.5, 1.0]
    assert read("1,1.0\n2,0.0\n").y.dtype == np.int64


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a,b,y\n1,2,0\n1,oops,1\n", {}, "t.csv, line 3, column 'b': expected a finite number; got 'oops'."),
        ("1,2,0\n\n1,,1\n", {}, "t.csv, line 3, column 1: expected a finite number; the cell is empty."),
        ("1,x,0\n1,2,1\n", {}, "t.csv, line 1, column 1: expected a finite number; got 'x'."),
        ("1,inf,0\n", {}, "t.csv, line 1, column 1: expected a finite number; got 'inf'."),
        ("1,2,0\n1,2\n", {}, "t.csv, line 2: expected 3 cells as in the first line; got 2."),
        ("a,y\n", {}, "t.csv holds no samples, only a header."),
        ("", {}, "t.csv holds no samples."),
        ("1\n2\n", {}, "t.csv, line 1: a row needs a label and at least one feature; got one cell."),
        ("1,\n2,b\n", {}, "t.csv, line 1: the label in column 1 is empty."),
        ("a,y\n1,b\n", {"numeric_labels": True}, "t.csv, line 2, column 'y': expected a finite number; got 'b'."),
        ("a,y\n1,2\n", {"label_column": "z"}, "label_column 'z' is not in the first line of t.csv: a, y."),
        ("1,2\n", {"label_column": 2}, "label_column must be a column of t.csv, 0 to 1; got 2."),
    ],
)
def test_csv_mistakes(text, options, message):
    with pytest.raises(InvalidInputError) as caught:
        read(text, name="t.csv", **options)
    assert str(caught.value) == message


def test_label_column_is_for_csv():
    with pytest.raises(
        InvalidInputError, match="label_column is for CSV and Parquet files; the input is in LIBSVM format"
    ):
        read("1 1:2\n", label_column="y")


def test_bytes_that_are_no_text():
    with pytest.raises(InvalidInputError) as caught:
        read(b"1 1:2\n\xff\xfe\n")
    assert str(caught.value) == "the input is not a text file in UTF-8: line 2 cannot be read."


def test_paths(tmp_path):
    plain = b"1,2,0\n3,4,1\n"
    (tmp_path / "d.csv").write_bytes(plain)
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(plain))
    (tmp_path / "d.csv.bz2").write_bytes(bz2.compress(plain))
    for name in ("d.csv", "d.csv.gz", "d.csv.bz2"):
        assert read_samples(tmp_path / name).X.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(InvalidInputError) as caught:
        read_samples(tmp_path / "none.csv")
    assert str(caught.value) == f"{tmp_path / 'none.csv'} does not exist."
    with pytest.raises(InvalidInputError) as caught:
        read_samples(tmp_path)
    assert str(caught.value) == f"{tmp_path} is a folder, not a file."
    (tmp_path / "bad.gz").write_bytes(b"no gzip")
    with pytest.raises(InvalidInputError, match=r"bad\.gz cannot be read: Not a gzipped file"):
        read_samples(tmp_path / "bad.gz")


def test_n_features_pads_libsvm_and_tells_labels_from_features():
    padded = read("1 1:2\n", n_features=3)
    assert padded.X.toarray().tolist() == [[2.0, 0.0, 0.0]] and padded.labelled
    assert read("1,2\n3,4\n", n_features=1).y.tolist() == [2, 4]
    bare = read("a,b\n1,2\n3,4\n", n_features=2)
    assert bare.X.tolist() == [[1.0, 2.0], [3.0, 4.0]] and not bare.labelled and bare.feature_names == ("a", "b")
    assert read("a,b,k\n1,2,x\n", n_features=2, label_column="k").y.tolist() == ["x"]


@pytest.mark.parametrize(
    ("content", "n_features", "got"), [("1 1:1 5:2\n", 3, 5), ("1,2,3,4\n", 2, 3), ("1,2\n", 4, 1)]
)
def test_n_features_that_do_not_fit(content, n_features, got):
    with pytest.raises(
        InvalidInputError, match=f"the input has {got} features, but the model was trained on {n_features}"
    ):
        read(content, n_features=n_features)


def test_no_labels_where_none_are_said_to_be():
    samples = read("a\n1\n2\n", name="one.csv", labelled=False)
    assert samples.X.tolist() == [[1.0], [2.0]] and len(samples.y) == 0
    assert read("1,x\n2,z\n", labelled=False, label_column=1).y.tolist() == ["x", "z"]


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def test_npz_dense_sparse_and_without_labels():
    X, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0])
    dense = read(npz(X=X, y=y))
    assert dense.X.tolist() == X.tolist() and dense.y.dtype == np.int64
    S = sp.csr_array(X.astype(np.float32))
    sparse = read(npz(data=S.data, indices=S.indices, indptr=S.indptr, shape=S.shape, y=np.array(["a", "b"])))
    assert sp.issparse(sparse.X) and sparse.X.dtype == np.float64 and sparse.y.tolist() == ["a", "b"]
    assert read(npz(X=X), n_features=2).labelled is False
    assert read(npz(X=X), labelled=False).labelled is False


EYE = np.eye(2)


@pytest.mark.parametrize(
    ("arrays", "options", "message"),
    [
        ({"Z": EYE}, {}, "the input: expected the arrays X and y, or data, indices, indptr, shape and y; got none of them."),
        ({"X": EYE}, {}, "the input: expected an array y with 2 labels, one a sample; there is none."),
        ({"X": EYE, "y": [1, 2, 3]}, {}, r"the input: expected an array y with 2 labels, one a sample; its shape is \(3,\)."),
        ({"X": EYE[0], "y": [1, 2]}, {}, r"the input: X must be a matrix, a row a sample; its shape is \(2,\)."),
        ({"X": EYE + np.inf, "y": [1, 2]}, {}, "the input: expected finite numbers; the features hold NaN or infinity."),
        ({"X": EYE, "y": [1, np.nan]}, {}, "the input: the labels in y must be finite numbers or text."),
        ({"X": EYE, "y": ["a", "b"]}, {"numeric_labels": True}, "the input: the labels in y must be finite numbers."),
        ({"X": np.array([["a"], ["b"]]), "y": [1, 2]}, {}, "the input: its arrays make no matrix of numbers: could not convert"),
        ({"data": [1.0], "indices": [7], "indptr": [0, 1], "shape": [1, 2], "y": [1]}, {}, "the input: its arrays make no matrix of numbers: "),
        ({"X": np.array([[None]]), "y": [1]}, {}, "the input is a .npz file that cannot be read: Object arrays cannot be loaded"),
        ({"X": EYE, "y": [1, 2]}, {"label_column": 0}, "label_column is for CSV and Parquet files; in the input the array y holds the labels."),
    ],
)  # fmt: skip
def test_mistakes_in_npz(arrays, options, message):
    with pytest.raises(InvalidInputError, match=message):
        read(npz(**arrays), **options)


def test_a_cut_npz():
    with pytest.raises(
        InvalidInputError, match=r"the input is a .npz file that cannot be read: File is not a zip file."
    ):
        read(npz(X=EYE, y=[1, 2])[:100])


def parquet(**columns):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    stream = io.BytesIO()
    pd.DataFrame(columns).to_parquet(stream)
    return stream.getvalue()


def test_parquet():
    content = parquet(a=[1, 2], kind=["x", "z"], b=[0.5, 1.5])
    named = read(content, label_column="kind")
    assert named.X.tolist() == [[1.0, 0.5], [2.0, 1.5]] and named.y.tolist() == ["x", "z"]
    assert named.feature_names == ("a", "b")
    numbers = read(parquet(a=[1.0, 2.0], y=[3.0, 4.0]))
    assert numbers.y.tolist() == [3, 4] and numbers.y.dtype == np.int64
    assert not read(parquet(a=[1.0], b=[2.0]), n_features=2).labelled


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"a": ["q"], "y": [1]}, {}, "the input, column 'a': expected numbers; it holds "),
        ({"a": [1.0, None], "y": [1, 2]}, {}, "the input, row 1, column 'a': expected a finite number; got nan."),
        ({"a": [1.0, 2.0], "y": ["u", None]}, {}, "the input, row 1: the label in column 'y' is empty."),
        ({"a": [1.0], "y": ["u"]}, {"numeric_labels": True}, "the input, column 'y': expected numbers; it holds "),
        ({"a": [1.0], "y": [1]}, {"label_column": "z"}, "label_column 'z' is not in the first line of the input: a, y."),
        ({"y": [1]}, {}, "the input holds no samples."),
    ],
)  # fmt: skip
def test_mistakes_in_parquet(columns, options, message):
    with pytest.raises(InvalidInputError, match=message):
        read(parquet(**columns), **options)


def test_a_cut_parquet_file():
    with pytest.raises(InvalidInputError, match="the input is a Parquet file that cannot be read: "):
        read(parquet(a=[1.0], y=[1])[:40])


@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
def test_parquet_without_its_packages(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependencyError, match=r"it takes pandas and pyarrow: pip install pandas pyarrow."):
        read(b"PAR1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 99999999999999999999:1\n", "data.svm, line 1: an index must be at most 4,294,967,295; got 99999999999999999999."),
        ("1 1:1\n1 4294967296:1\n", "data.svm, line 2: an index must be at most 4,294,967,295; got 4294967296."),
        (f"1 {'9' * 5000}:1\n", "data.svm, line 1: an index must be at most 4,294,967,295; got 999"),
    ],
)  # fmt: skip
def test_an_index_of_many_digits_is_named(text: str, message: str, tmp_path: Path) -> None:
    """One of 20 digits was an OverflowError with a traceback."""
    (tmp_path / "data.svm").write_text(text)
    with pytest.raises(InvalidInputError) as caught:
        read_samples(tmp_path / "data.svm")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b",,,\n,,\n", "data.csv holds no samples, only empty cells."),
        (b"1,2\n" + b"x" * 200_000 + b",3\n", "data.csv, line 2: it cannot be read as CSV: field larger than field limit (131072)."),
        (b"1,2\n3," + b"x" * 2000 + b"\n", "data.csv, line 2: the label in column 1 must have at most 1,000 letters; it has 2,000."),
    ],
)  # fmt: skip
def test_odd_csv_is_refused_in_words(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_bytes(content)
    with pytest.raises(InvalidInputError) as caught:
        read_samples(tmp_path / "data.csv")
    assert str(caught.value) == message


def test_a_compressed_file_that_is_damaged_is_refused_in_words(tmp_path: Path) -> None:
    content = bytearray(gzip.compress(b"1 1:0.5\n" * 1000))
    content[15] ^= 0xFF
    (tmp_path / "data.svm.gz").write_bytes(bytes(content))
    with pytest.raises(InvalidInputError, match=r"data\.svm\.gz cannot be read: "):
        read_samples(tmp_path / "data.svm.gz")


def test_the_shape_of_a_stored_array_is_held_against_its_bytes() -> None:
    stream = io.BytesIO()
    np.savez(stream, X=np.ones((2, 3)), y=np.array([0, 1]))
    head = b"'shape': (2, 3), "
    archive = zipfile.ZipFile(stream)
    members = {name: archive.read(name).replace(head, b"'shape': (9999999999999, 3), ") for name in archive.namelist()}
    members["X.npy"] = members["X.npy"].replace(b" " * 14 + b"\n", b"\n", 1).replace(b"    \n", b"\n", 1)
    forged = io.BytesIO()
    with zipfile.ZipFile(forged, "w") as out:
        for name, content in members.items():
            length = content.index(b"\n") + 1 - 10
            out.writestr(name, content[:8] + length.to_bytes(2, "little") + content[10:])
    with pytest.raises(InvalidInputError, match=r"takes 239,999,999,999,976 bytes, but 48 are there\.$"):
        read_samples(io.BytesIO(forged.getvalue()))
