"""What ``gapless tune`` prints of a search, for people and for programs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gapless.cli.models import finite
from gapless.cli.output import console, print_rows


@dataclass(frozen=True)
class Line:
    """A candidate: its place in the grid, its parameters, and its score on the folds with the interval that contains the exact optimum's."""

    candidate: int
    params: dict[str, Any]
    score: float
    spread: float
    low: float | None
    high: float | None
    splits: list[float]

    def cells(self) -> tuple[str, ...]:
        """The line as it is printed."""
        words = ", ".join(f"{name}={_short(value)}" for name, value in self.params.items())
        proven = ""
        if self.low is not None and self.high is not None:
            proven = "exact" if self.low == self.high else f"{self.low:.6g} to {self.high:.6g}"
        return str(self.candidate), words, f"{self.score:.6g}", f"{self.spread:.2g}", proven


COLUMNS = ("candidate", "parameters", "score", "spread", "proven")


def ranked(search: Any, prefix: str) -> list[Line]:
    """The candidates that are done on all folds, the best one first; their parameters are shown without ``prefix``, the name of a pipeline's step."""
    results = search.cv_results_
    mean = results["mean_test_score"]
    order = [k for k in np.argsort(results["rank_test_score"], kind="stable").tolist() if not np.isnan(mean[k])]
    return [_line(results, k, search.n_splits_, prefix) for k in order]


def _line(results: dict[str, Any], k: int, n_folds: int, prefix: str) -> Line:
    low, high = (results.get(f"mean_test_score_{end}") for end in ("low", "high"))
    known = low is not None and high is not None and not np.isnan(low[k])
    return Line(
        k,
        {name.removeprefix(prefix): value for name, value in results["params"][k].items()},
        float(results["mean_test_score"][k]),
        float(results["std_test_score"][k]),
        float(low[k]) if known else None,  # type: ignore[index]
        float(high[k]) if known else None,  # type: ignore[index]
        [float(results[f"split{fold}_test_score"][k]) for fold in range(n_folds)],
    )


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def print_search(search: Any, title: str, prefix: str, most: int) -> None:
    """Print a table of the best candidates, ``most`` of them, and the sentence about what is proven of the choice."""
    out, lines = console(), ranked(search, prefix)
    print_rows(out, title, COLUMNS, lines[:most])
    if len(lines) > most:
        out.print(f"… and {len(lines) - most:,} more; --top shows more of them.", soft_wrap=True)
    selection = getattr(search, "selection_", None)
    if selection is not None:
        out.print(str(selection), markup=False, soft_wrap=True)
    out.print()


def search_json(search: Any, prefix: str) -> dict[str, Any]:
    """What JSON tells of a search."""
    lines, selection = ranked(search, prefix), getattr(search, "selection_", None)
    return {
        "best": lines[0].params if lines else None,
        "folds": search.n_splits_,
        "selection": None if selection is None else {**_plain(asdict(selection)), "words": str(selection)},
        "candidates": [_plain(asdict(line)) for line in lines],
    }


def _plain(content: Any) -> Any:
    """Numbers and texts that JSON can hold: null for a number that is not finite."""
    if isinstance(content, dict):
        return {name: _plain(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_plain(value) for value in content]
    if isinstance(content, float):
        return finite(content)
    return content if content is None or isinstance(content, bool | int | str) else str(content)
