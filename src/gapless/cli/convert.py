"""``gapless convert``: data from one format to another."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Annotated, Any

import scipy.sparse as sp
import typer
from rich.progress import Progress

from gapless.cli.guard import guarded
from gapless.cli.models import FORMATS, LabelColumnOption, print_facts
from gapless.cli.output import JsonOption, console, progress_bar
from gapless.data.replacing import replacing
from gapless.data.samples import Samples
from gapless.data.store import convert as write_store
from gapless.data.store import is_store, open_store
from gapless.data.writing import STORE, SUFFIXES, check_writable, format_of, write_samples
from gapless.errors import InvalidInputError

_FORMS = (*SUFFIXES, STORE)
Content = dict[
    str, Any
]  # what is told of the data: the numbers of samples, features and entries, and the kind of labels


@guarded
def convert(
    source: Annotated[
        str, typer.Argument(help=f"{FORMATS}; or a folder of such files, taken in the order of their names.")
    ],
    target: Annotated[
        Path,
        typer.Argument(
            help="What to write, in the format of its suffix: .svm, .libsvm, .svmlight, .csv, .tsv (each also with .gz, .bz2), .parquet, .npz; "
            "a name without a suffix is a store."
        ),
    ],
    to: Annotated[
        str | None,
        typer.Option(
            help=f"The format to write, whatever the target's name: one of {', '.join(_FORMS)}.",
            show_default="by the target's suffix",
        ),
    ] = None,
    label_column: LabelColumnOption = None,
    n_features: Annotated[
        int | None, typer.Option(help="The number of columns of a sparse matrix whose last columns may be all zero.")
    ] = None,
    dtype: Annotated[
        str | None,
        typer.Option(
            help="The precision to write: float64, or float32, which halves a store and rounds its numbers.",
            show_default="as in the source",
        ),
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Convert data between LIBSVM/SVMlight and CSV text, Parquet, .npz and stores.

    A store is a folder of raw arrays that train, predict and verify map into memory without reading it. LIBSVM text, Parquet and stores are read a
    part at a time, CSV and .npz at once; all formats are written a part at a time. A conversion from file to file keeps the samples in a store on
    disk, beside the target, until it is done. A target that exists is replaced in one stroke: it is always the old one or the whole new one.

    The names of columns are kept between CSV, Parquet and stores; the label becomes the last column. Numbers keep their last bit.

    Example: [bold]gapless convert criteo.svm.gz criteo-store --dtype float32[/bold]

    Example: [bold]gapless convert house.csv house.parquet --label-column price[/bold]

    Example: [bold]gapless convert a-store data.svm.bz2[/bold]
    """
    if to not in (None, *_FORMS):
        raise InvalidInputError(f"--to must be one of {', '.join(_FORMS)}; got {to!r}.")
    if dtype not in (None, "float32", "float64"):
        raise InvalidInputError(f"--dtype must be float32 or float64; got {dtype!r}.")
    if is_store(source) and label_column is not None:
        raise InvalidInputError(
            f"--label-column is for CSV and Parquet files; the store {source} keeps its labels apart."
        )
    form = format_of(target) if to is None else to
    if not target.absolute().parent.is_dir() or (form != STORE and target.is_dir()):
        raise InvalidInputError(f"TARGET must be a file or a store in a folder that exists; got {str(target)!r}.")
    options = {"label_column": label_column, "n_features": n_features}
    began = time.perf_counter()
    with progress_bar() as bar:
        if form == STORE:
            content = _content(open_store(_as_store(source, target, dtype, options, bar)))
        else:
            content = _to_file(source, target, form, dtype, options, bar)
    _print(source, target, form, content, time.perf_counter() - began, json_output)


def _to_file(
    source: str, target: Path, form: str, dtype: str | None, options: dict[str, Any], bar: Progress
) -> Content:
    """Write a file from a store: from the source where it is a store, otherwise from one that is made beside the target.

    The store is needed because the number of columns and the kind of labels are known only after the whole source was read.
    """
    passing = target.with_name(f".{target.name}.passing")
    direct = is_store(source) and dtype in (None, open_store(source).X.dtype.name) and options["n_features"] is None
    try:
        store = Path(source) if direct else _as_store(source, passing, dtype, options, bar)
        return _from_store(store, target, form, bar)
    finally:
        shutil.rmtree(passing, ignore_errors=True)


def _from_store(store: Path, target: Path, form: str, bar: Progress) -> Content:
    samples = open_store(store)
    check_writable(samples, form)
    total = samples.X.shape[0]
    row = bar.add_task("", total=total)
    with replacing(target) as stream:
        write_samples(
            stream, samples, form, target.name,
            lambda done: bar.update(row, completed=done, description=f"{target.name}: {done:,} of {total:,} samples written"),
        )  # fmt: skip
    return _content(samples)


def _as_store(source: str, store: Path, dtype: str | None, options: dict[str, Any], bar: Progress) -> Path:
    row = bar.add_task("", total=None)
    if dtype is None:
        dtype = open_store(source).X.dtype.name if is_store(source) else "float64"
    return write_store(
        source, store, dtype=dtype, **options,
        progress=lambda name, done: bar.update(row, description=f"{name}: {done:,} samples read"),
    )  # fmt: skip


def _content(samples: Samples) -> Content:
    X: Any = samples.X
    return {
        "samples": X.shape[0],
        "features": X.shape[1],
        "entries": int(X.nnz) if sp.issparse(X) else None,
        "labels": "texts" if samples.y.dtype.kind == "U" else "numbers",
    }


def _print(source: str, target: Path, form: str, content: Content, seconds: float, json_output: bool) -> None:
    files = target.iterdir() if form == STORE else [target]
    size = sum(file.stat().st_size for file in files)
    if json_output:
        where = {"source": source, "target": str(target), "format": form}
        print(json.dumps({**where, **content, "bytes": size, "seconds": seconds}, indent=2))
        return
    entries = "" if content["entries"] is None else f", {content['entries']:,} entries"
    counts = f"{content['samples']:,} samples, {content['features']:,} features{entries}"
    facts = [
        ("data", f"{counts}, labels are {content['labels']}"),
        ("seconds", f"{seconds:.2f}"),
        ("saved to", f"{target} ({form}, {size:,} bytes)"),
    ]
    print_facts(console(), facts)
