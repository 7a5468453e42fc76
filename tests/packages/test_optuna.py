"""optuna: a search that sets parameters, kernels among them, and prunes nothing."""

from __future__ import annotations

from typing import Any

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gapless as gl
from gapless.kernels import RBF, Linear
from tests.packages.installed import Package

optuna = Package("optuna")

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:200], Y[:200]


def test_a_study_over_c_gamma_and_the_kernel() -> None:
    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def objective(trial: Any) -> float:
        gamma = trial.suggest_float("gamma", 1e-3, 1.0, log=True)
        kernel = RBF(gamma) + Linear() if trial.suggest_categorical("sum", [True, False]) else "rbf"
        model = gl.SVC(C=trial.suggest_float("C", 1e-1, 1e2, log=True), kernel=kernel, gamma=gamma)
        return float(cross_val_score(make_pipeline(StandardScaler(), model), X, Y, cv=3).mean())

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(objective, n_trials=8)
    assert len(study.trials) == 8 and all(trial.value is not None for trial in study.trials)
    assert study.best_value > 0.9
    assert study.best_value == max(trial.value for trial in study.trials)
