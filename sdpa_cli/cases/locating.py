"""Where in its text a value of a case stands: looked up by parsing the text again, only when somebody asks."""

from __future__ import annotations

from collections.abc import Iterator

from yaml.events import (
    CollectionEndEvent,
    Event,
    MappingStartEvent,
    ScalarEvent,
    SequenceStartEvent,
)

from sdpa_cli.cases.cursor import Cursor, Unreadable
from sdpa_cli.cases.source import Mark, Source, Steps
from sdpa_cli.errors import Place


def locate(source: Source, steps: Steps) -> Place:
    """The point where the value at a path begins, or the value nearest above it that is there.

    Parameters
    ----------
    source
        The document.
    steps
        Keys and 0-based indices.

    Returns
    -------
    Place
    """
    cursor = Cursor(source, [])
    nearest: Mark | None = None
    try:
        for event in _on_the_way(cursor, steps):
            nearest = event.start_mark
    except Unreadable:
        pass
    finally:
        cursor.close()
    return source.place(nearest)


def _on_the_way(cursor: Cursor, steps: Steps) -> Iterator[Event]:
    """The first event of each value on the way down a path, as far as it leads."""
    first = cursor.begin()
    if first is None:
        return
    yield first
    for step in steps:
        entered = _enter_key(cursor, step) if isinstance(step, str) else _enter_item(cursor, step)
        if not entered:
            return
        yield cursor.peek()


def _enter_key(cursor: Cursor, key: str) -> bool:
    """Move from the beginning of a mapping to the beginning of a key's value."""
    if not isinstance(cursor.next(), MappingStartEvent):
        return False
    while not isinstance(event := cursor.peek(), CollectionEndEvent):
        cursor.skip()
        if isinstance(event, ScalarEvent) and event.value == key:
            return True
        cursor.skip()
    return False


def _enter_item(cursor: Cursor, index: int) -> bool:
    """Move from the beginning of a list to the beginning of one of its items."""
    if not isinstance(cursor.next(), SequenceStartEvent):
        return False
    for _ in range(index):
        if isinstance(cursor.peek(), CollectionEndEvent):
            return False
        cursor.skip()
    return not isinstance(cursor.peek(), CollectionEndEvent)
