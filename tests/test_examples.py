"""The gallery's examples run as plain scripts, warn about nothing, draw one figure each, and show what their texts claim."""

from __future__ import annotations

import ast
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest

import gapless as gl

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.py"))
Names = dict[str, Any]


def two_rings(names: Names, printed: str) -> bool:
    accuracy = names["accuracy"]
    assert accuracy["linear, Cartesian"] < 0.7 < 0.98 < min(accuracy["linear, polar"], accuracy["RBF kernel"])
    return printed.count("relative gap") == 3


def primal_meets_dual(names: Names, printed: str) -> bool:
    comparison = names["found"]
    assert list(comparison.results) == [name for name in gl.solvers.SOLVERS if name != "newton"]
    proofs = [result.certificate for result in comparison.results.values()]
    low, high = max(proof.dual for proof in proofs), min(proof.primal for proof in proofs)
    assert low <= high * (1 + 1e-12)
    assert str(comparison) in printed and f"together: dual {low:.7f} <= optimum <= {high:.7f} primal\n" in printed
    return plt.gca().get_title(loc="left").endswith(f"all meet at {high:.7g}")


def no_hard_margin(names: Names, printed: str) -> bool:
    assert names["apart"].status is gl.Status.CONVERGED and names["stray"].status is gl.Status.NOT_SEPARABLE
    left, right = printed.strip().splitlines()[-2:]
    return left.split(" = ")[1] == right.split(" = ")[1]  # the point that both hulls share


def inside_smo(names: Names, printed: str) -> bool:
    rounds = names["found"]
    assert rounds[0].taking_part == 2048 and rounds[-1].taking_part == 12_000
    assert max(now.active for now in rounds) < 6_144 and any(now.newton for now in rounds)
    assert rounds[0].violators > 1_000 and rounds[-1].violators == 0
    return rounds[-1].gap <= names["TOL"] < rounds[0].gap and printed.count("round ") == len(rounds)


def grid_search(names: Names, printed: str) -> bool:
    search = names["found"]
    assert f"{search.best_score_:.3f}" in printed
    shown = {text.get_text() for text in plt.gcf().axes[0].texts}
    return {f"{score:.3f}" for score in search.cv_results_["mean_test_score"]} <= shown


CLAIMS: dict[str, Callable[[Names, str], Any]] = {
    "two_rings": two_rings,
    "primal_meets_dual": primal_meets_dual,
    "no_hard_margin": no_hard_margin,
    "inside_smo": inside_smo,
    "grid_search": grid_search,
    "first_fit": lambda names, _: names["proof"].relative_gap <= 1e-6,
    "margin_and_c": lambda names, _: names["widths"] == sorted(names["widths"], reverse=True),
    "ascent_or_descent": lambda names, _: (
        names["results"]["sdca"].certificate.relative_gap <= 1e-6 < names["results"]["sgd"].certificate.relative_gap
        and 0 <= names["above"] <= 1e-2
    ),
    "three_algorithms": lambda names, _: all(
        max(proof.dual for proof in proofs) <= min(proof.primal for proof in proofs)
        for proofs in names["proofs"].values()
    ),
    "kernel_algebra": lambda names, _: (
        names["errors"]["Linear()"][0] > 5 * names["errors"]["Linear() + RBF(4)"][0]
        and names["errors"]["RBF(4)"][1] > 3 * names["errors"]["Linear() + RBF(4)"][1]
    ),
    "perceptron_on_rings": lambda names, _: names["mistakes"] <= names["bound"] and names["model"].separated_,
    "logistic_probabilities": lambda names, _: (
        names["proof"].relative_gap <= 1e-8
        and abs(names["logistic"].predict_proba(names["X"])[:, 1].mean() - 0.5) < 1e-9
    ),
    "fisher_digits": lambda names, _: names["accuracy"]["RBF"] > 0.95 > names["accuracy"]["linear"],
    "nystroem_exact_gap": lambda names, _: (
        all(proof.dual <= names["exact"].primal and names["exact"].dual <= proof.primal for proof in names["proofs"])
        and [proof.gap for proof in names["proofs"]] == sorted((p.gap for p in names["proofs"]), reverse=True)
    ),
    "decision_intervals": lambda names, _: names["widths"] == sorted(names["widths"], reverse=True),
    "judge_scikit_learn": lambda names, _: all(
        ours <= tol and ours < theirs
        for ours, theirs, tol in zip(names["ours"], names["theirs"], names["tolerances"], strict=True)
    ),
    "regression_tube": lambda names, _: names["carried"] == sorted(names["carried"], reverse=True),
    "one_class_outliers": lambda names, _: all(
        outside <= nu <= support for nu, (outside, support) in names["shares"].items()
    ),
    "one_coordinate": lambda names, _: names["stops"] == pytest.approx({0: 0.1, 2: 1.0}),
    "smo_by_hand": lambda names, _: (
        len(names["steps"]) == 7 and names["steps"][-1].alpha.tolist() == pytest.approx([0, 0.5, 0.25, 0.25])
    ),
    "subgradient_step": lambda names, _: (
        names["after"].primal > names["before"].primal and names["distances"][1] < names["distances"][0]
    ),
    "losses": lambda names, _: set(names["values"]) == set(gl.losses.LOSSES),
    "search_composed_kernel": lambda names, _: names["search"].best_score_ > 0.9,
    "weights_are_copies": lambda names, _: names["difference"] < 1e-5,
    "map_first": lambda names, _: names["mapped"].w.tolist() == pytest.approx([0, 2 / 3], abs=1e-6),
}


def test_every_example_has_its_claims():
    assert {path.stem for path in EXAMPLES} == set(CLAIMS)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_shows_what_it_claims(path, capsys, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: None)
    plt.close("all")  # a page of the docs that ran before in this process may have left a figure open
    try:
        names = runpy.run_path(str(path), run_name="__main__")
        assert len(plt.get_fignums()) == 1, "an example draws one figure"
        assert any(ax.get_title() or ax.get_title(loc="left") for ax in plt.gcf().axes)
        assert CLAIMS[path.stem](names, capsys.readouterr().out)
    finally:
        plt.close("all")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_begins_with_a_title_and_a_sentence(path):
    """What sphinx-gallery reads for the page and for the words under its thumbnail."""
    title, rule, _, sentence = (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").splitlines()[:4]
    assert title and rule == "=" * len(title) and len(sentence) > 40
