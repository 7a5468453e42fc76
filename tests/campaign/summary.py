"""The summary of a campaign: counts and worst cases, as JSON and as a table."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

from tests.campaign.judge import Verdict

FOLDER = Path("build/campaign")
WORST = 10  # the cases of each kind that are kept
ROUNDING = 1e-13  # the relative size up to which a refutation concerns the last digits alone: some 500 roundings

KINDS = {
    "refuted_primal": "certificates whose primal an exact dual value refutes",
    "refuted_dual": "certificates whose dual an exact primal value refutes",
    "model": "stored models that are worse than their certificate",
    "returned": "models returned as CONVERGED that are not within tol by themselves",
    "negative_gap": "certificates with dual above primal",
    "contradiction": "status, warning and certificate contradict each other",
    "not_separable": "NOT_SEPARABLE for data that is separated exactly",
    "exception": "exceptions that are not sentences of Gapless",
    "warning": "leaked warnings",
    "late": "fits that overran max_time",
    "hang": "no answer in 30 s",
    "crash": "processes that died",
    "campaign": "faults of the campaign itself",
}


class Summary:
    """Counts of verdicts, by kind of failure, form, loss, kernel and status."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.problems = self.certificates = self.judged = 0
        self.refusals: Counter[str] = Counter()
        self.counts: dict[str, Counter[str]] = {
            name: Counter() for name in ("form", "loss", "kernel", "intercept", "convention", "weights", "status")
        }
        self.failures: Counter[str] = Counter()
        self.beyond: Counter[str] = Counter()
        self.worst: dict[str, list[dict[str, Any]]] = {}
        self.slowest = 0.0

    def add(self, verdict: Verdict) -> None:
        """Count one verdict."""
        spec = verdict.spec
        self.problems += 1
        self.certificates += verdict.certificates
        self.judged += verdict.judged
        self.slowest = max(self.slowest, verdict.seconds)
        if verdict.refusal:
            self.refusals[verdict.refusal.partition(":")[0]] += 1
        named = {
            **spec,
            "kernel": spec["kernel"][0],
            "form": spec.get("estimator", spec["form"]),
            "status": verdict.status or "none",
        }
        for name, counter in self.counts.items():
            if name in named:
                counter[str(named[name])] += 1
        for kind in {kind for kind, _, _ in verdict.failures}:
            self.failures[kind] += 1
            size, sentence = max((size, sentence) for k, sentence, size in verdict.failures if k == kind)
            self.beyond[kind] += size > ROUNDING
            kept = self.worst.setdefault(kind, [])
            kept.append({"size": size if math.isfinite(size) else None, "what": sentence, "spec": spec})
            kept.sort(key=lambda case: -math.inf if case["size"] is None else -case["size"])
            del kept[WORST:]

    def as_dict(self) -> dict[str, Any]:
        """The whole summary, for JSON."""
        return {
            "seed": self.seed, "problems": self.problems, "certificates": self.certificates, "judged": self.judged,
            "failures": dict(self.failures), "beyond_rounding": dict(self.beyond), "refusals": dict(self.refusals),
            "counts": {name: dict(counter.most_common()) for name, counter in self.counts.items()},
            "slowest": self.slowest, "worst": self.worst,
        }  # fmt: skip

    def write(self, folder: Path = FOLDER) -> None:
        """Write summary.json and summary.md."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "summary.json").write_text(json.dumps(self.as_dict(), indent=1) + "\n")
        (folder / "summary.md").write_text(table(self.as_dict()) + "\n")


def table(summary: dict[str, Any]) -> str:
    """The summary as a table in Markdown."""
    lines = [
        f"Seed {summary['seed']}: {summary['problems']:,} problems, {summary['certificates']:,} certificates, "
        f"{summary['judged']:,} problems judged by the exact referee, {sum(summary['refusals'].values()):,} refused with a sentence; "
        f"the slowest took {summary['slowest']:.1f} s.",
        "",
        "| failure | problems | of them beyond the last digits |",
        "|---|---|---|",
    ]
    for kind, meaning in KINDS.items():
        lines.append(
            f"| {meaning} | {summary['failures'].get(kind, 0):,} | {summary['beyond_rounding'].get(kind, 0):,} |"
        )
    lines += ["", "| drawn | counts |", "|---|---|"]
    for name, counts in summary["counts"].items():
        lines.append(f"| {name} | {', '.join(f'{key} {count:,}' for key, count in counts.items())} |")
    return "\n".join(lines)
