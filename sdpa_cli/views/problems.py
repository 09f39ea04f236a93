"""How problems are told: the place, what is wrong, the line with a caret beneath it, what was expected, what to do."""

from __future__ import annotations

from collections.abc import Iterator

from sdpa_cli.errors import Place, Problem, SdpaError
from sdpa_cli.views.glyphs import Glyphs, width

# A source line is shown this far to each side of its caret.
BEFORE, AFTER = 50, 30


def problem_text(error: SdpaError, glyphs: Glyphs) -> str:
    """Everything an error has to say, each problem in a paragraph of its own.

    Parameters
    ----------
    error
        What went wrong.
    glyphs
        What may be shown where the text goes.
    """
    return "\n".join("".join(f"{line}\n" for line in _lines(problem, glyphs)) for problem in error.problems)


def internal_text(error: BaseException) -> str:
    """What to say when the tool itself failed."""
    return (
        f"sdpa: internal error: {type(error).__name__}: {error}\n"
        "This is a fault of sdpa, not of your input. Please report it with the case file and the command;\n"
        "with SDPA_DEBUG=1 in the environment, the same command prints where it happened.\n"
    )


def _lines(problem: Problem, glyphs: Glyphs) -> Iterator[str]:
    where = "sdpa" if problem.place is None else glyphs.shown(str(problem.place))
    yield f"{where}: {glyphs.shown(problem.message)}"
    if problem.place is not None and problem.place.source:
        yield from _source(problem.place, glyphs)
    if problem.expected is not None:
        yield f"    expected: {glyphs.shown(problem.expected)}"
    if problem.hint is not None:
        yield f"    hint: {glyphs.shown(problem.hint)}"


def _source(place: Place, glyphs: Glyphs) -> Iterator[str]:
    """The line and a caret, however long the line and whatever is in it."""
    at = place.column - 1
    start, end = max(0, at - BEFORE), at + AFTER
    before = (glyphs.ellipsis if start else "") + glyphs.shown(place.source[start:at])
    after = glyphs.shown(place.source[at:end]) + (glyphs.ellipsis if end < len(place.source) else "")
    margin = f"{place.line:>6} {glyphs.bar} "
    yield f"{margin}{before}{after}".rstrip()
    yield f"{' ' * (width(margin) - 2)}{glyphs.bar} {' ' * width(before)}^"
