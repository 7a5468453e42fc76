"""All solvers on one problem: every primal value from above and every dual value from below enclose one number."""

from __future__ import annotations

from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import gapless as gl


def main() -> list[gl.Result]:
    """Print what each solver proves; return their results."""
    X, y = load_breast_cancer(return_X_y=True)
    problem = gl.Problem(StandardScaler().fit_transform(X), y, lam_mean=0.01, intercept="regularized")
    print(problem)
    results = []
    for name, solver in gl.solvers.SOLVERS.items():
        if solver().unsupported(problem):  # newton is for squared losses
            continue
        result = gl.solve(problem, name, tol=1e-4, max_time=1.0)
        value = problem.in_convention
        certificate = result.certificate
        results.append(result)
        print(
            f"{name:<20}{result.iterations:>10.1f} {result.trace.unit:<7}"
            f"dual {value(certificate.dual):.6f} <= optimum <= {value(certificate.primal):.6f} primal   {result.status.name}"
        )
    low, high = (
        max(each.certificate.dual for each in results),
        min(each.certificate.primal for each in results),
    )
    print(f"{'together':<38}dual {value(low):.6f} <= optimum <= {value(high):.6f} primal")
    return results


if __name__ == "__main__":
    main()
