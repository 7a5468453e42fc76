"""The command line. Results go to standard output, progress and errors to standard error; an error is one sentence, never a traceback.

Exit codes: 0 the command is done; 1 the run failed, or the proof that was asked for does not hold; 2 the input was wrong; 130 the run was interrupted
(the best certificates so far are shown, and the best model is saved).
"""

from __future__ import annotations

from typing import Annotated

import typer

import gapless
from gapless.cli.compare import compare_file
from gapless.cli.convert import convert
from gapless.cli.demo import demo
from gapless.cli.info import info
from gapless.cli.predict import predict
from gapless.cli.train import train
from gapless.cli.tune import tune
from gapless.cli.verify import verify

__all__ = ["app"]

app = typer.Typer(
    help="Support vector machines with a proof of how close each model is to the optimum.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    add_completion=False,
)
app.command("demo")(demo)
app.command("compare")(compare_file)
app.command("train")(train)
app.command("tune")(tune)
app.command("predict")(predict)
app.command("verify")(verify)
app.command("convert")(convert)
app.command("info")(info)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"gapless {gapless.__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass
