"""Reading LIBSVM-format and CSV files, and the sentence for each mistake in one."""

from __future__ import annotations

import bz2
import gzip
import io

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from gapless.data.files import read_samples
from gapless.errors import InvalidInputError


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
    with pytest.raises(InvalidInputError, match="label_column is for CSV files; the input is in LIBSVM format"):
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
