"""How the tests of the command line run it, and the data that they run it on."""

from __future__ import annotations

import numpy as np
from typer.testing import CliRunner

from gapless.cli import app


def run(*arguments, stdin=None):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


def data(kind="two", n=90):
    """Rows around centres, with labels: −1 and 1, three texts, or a smooth target."""
    rng = np.random.default_rng(3)
    codes = np.arange(n) % (3 if kind == "three" else 2)
    X = (rng.normal(size=(n, 4)) + 1.2 * np.eye(4)[codes]).round(3)
    if kind == "smooth":
        return X, (np.sin(X[:, 0]) + 0.1 * rng.normal(size=n)).round(4)
    return X, np.array(["no", "perhaps", "yes"])[codes] if kind == "three" else 2 * codes - 1


def csv_text(X, y=None, header="a,b,c,d,kind\n"):
    rows = X.tolist() if y is None else [[*row, label] for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    return header + "".join(",".join(map(str, row)) + "\n" for row in rows)
