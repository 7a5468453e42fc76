"""``gapless verify``: prove a saved model again."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np

from gapless.cli.guard import FAILED, fail, guarded
from gapless.cli.models import (
    DataArgument,
    LabelColumnOption,
    ModelArgument,
    PositiveOption,
    print_facts,
    proof,
    read_for,
    title,
)
from gapless.cli.output import JsonOption, console
from gapless.errors import InvalidInputError, UnsupportedError
from gapless.problems.problem import Problem
from gapless.proof.certificate import Certificate, Point, combine
from gapless.proof.independent import evaluate_independently
from gapless.proof.zero import vanishes
from gapless.solve import solve
from gapless.store import load
from gapless.store.scaled import split
from gapless.verify.sklearn_models import parts_of_estimator

# The relative difference that rounding may make between a value and the same value computed again in another order; by hand, far above float64's own.
_ROUNDING = 1e-6


@guarded
def verify(
    model_file: ModelArgument,
    file: DataArgument,
    label_column: LabelColumnOption = None,
    positive: PositiveOption = None,
    json_output: JsonOption = False,
) -> None:
    """Prove a saved model again, from its file and the data that it was trained on alone.

    The primal value is recomputed from the model as it predicts, the dual value from its dual variables, both in plain NumPy, without the compiled
    loops that fitted the model. The proof holds, with exit code 0, when both values agree with the stored certificate and their relative gap is at
    most tol. The exit code is 1 when the proof does not hold on this data, and 2 when a file is damaged or cannot be read by this command.

    A model that was trained with --scale is proven on the data as scaled by its own scaler.

    Example: [bold]gapless verify model.safetensors a9a.svm[/bold]
    """
    loaded = load(model_file)
    model = split(loaded)[1]
    if not hasattr(model, "certificates_"):
        raise UnsupportedError(f"A {type(model).__name__} has no proof to verify, since its fit gives no certificate.")
    samples = read_for(loaded, file, label_column, positive)
    y = samples.y if samples.labelled else None
    found = _recomputed(model, samples.X, y)
    objection = _objection(model, found)
    worst = max(range(len(found)), key=lambda k: found[k][1].relative_gap)
    stored, fresh = model.certificates_[worst], found[worst][1]
    if json_output:
        content = {
            "holds": objection is None,
            "objection": objection,
            "tol": model.tol,
            "stored": proof(stored),
            "recomputed": proof(fresh),
            "parts": [
                {"stored": proof(old), "recomputed": proof(new)}
                for old, (_, new, _) in zip(model.certificates_, found, strict=True)
            ],
        }
        print(json.dumps(content, indent=2))
    else:
        among = f" (the worst of {len(found)} subproblems)" if len(found) > 1 else ""
        facts = [("model", title(model)), ("stored", f"{stored}{among}"), ("recomputed in NumPy", f"{fresh}{among}")]
        print_facts(console(), facts)
        if objection is None:
            console().print(f"The proof holds: the relative gap is at most {model.tol:g}.", soft_wrap=True)
    if objection is not None:
        raise fail(objection, FAILED)


def _recomputed(model: Any, X: Any, y: np.ndarray | None) -> list[tuple[Problem, Certificate, float]]:
    """(problem, recomputed certificate, largest dual variable) for each subproblem."""
    try:
        n = model.shape_fit_[0] if hasattr(model, "shape_fit_") else len(model._solved[0].beta)
        if X.shape[0] != n:
            raise InvalidInputError(f"the model was trained on {n:,} samples, and the data has {X.shape[0]:,}.")
        parts = parts_of_estimator(model, X, y, None)
    except InvalidInputError as error:
        raise fail(f"The proof does not hold on this data: {error}", FAILED) from None
    found = []
    for (problem, point), solved in zip(parts, model._solved, strict=True):
        # The file of a linear model keeps the dual variables besides w.
        beta = solved.beta if point.beta is None else point.beta
        certificate = _certificate(problem, replace(point, beta=beta), solved, model.tol)
        found.append((problem, certificate, float(np.abs(beta).max(initial=0.0))))
    return found


def _certificate(problem: Problem, point: Point, solved: Any, tol: float) -> Certificate:
    if problem.is_hard:
        point = _stretched(point)
    primal, dual = evaluate_independently(problem, point)
    if not _names_its_dual(solved) and solved.proven and combine(primal, dual).relative_gap > tol:
        # The stored dual value came from another iterate than the model, which the file does not keep. Every feasible dual point gives a bound, so
        # that a new one is looked for.
        found = solve(problem, tol=0.1 * tol, start=Point(beta=dual.beta))
        dual = replace(
            evaluate_independently(problem, Point(beta=found.certified.beta))[1], box_violation=dual.box_violation
        )
    return combine(primal, dual)


def _stretched(point: Point) -> Point:
    """The model, longer by a hair, so that no rounding makes it miss a hard margin, which would cost infinitely much."""
    parts = {name: getattr(point, name) for name in ("beta", "w", "b", "offsets")}
    return Point(**{name: None if part is None else (1 + 0.25 * _ROUNDING) * part for name, part in parts.items()})


def _names_its_dual(solved: Any) -> bool:
    """Whether the stored dual value is that of the stored dual variables."""
    return getattr(solved, "w", None) is not None or solved.certificate.own_weights


def _objection(model: Any, found: list[tuple[Problem, Certificate, float]]) -> str | None:
    """Why the proof does not hold, as a sentence; None where it does."""
    for solved, (problem, new, largest) in zip(model._solved, found, strict=True):
        old = solved.certificate
        scale = float(np.abs(problem.totals).sum()) if problem.is_nu else 0.0
        for side in ("primal", "dual") if _names_its_dual(solved) else ("primal",):
            before, now = getattr(old, side), getattr(new, side)
            if not math.isclose(before, now, rel_tol=_ROUNDING, abs_tol=_ROUNDING * scale):
                return f"The proof does not hold on this data: the stored {side} value is {before:.10g}, recomputed {now:.10g}."
        if new.box_violation > _ROUNDING * largest:
            return "The proof does not hold on this data: dual variables of the model are outside of the bounds that the labels set."
    for problem, new, _ in found:
        if not math.isfinite(new.dual):
            return "There is no proof to verify: the kernel is not positive semi-definite, so that no dual value bounds the optimum."
        if new.relative_gap > model.tol and not vanishes(problem, new, model.tol):
            return f"The model is not proven to tol on this data: its relative gap is {new.relative_gap:.2e}, and tol is {model.tol:g}."
    return None
