"""The tables of ``sizes.py``: which rows keep their promises, and the seconds of all."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from _promises import score_holds
from _racing import AHEAD, LEAST, OURS, SKLEARN, SKLEARNEX, Found
from _size_data import described
from _size_rivals import ANOTHER_PROBLEM
from _size_rows import OPTIONS, Row
from scipy.stats import gmean


class Outcome(NamedTuple):
    """A row and what each contender has made of it."""

    row: Row
    found: dict[str, Found]

    @property
    def ours(self) -> Found:
        """Ours."""
        return self.found.get(OURS, Found(why="not run"))

    @property
    def theirs(self) -> Found:
        """scikit-learn's."""
        return self.found.get(SKLEARN, Found(why="not run"))

    @property
    def solved_by_sklearn(self) -> bool:
        """Whether scikit-learn's fit has ended within the limit and without a warning."""
        return self.theirs.model is not None and not self.theirs.model.warned

    @property
    def broken(self) -> list[str]:
        """The promises that our fit breaks."""
        if self.ours.model is None:
            return [self.ours.why]
        found = list(self.ours.model.broken)
        reference = next((f.model for name, f in self.found.items() if name != OURS and f.model is not None), None)
        if reference is not None:
            ours, theirs = self.ours.model.losses, reference.losses
            if not score_holds(ours, theirs, both_sides=self.row.estimator == "OneClassSVM"):
                found.append(f"mean loss {ours.mean():.4g}, the reference's {theirs.mean():.4g}")
        return found

    def ratio(self, *rivals: str) -> float | None:
        """The seconds of the best of some rivals over ours; a rival that was ended counts with the limit, if no other has ended by itself."""
        if self.ours.seconds is None or self.row.estimator in ANOTHER_PROBLEM:
            return None
        found = [self.found[name] for name in rivals if name in self.found]
        ended = [f.seconds for f in found if f.seconds is not None]
        least = ended or [float(f.why[1:]) for f in found if f.why.startswith(">")]
        return min(least) / self.ours.seconds if least else None

    @property
    def slow(self) -> bool:
        """Whether our fit takes longer than scikit-learn's."""
        ratio = self.ratio(SKLEARN)
        return ratio is not None and ratio < 1.0

    @property
    def failures(self) -> list[str]:
        """What is wrong with the row."""
        return self.broken + (["slower than scikit-learn"] if self.slow else [])

    @property
    def cells(self) -> list[str]:
        """The row of the table."""
        model, ratio = self.ours.model, self.ratio(SKLEARN, SKLEARNEX)
        return [
            self.row.estimator, self.row.words, self.row.kind, f"{self.row.n:,}",
            *(_seconds(self.found.get(name, Found())) for name in (OURS, SKLEARN, SKLEARNEX)),
            "" if ratio is None else f"{ratio:.2f}",
            "" if model is None or model.gap is None else f"{model.gap:.1e}",
            "" if model is None or model.support is None else f"{model.support:,}",
            *(_loss(self.found.get(name, Found())) for name in (OURS, SKLEARN)),
            "; ".join(self.failures).replace("|", "/"),
        ]  # fmt: skip

    @property
    def line(self) -> str:
        """The row in words."""
        titles = ["", "", "", "", "ours", SKLEARN, SKLEARNEX, "ratio", "gap", "SVs", "loss", "theirs", "FAILS"]
        told = [f"{title} {cell}" for title, cell in zip(titles, self.cells, strict=True) if cell and title]
        return f"{self.row}: {', '.join(told)}"


def _seconds(found: Found) -> str:
    if found.seconds is None:
        return found.why if len(found.why) < 10 else found.why.partition(":")[0]
    return f"{found.seconds:.4g}" + (" †" if found.date else "")


def _loss(found: Found) -> str:
    return "" if found.model is None else f"{found.model.losses.mean():.4g}"


def text(outcomes: list[Outcome], limit: float) -> str:
    """The section."""
    head = [
        "estimator", "options", "data", "n", "ours, s", "scikit-learn, s", "sklearnex, s", "best rival / ours", "gap", "SVs", "loss",
        "scikit-learn's loss", "wrong",
    ]  # fmt: skip
    table = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    table += [f"| {' | '.join(outcome.cells)} |" for outcome in outcomes]
    return "\n\n".join((_method(limit), _summary(outcomes), described(), "\n".join(table)))


def _method(limit: float) -> str:
    return f"""\
Seconds of `fit`, medians of fits in turns (5 below 0.3 s, 3 below 1.5 s, else one; below 50 ms each is the median of five), each system in a
process of its own and at its own default tol. A fit is ended after {limit:g} s, a rival's after {AHEAD:g} times our seconds ({LEAST:g} s at least):
"> 10" counts as 10 in the means, and has no score. †: a rival's fit that was kept from an earlier run.
Promises of ours: gap within tol, no warning, no support vector whose coefficients are below 1e-12 of the largest, and a mean loss on 1,000
further samples (the share of wrong classes, the mean absolute error, how far outliers are outside in units of the offset) that is that of
scikit-learn up to chance: four standard errors of the difference, sample by sample. Kernel logistic regression is compared with scikit-learn's
logistic regression on a Cholesky factor of the kernel matrix; the references of the perceptron and of Fisher's discriminant are other methods,
of which only the loss is compared."""


def _summary(outcomes: list[Outcome]) -> str:
    head = [
        "estimator", "rows", "not within tol", "of these solved by scikit-learn", "loud", "rounding as SVs", "score", "slower than scikit-learn",
        "scikit-learn / ours, geometric mean", "best rival / ours, geometric mean", "least",
    ]  # fmt: skip
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name in (*OPTIONS, "all"):
        of = [outcome for outcome in outcomes if name in ("all", outcome.row.estimator)]
        if of:
            lines.append(f"| {name} | {' | '.join(_counts(of))} |")
    return "\n".join(lines)


def _counts(of: list[Outcome]) -> list[str]:
    def count(holds: Callable[[Outcome], bool]) -> str:
        return str(sum(1 for outcome in of if holds(outcome)))

    def outside(outcome: Outcome) -> bool:
        return outcome.ours.model is None or outcome.ours.model.within is False

    by_sklearn = [ratio for outcome in of if (ratio := outcome.ratio(SKLEARN)) is not None]
    by_best = [ratio for outcome in of if (ratio := outcome.ratio(SKLEARN, SKLEARNEX)) is not None]
    return [
        str(len(of)), count(outside), count(lambda o: outside(o) and o.solved_by_sklearn),
        count(lambda o: o.ours.model is not None and bool(o.ours.model.warned)),
        count(lambda o: o.ours.model is not None and bool(o.ours.model.rounding)),
        count(lambda o: any("loss" in word for word in o.broken)), count(lambda o: o.slow),
        f"{gmean(by_sklearn):.2f}" if by_sklearn else "", f"**{gmean(by_best):.2f}**" if by_best else "",
        f"{min(by_best):.2f}" if by_best else "",
    ]  # fmt: skip
