"""The command line: a module per command, which loads, computes and shows. Only this room knows Typer."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Annotated

import typer
from click import ClickException
from click.exceptions import Abort

from sdpa_cli import __version__
from sdpa_cli.cli import bench, check, compute, doctor, explain, grade, hint, init, prove, schema
from sdpa_cli.errors import ExitCode, InputError, Problem, SdpaError
from sdpa_cli.views.outputs import ReaderLeft

# What a shell reports of a process that a signal ended; neither is anybody's mistake.
INTERRUPTED, BROKEN_PIPE = 130, 141

app = typer.Typer(
    help="Scaled dot-product attention in the terminal: compute it, see every number, verify it.",
    no_args_is_help=True,
    suggest_commands=False,  # Click itself names the near command
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """The ``sdpa`` command: run it and exit."""
    # Importing NumPy takes half the time when its BLAS starts no threads. What the user has set, stays.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line, and say all there is to say.

    Parameters
    ----------
    arguments
        As the shell gives them, without the program's name.

    Returns
    -------
    int
        The exit status.
    """
    try:
        return app(arguments, prog_name="sdpa", standalone_mode=False) or ExitCode.OK
    except ClickException as error:
        error.show()
        return ExitCode.BAD_INPUT
    except SdpaError as error:
        _tell(error)
        return error.exit_code
    except (KeyboardInterrupt, Abort):
        return INTERRUPTED
    except ReaderLeft:
        return BROKEN_PIPE
    except MemoryError:
        _tell(InputError(Problem("memory", "there is not enough memory for this", hint="ask for less: --show, --rows")))
        return ExitCode.BAD_INPUT
    except Exception as error:
        return _internal_error(error)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"sdpa {__version__}")
        raise typer.Exit


@app.callback()
def _sdpa(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


for command in (compute.compute, explain.explain, schema.schema, bench.bench, init.init, check.check, hint.hint, prove.prove, grade.grade, doctor.doctor):
    app.command()(command)


def _tell(error: SdpaError) -> None:
    from sdpa_cli.views.problems import problem_text

    sys.stderr.write(problem_text(error))


def _internal_error(error: Exception) -> ExitCode:
    from sdpa_cli.views.problems import internal_text

    if os.environ.get("SDPA_DEBUG"):
        traceback.print_exception(error)
    sys.stderr.write(internal_text(error))
    return ExitCode.INTERNAL
