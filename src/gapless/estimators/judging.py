"""The one place that decides whether a fit has reached its tol: by the certificate that the user sees, and by nothing else."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gapless.kernels import Validity
from gapless.problems.problem import Problem
from gapless.proof.certificate import Certificate
from gapless.proof.zero import vanishes
from gapless.result import Result, Status


@dataclass(frozen=True)
class Bounds:
    """The bounds that a certificate has to keep: on the relative duality gap (``gap``) and, unless None, on the largest KKT violation (``kkt``).

    Where the kernel is not positive semi-definite, no dual value bounds the optimum, and the KKT violation alone counts. Where the optimum of a
    ν-form is zero, the absolute gap counts in place of the relative one, as :func:`~gapless.proof.zero.vanishes` says. ``tol`` is the
    user's own, for messages, where the bound on the gap follows from it; otherwise None.
    """

    gap: float
    kkt: float | None = None
    tol: float | None = None

    def __str__(self) -> str:
        if self.tol is None or self.tol == self.gap:
            return f"tol is {self.gap:g}"
        return f"tol is {self.tol:g}, for which an l1 penalty asks for a gap of at most {self.gap:g}"

    def missed(self, problem: Problem, certificate: Certificate) -> str | None:
        """A clause that names the bounds which a certificate misses, each with its value; None where the certificate keeps all bounds."""
        missed = []
        proves = problem.validity is not Validity.NOT_VALID
        kkt = self.gap if self.kkt is None and not proves else self.kkt
        if proves and not certificate.relative_gap <= self.gap and not vanishes(problem, certificate, self.gap):
            missed.append(f"the certified relative duality gap is {certificate.relative_gap:.2g}")
        if kkt is not None and certificate.kkt_violation > kkt:  # NaN, of a problem without KKT violations, passes
            missed.append(f"the largest KKT violation is {certificate.kkt_violation:.2g}")
        return " and ".join(missed) or None


def judged(result: Result, bounds: Bounds) -> Result:
    """The result with the status that its certificate bears out: proven where the certificate keeps the bounds, and only there.

    Two statuses stay as they are: that of a model which is optimal for the approximation that was asked for, and that of a hard margin which does not
    exist.
    """
    status = result.status
    if status is Status.NOT_SEPARABLE:
        return result
    if bounds.missed(result.problem, result.certificate) is not None:
        contradicts = status.proven and status is not Status.APPROXIMATE
        return replace(result, status=Status.STALLED) if contradicts else result
    if result.problem.validity is Validity.NOT_VALID:
        status = Status.STATIONARY
    else:
        status = Status.CONVERGED if result.certificate.relative_gap <= bounds.gap else Status.ZERO
    return result if status is result.status else replace(result, status=status)
