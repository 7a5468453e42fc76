"""What ``gapless train`` prints of a finished run, for people and for programs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gapless.cli.models import n_support, print_facts, proof, scaling, title
from gapless.cli.output import console
from gapless.data.samples import Samples
from gapless.errors import InvalidInputError
from gapless.result import Status
from gapless.store import save
from gapless.store.scaled import joined


@dataclass(frozen=True)
class Run:
    """A finished run of ``gapless train``; ``worst`` is the subproblem with the widest gap."""

    task: str
    model: Any
    scaler: Any
    samples: Samples
    out: Path
    worst: Any
    proven: bool
    seconds: float


def check_place(out: Path) -> None:
    """Refuse a place where no model file can be written, before the work and not after it."""
    if not out.absolute().parent.is_dir() or out.is_dir():
        raise InvalidInputError(f"--out must be a file in a folder that exists; got {str(out)!r}.")


def saved(task: str, model: Any, scaler: Any, samples: Samples, out: Path, seconds: float) -> Run:
    """Save a fitted model with its scaler, and judge what is proven of it."""
    model.set_params(verbose=False)
    save(joined(scaler, model), out)
    worst = max(model._solved, key=lambda solved: (not solved.proven, solved.certificate.relative_gap))
    proven = worst.proven and worst.status is not Status.STATIONARY
    return Run(task, model, scaler, samples, out, worst, proven, seconds)


def print_json(run: Run) -> None:
    """Print the run as one JSON object."""
    print(json.dumps(as_json(run), indent=2))


def as_json(run: Run) -> dict[str, Any]:
    """What JSON tells of a run."""
    model = run.model
    classes = getattr(model, "classes_", None)
    return {
        "model": str(run.out),
        "task": run.task,
        "class": type(model).__name__,
        "kernel": repr(model._kernel_object) if hasattr(model, "_kernel_object") else None,
        "scaled": run.scaler is not None,
        "solver": run.worst.solver,
        "samples": run.samples.X.shape[0],
        "features": run.samples.X.shape[1],
        "classes": None if classes is None else classes.tolist(),
        "support_vectors": n_support(model),
        "tol": model.tol,
        "proven": run.proven,
        "status": run.worst.status.name,
        "certificate": proof(model.certificate_),
        "certificates": [proof(certificate) for certificate in model.certificates_],
        "seconds": run.seconds,
    }


def print_run(run: Run) -> None:
    """Print the run as names and values."""
    model, samples = run.model, run.samples
    parts = len(model.certificates_)
    among = f" (the worst of {parts} subproblems)" if parts > 1 else ""
    support = n_support(model)
    facts = [
        ("model", title(model)),
        ("data", f"{samples.X.shape[0]:,} samples, {samples.X.shape[1]:,} features"),
        *([] if run.scaler is None else [("scaled", scaling(run.scaler))]),
        ("certificate", f"{model.certificate_}{among}"),
        ("proven", f"to {model.tol:g}" if run.proven else "no"),
        ("solver", run.worst.solver),
        *([] if support is None else [("support vectors", f"{support:,}")]),
        ("seconds", f"{run.seconds:.2f}"),
        ("saved to", f"{run.out} ({run.out.stat().st_size:,} bytes)"),
    ]
    print_facts(console(), facts)
