"""How one node is taken from a cursor, and how what is wrong with it is said."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches
from itertools import groupby
from typing import TypeVar

from yaml.events import Event, MappingStartEvent, ScalarEvent

from sdpa_cli.cases.cursor import Cursor
from sdpa_cli.cases.numbers import NULLS, NotUnderstood, shown
from sdpa_cli.cases.source import Steps

T = TypeVar("T")
_MEANING = dict.fromkeys(("path", "npy", "npz", "csv"), "file")
"""Words that people write for others, which resemble them in no letter."""
_ARRAY_FILE = re.compile(r"[\w./-]+\.(npy|npz|csv)", re.IGNORECASE)


def read_scalar(cursor: Cursor, steps: Steps, parse: Callable[[str], T]) -> T | None:
    """Take one unquoted scalar and parse it; None with the problem noted where that fails."""
    event = take_scalar(cursor, steps, None)
    return None if event is None else parsed(cursor, event, steps, parse)


def parsed(cursor: Cursor, event: ScalarEvent, steps: Steps, parse: Callable[[str], T]) -> T | None:
    """Parse a scalar that was taken; None with the problem noted where that fails."""
    try:
        value = parse(event.value)
    except NotUnderstood as problem:
        advice = {"expected": problem.expected, "hint": problem.hint}
        cursor.report(event, "value", f"{named(steps)}: {problem.message}", steps=steps, **advice)
        return None
    if event.style:
        message = f"{named(steps)}: {shown(event.value)} is text, because it stands in quotes"
        cursor.report(event, "quoted", message, steps=steps, hint=f"write {event.value} without quotes")
        return None
    return value


def one_line(cursor: Cursor, event: ScalarEvent, steps: Steps) -> str | None:
    """A text on one line; None with the problem noted where it holds characters that steer a terminal."""
    text = re.sub("[\t\n\r\x85\u2028\u2029]", " ", event.value.rstrip("\n"))
    if found := re.search("[\x00-\x1f\x7f-\x9f]", text):
        message = f"{named(steps)} contains the control character U+{ord(found[0]):04X}"
        cursor.report(event, "control-character", message, steps=steps)
        return None
    return str(text)


def take_scalar(cursor: Cursor, steps: Steps, expected: str | None) -> ScalarEvent | None:
    """Take one scalar; None with the problem noted where a list or mapping stands."""
    event = cursor.peek()
    if isinstance(event, ScalarEvent):
        cursor.next()
        return event
    report_kind(cursor, event, steps, expected or "a single value")
    cursor.skip()
    return None


def report_kind(cursor: Cursor, event: Event, steps: Steps, expected: str, hint: str | None = None) -> None:
    """Note that a value is a list, a mapping or a single value where something else is due."""
    if isinstance(event, ScalarEvent):
        found = "empty" if is_null(event) else shown(event.value)
    else:
        found = "a mapping" if isinstance(event, MappingStartEvent) else "a list"
    # Of the whole there is no path. It may be a case, a student's answers or an exercise: its file has a name for all.
    subject = named(steps) or cursor.source.name
    cursor.report(event, "kind", f"{subject} is {found}", steps=steps, expected=expected, hint=hint)


def is_null(event: Event) -> bool:
    """Whether nothing, or YAML's word for nothing, stands here."""
    return isinstance(event, ScalarEvent) and not event.style and event.value in NULLS


def as_file(event: Event) -> str | None:
    """What to do about a bare name of a file of numbers; nothing about anything else."""
    if not isinstance(event, ScalarEvent) or not _ARRAY_FILE.fullmatch(event.value):
        return None
    return f"a matrix is read from a file with {{file: {event.value}}}"


def nearest(word: str, known: tuple[str, ...]) -> str | None:
    """The known word nearest to an unknown one, by its meaning or its letters, if any is near."""
    folded = {name.lower(): name for name in known}
    near = [_MEANING.get(word.lower(), ""), *get_close_matches(word.lower(), folded, n=1)]
    return next((folded[name] for name in near if name in folded), None)


def named(steps: Steps) -> str:
    """A path as people write it, counted from 1: ``mask.window.left``, ``Q[2,1]``; of the whole, nothing.

    Examples
    --------
    >>> named(("expect", "weights", 0, 1))
    'expect.weights[1,2]'
    >>> named(("arms", 0, "seeds"))
    'arms[1].seeds'
    """
    text = ""
    for numbers, run in groupby(steps, lambda step: isinstance(step, int)):
        if numbers:
            text += f"[{','.join(str(int(step) + 1) for step in run)}]"
        else:
            text += "." * bool(text) + ".".join(map(str, run))
    return text
