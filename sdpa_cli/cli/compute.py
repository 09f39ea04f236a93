"""``sdpa compute``: cases in, attention out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sdpa_cli.errors import ExitCode, InputError, Problem
from sdpa_cli.views.outputs import overwriting, replacing_if_asked, writing
from sdpa_cli.views.progress import waiting

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from sdpa_cli.attention.solving import Progress
    from sdpa_cli.cases import Case
    from sdpa_cli.computing import Computed, Matrix
    from sdpa_cli.views.excerpts import Shown
    from sdpa_cli.views.windows import Selection


# As in `sdpa_cli.computing`, which would load NumPy before there is anything to compute.
MATRICES: tuple[Matrix, ...] = ("mask", "scores", "weights", "heads", "concatenated", "output")


def _matrices(text: str) -> tuple[Matrix, ...]:
    """Read ``weights,output``; the order shown is the order of the computation."""
    asked = [name.strip() for name in text.split(",")]
    for name in asked:
        if name not in MATRICES:
            raise typer.BadParameter(f"{name!r} is none of {', '.join(MATRICES)}")
    return tuple(name for name in MATRICES if name in asked)


def _selection(text: str) -> Selection:
    from sdpa_cli.views.windows import selection

    try:
        return selection(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


Form = Literal["table", "json", "yaml", "csv", "markdown"]


def compute(
    cases: Annotated[list[str], typer.Argument(metavar="CASE...", help="YAML files; - is standard input.")],
    show: Annotated[
        Any,
        typer.Option(
            parser=_matrices, metavar="NAMES", help="What to show, of what there is; mask draws it with its reasons."
        ),
    ] = "scores,weights,heads,concatenated,output",
    precision: Annotated[
        int | None, typer.Option(min=1, max=17, help="Digits after the point in tables; 4 or more by default.")
    ] = None,
    rows: Annotated[
        Any, typer.Option(parser=_selection, metavar="ROWS", help="Rows to show, counted from 1: 1:8 or 3 or 1,4-6.")
    ] = None,
    cols: Annotated[
        Any, typer.Option(parser=_selection, metavar="COLS", help="Columns to show of each matrix, counted from 1.")
    ] = None,
    head: Annotated[
        Any, typer.Option(parser=_selection, metavar="HEADS", help="Heads to show, counted from 1: 2 or 1:4 or 1,3.")
    ] = None,
    form_name: Annotated[
        Form, typer.Option("--format", help="How to write the results; json, yaml and csv count from 0.")
    ] = "table",
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the results to a file, replaced once they are complete.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE.npz", help="Save what --show names, whole, and the lse for NumPy.")
    ] = None,
    mask: Annotated[
        str | None, typer.Option(metavar="MASK", help="In place of the file's mask: none, causal, or any YAML for it.")
    ] = None,
    dtype: Annotated[Literal["float64", "float32"] | None, typer.Option(help="In place of the file's dtype.")] = None,
    block_size: Annotated[
        int | None, typer.Option(min=1, metavar="KEYS", help="In place of the file's block_size: keys per block.")
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="How many to use; by default as many as may be.")] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Compute on the Dask cluster there; local starts one here.")
    ] = None,
) -> int:
    """Compute attention, show it, and verify what is expected.

    A file may hold several cases. Exit status: 0 all is well, 1 an expectation does not hold, 2 the input is wrong.
    """
    from sdpa_cli.cases import Overrides, load_cases
    from sdpa_cli.computing import compute as compute_case
    from sdpa_cli.views.excerpts import Shown
    from sdpa_cli.views.forms import form

    with waiting("reading"):
        loaded = load_cases(cases, Overrides(dtype=dtype, block_size=block_size, mask=mask))
    _refuse(cases, {"--output": output, "--save": save}, loaded)
    shown = Shown(show, rows, cols, precision, head)
    results: list[Computed] = []
    with writing(output) as (stream, write), replacing_if_asked(save) as archive, _executor(cluster) as executor:
        computing = _results(loaded, lambda case, tell: compute_case(case, threads, executor, tell), shown, results)
        # A table may be read while the next case is computed; the other forms are complete or not there at all.
        for piece in form(form_name, stream)(computing if form_name == "table" else list(computing), shown):
            write(piece)
        if archive is not None:
            from sdpa_cli.views.archive import save_archive

            with waiting("saving"):
                save_archive(results[0], shown, archive)
    return ExitCode.OK if all(result.holds for result in results) else ExitCode.FAILED


def _refuse(sources: list[str], targets: dict[str, Path | None], cases: list[Case]) -> None:
    """Refuse what would overwrite a file that is being read, or save several cases under the same names."""
    reading = [*(Path(source) for source in sources if source != "-"), *(file for case in cases for file in case.files)]
    problems = overwriting(targets, reading)
    if targets["--save"] is not None and targets["--save"] == targets["--output"]:
        problems.append(Problem("overwrite", f"--output and --save both name {targets['--save']}"))
    if targets["--save"] is not None and len(cases) != 1:
        hint = "save each on its own, or write --format json, which holds them all"
        problems.append(Problem("save-several", f"--save takes one case, and here are {len(cases)}", hint=hint))
    if targets["--save"] is not None and targets["--save"].suffix.lower() != ".npz":
        message = f"--save writes several arrays, and {targets['--save']} is not named as their archive"
        hint = f"--save {targets['--save'].stem}.npz; np.load gives its arrays by name"
        problems.append(Problem("save-kind", message, "a file ending in .npz", hint))
    if problems:
        raise InputError(*problems)


@contextmanager
def _executor(cluster: str | None) -> Iterator[Executor | None]:
    """What computes: the cluster at that address; None is this process."""
    if cluster is None:
        yield None
        return
    from sdpa_cli.clusters import executor_on

    with executor_on(cluster) as executor:
        yield executor


def _results(
    cases: list[Case], compute_case: Callable[[Case, Progress], Computed], shown: Shown, done: list[Computed]
) -> Iterator[Computed]:
    """Compute one case after another, noting each."""
    from sdpa_cli.views.reading import check_selection

    for number, case in enumerate(cases, 1):
        with waiting("computing" if len(cases) == 1 else f"computing case {number} of {len(cases)}") as tell:
            result = compute_case(case, tell)
        check_selection(result, shown)
        done.append(result)
        yield result
