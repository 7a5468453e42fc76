from __future__ import annotations

import ast
import importlib
import inspect
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import gapless

# Optional or slow to import: each is imported by the one function that needs it. scikit-learn itself imports the last two where it finds them.
LAZY = (
    *("matplotlib", "gapless.plot", "gapless.model_selection"),
    *("onnx", "onnxruntime", "skl2onnx", "gapless.store.onnx", "gapless.store.onnx_kernels"),
    *("typer", "click", "gapless.cli", "gapless.demo", "gapless.testing"),
    *("qpsolvers", "clarabel", "torch", "sklearn.decomposition", "sklearn.pipeline"),
    *("pyarrow", "polars", "dask", "skops", "gapless.data.files", "gapless.data.store"),
)
HIDDEN = ("pandas", "rich")
PACKAGES = [gapless, gapless.features, gapless.kernels, gapless.losses, gapless.plot, gapless.solvers]
PACKAGES.append(gapless.model_selection)


def run(code: str, **environment: str) -> str:
    """Standard output of a fresh interpreter that sees the same package, where warnings are errors."""
    source = str(Path(gapless.__file__).parents[1])
    path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def public_objects() -> list:
    return [
        pytest.param(getattr(package, name, None), id=f"{package.__name__}.{name}")
        for package in PACKAGES
        for name in package.__all__
    ]


def test_import_leaves_optional_and_slow_packages_alone():
    loaded = run(
        f"import sys; sys.modules.update(dict.fromkeys({HIDDEN!r}))\n"
        f"import gapless; print([name for name in {LAZY!r} if name in sys.modules])"
    )
    assert ast.literal_eval(loaded) == []


def test_a_fit_a_prediction_and_a_saved_model_leave_them_alone_too():
    loaded = run(
        f"import os, sys, tempfile; sys.modules.update(dict.fromkeys({HIDDEN!r}))\n"
        "import gapless\n"
        "model = gapless.SVC().fit([[0.0], [1.0]], [0, 1])\n"
        "path = os.path.join(tempfile.mkdtemp(), 'model')\n"
        "model.compact().save(path)\n"
        f"print(gapless.load(path).predict([[1.0]]), [name for name in {LAZY!r} if name in sys.modules])"
    )
    assert loaded == "[1] []\n"


def test_the_hidden_ones_are_not_needed():
    """scikit-learn alone loads pandas and rich: no module that the import brings names them at its top."""
    loaded = ast.literal_eval(run("import sys, gapless; print([m for m in sys.modules if m.startswith('gapless')])"))
    for name in loaded:
        file = importlib.import_module(name).__file__
        if file.endswith(".py"):
            top = [
                node for node in ast.parse(Path(file).read_text()).body if isinstance(node, ast.Import | ast.ImportFrom)
            ]
            names = {alias.name for node in top if isinstance(node, ast.Import) for alias in node.names}
            names |= {node.module for node in top if isinstance(node, ast.ImportFrom)}
            assert not {each.partition(".")[0] for each in names} & {*HIDDEN, "matplotlib", "typer", "onnx"}, name


def test_plot_is_there_after_the_import_and_loaded_when_asked_for():
    """Displays are there as well: they take results and estimators without Matplotlib, which draws them."""
    loaded = run(
        "import sys, gapless\n"
        "before = [name in sys.modules for name in ('gapless.plot', 'matplotlib')]\n"
        "display = gapless.plot.GapDisplay.from_estimator(gapless.SVC().fit([[0.0], [1.0]], [0, 1]))\n"
        "print([before, 'plot' in dir(gapless), display.curves[0].label, 'matplotlib' in sys.modules])"
    )
    assert ast.literal_eval(loaded) == [[False, False], True, "SVC", False]
    with pytest.raises(AttributeError, match="module 'gapless' has no attribute 'plots'"):
        gapless.plots  # noqa: B018


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_public_names_exist_once_and_in_order(package):
    names = package.__all__
    assert len(set(names)) == len(names)
    assert [name for name in names if not hasattr(package, name)] == []


@pytest.mark.parametrize("value", public_objects())
def test_every_public_name_has_a_docstring(value):
    if not (inspect.isclass(value) or inspect.isfunction(value) or inspect.ismodule(value)):
        return  # registries and type aliases are described where they are defined
    documented = vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__
    assert documented and documented.strip()
    if inspect.isclass(value):
        # Dataclasses without a docstring get their signature for one.
        assert not documented.startswith(f"{value.__name__}(")


def test_the_version_is_a_release():
    assert gapless.__version__.split(".")[0].isdigit()


def test_every_module_imports_and_has_a_docstring():
    for found in pkgutil.walk_packages(gapless.__path__, "gapless."):
        assert importlib.import_module(found.name).__doc__, found.name


def test_modules_import_nothing_from_the_package_itself_but_the_compiled_core():
    """The linter of layers leaves imports of the package itself alone, since it takes the compiled core for one."""
    source = Path(gapless.__file__).parent
    modules = {path.stem if path.stem != "__init__" else path.parent.name for path in source.glob("*.py")}
    modules |= {path.parent.name for path in source.glob("*/__init__.py")}
    for path in source.rglob("*.py"):
        if path == source / "__init__.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "gapless":
                assert {alias.name for alias in node.names} <= modules | {"_native"}, path
