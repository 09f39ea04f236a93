"""An exercise explained: what it asks, what is handed in and where to start. Never how it is solved."""

from __future__ import annotations

from sdpa_cli.explaining.trace import Command, Part, Prose, Step, Trace, words

START = {
    "F1": "sdpa explain shapes",
    "F2": "sdpa explain --fault no-max-shift",
    "F3": "sdpa explain masks",
    "F4": "sdpa explain --fault mask-multiplied",
    "F5": "sdpa explain scaling",
}
"""What is worth reading first. An exercise that is not listed has its statement alone."""


def explain_exercise(name: str, statement: str) -> Trace:
    """The statement of an exercise, and the first commands.

    Parameters
    ----------
    name
        Such as ``F3``.
    statement
        Markdown in the reader's language; its first heading is the title.
    """
    title = statement.split("\n", 1)[0].removeprefix("# ").strip()
    start: list[Part] = [words("exercise.start.init"), Command("sdpa init")]
    if name in START:
        start += [words("exercise.start.read"), Command(START[name])]
    start += [words("exercise.start.check"), Command(f"sdpa check {name}"), Command(f"sdpa hint {name}")]
    steps = (
        Step("statement", words("exercise.statement"), (Prose(statement),)),
        Step("start", words("exercise.start.title"), tuple(start)),
    )
    return Trace("exercise", name, title, steps)
