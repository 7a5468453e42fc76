"""``gapless info``: what a model file holds, or the versions of what is installed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from gapless.cli.guard import guarded
from gapless.cli.models import n_support, print_facts, proof, scaling
from gapless.cli.output import JsonOption, console
from gapless.cli.versions import versions
from gapless.store import describe, load
from gapless.store.scaled import split

_MOST_SHOWN = 10  # classes or names of features that fit on a line


@guarded
def info(
    model_file: Annotated[
        str | None, typer.Argument(help="The model file that train has written.", metavar="[MODEL]", show_default=False)
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Show what a model file holds: the class and its parameters, the scaler, the kernel, the classes, the certificate, the version and the size.

    Without a file, show the versions of Gapless and of the packages that it uses, and the machine: what a report of a bug needs.

    Example: [bold]gapless info[/bold]

    Example: [bold]gapless info model.safetensors --json[/bold]
    """
    if model_file is None:
        found = versions()
        if json_output:
            print(json.dumps(found, indent=2))
        else:
            print_facts(console(), [(name, value) for name, value in found.items() if value is not None])
        return
    content = _content(model_file)
    if json_output:
        print(json.dumps(content, indent=2))
        return
    changed = ", ".join(f"{name}={value!r}" for name, value in content["changed"].items())
    classes = content["classes"]
    certificate = content["certificate"]
    facts = [
        ("class", content["class"]),
        ("parameters", changed or "all as by default"),
        *([("kernel", content["kernel"])] if content["kernel"] else []),
        *([("scaled", content["scaled"])] if content["scaled"] else []),
        *([("classes", _shown(classes))] if classes else []),
        ("features", f"{content['features']:,}" + (f": {_shown(content['feature_names'])}" if content["feature_names"] else "")),
        *([("support vectors", f"{content['support_vectors']:,}")] if content["support_vectors"] is not None else []),
        *([] if certificate is None else [
            ("certificate", ", ".join(f"{name.replace('_', ' ')} {_number(certificate[name])}" for name in ("primal", "dual", "relative_gap"))),
            ("subproblems", len(content["certificates"])),
            ("status", content["status"]),
        ]),
        ("saved by", f"gapless {content['version']}"),
        ("size", f"{content['bytes']:,} bytes"),
    ]  # fmt: skip
    print_facts(console(), facts)


def _content(model_file: str) -> dict[str, Any]:
    description, loaded = describe(model_file), load(model_file)
    scaler, model = split(loaded)
    defaults = type(model)().get_params(deep=False)
    parameters = {name: _plain(value) for name, value in model.get_params(deep=False).items()}
    classes, names = getattr(model, "classes_", None), getattr(model, "feature_names_in_", None)
    kernel = getattr(model, "_kernel_object", None)
    solved = getattr(model, "_solved", [])  # KernelPerceptron and KernelFisherDiscriminant have no certificates
    worst = max(solved, key=lambda each: (not each.proven, each.certificate.relative_gap), default=None)
    return {
        "class": type(model).__name__,
        "parameters": parameters,
        "changed": {name: value for name, value in parameters.items() if value != _plain(defaults[name])},
        "scaled": None if scaler is None else scaling(scaler),
        "kernel": None if kernel is None else repr(kernel),
        "classes": None if classes is None else classes.tolist(),
        "features": int(model.n_features_in_),
        "feature_names": None if names is None else names.tolist(),
        "support_vectors": n_support(model),
        "certificate": None if worst is None else proof(model.certificate_),
        "certificates": [proof(each.certificate) for each in solved],
        "status": None if worst is None else worst.status.name,
        "version": description["gapless"],
        "bytes": Path(model_file).stat().st_size,
    }


def _plain(value: Any) -> Any:
    """A parameter as JSON can hold it; a kernel and an infinite C become text."""
    if isinstance(value, float):
        return value if value not in (float("inf"), float("-inf")) else str(value)
    return value if value is None or isinstance(value, bool | int | str) else repr(value)


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.10g}"


def _shown(values: list[Any]) -> str:
    return ", ".join(map(str, values[:_MOST_SHOWN])) + (", …" if len(values) > _MOST_SHOWN else "")
