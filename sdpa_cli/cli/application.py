"""The application that Typer makes of the commands, and what becomes of whatever they raise."""

from __future__ import annotations

import errno
import os
import traceback
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from typing import Annotated

import typer
from click import ClickException
from click.exceptions import Abort

from sdpa_cli import __version__
from sdpa_cli.errors import ExitCode, InputError, Problem, SdpaError
from sdpa_cli.views.outputs import ReaderLeft, refused_output, tell

COMMANDS = ("compute", "explain", "schema", "bench", "init", "check", "hint", "prove", "grade", "doctor")
"""In the order of the help. Each is a function in the module of its name."""

# What a shell reports of a process that a signal ended; it is nobody's mistake.
BROKEN_PIPE = 141


def application(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """The command line with some of its commands.

    Parameters
    ----------
    names
        Which: Typer takes some milliseconds for each, and one run is of one command.
    """
    app = typer.Typer(
        help="Scaled dot-product attention in the terminal: compute it, see every number, verify it.",
        no_args_is_help=True,
        suggest_commands=False,  # Click itself names the near command
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_sdpa)
    for name in names:
        app.command()(getattr(import_module(f"sdpa_cli.cli.{name}"), name))
    return app


def invoke(arguments: list[str]) -> int:
    """Run one command line, as `sdpa_cli.cli.run` does."""
    meant = [name for name in COMMANDS if [name] == arguments[:1]]
    try:
        return application(meant or COMMANDS)(arguments, prog_name="sdpa", standalone_mode=False) or ExitCode.OK
    except ClickException as error:
        with suppress(OSError):
            error.show()
        return ExitCode.BAD_INPUT
    except SdpaError as error:
        _tell(error)
        return error.exit_code
    except Abort as error:
        # What Click makes of an interrupt.
        raise KeyboardInterrupt from error
    except (ReaderLeft, SystemExit):
        # Click ends the process itself in this one case: whoever read the help has left.
        return BROKEN_PIPE
    except OSError as error:
        # Commands refuse a full disk where they write; this is the help.
        if error.errno != errno.ENOSPC:
            return _internal_error(error)
        _tell(refused_output(error))
        return ExitCode.BAD_INPUT
    except MemoryError:
        _tell(InputError(Problem("memory", "there is not enough memory for this", hint="ask for less: --show, --rows")))
        return ExitCode.BAD_INPUT
    except Exception as error:
        return _internal_error(error)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"sdpa {__version__}")
        raise typer.Exit


def _sdpa(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def _tell(error: SdpaError) -> None:
    from sdpa_cli.views.problems import problem_text

    tell(problem_text(error))


def _internal_error(error: Exception) -> ExitCode:
    from sdpa_cli.views.problems import internal_text

    if os.environ.get("SDPA_DEBUG"):
        traceback.print_exception(error)
    tell(internal_text(error))
    return ExitCode.INTERNAL
