"""Where in its text a value of a case stands: looked up by parsing the text again, only when somebody asks."""

from __future__ import annotations

from collections.abc import Iterable

from yaml.events import CollectionEndEvent, MappingStartEvent, ScalarEvent, SequenceStartEvent

from sdpa_cli.cases.cursor import Cursor, Unreadable
from sdpa_cli.cases.source import Source, Steps
from sdpa_cli.errors import Place


def locate(source: Source, paths: Iterable[Steps]) -> dict[Steps, Place]:
    """The points where the values at some paths begin, or the values nearest above them that are there.

    Parameters
    ----------
    source
        The document. It is parsed once, however many paths there are.
    paths
        Keys and 0-based indices.

    Returns
    -------
    dict
        A place for each path.
    """
    places = dict.fromkeys(paths, source.place(None))
    cursor = Cursor(source, [])
    try:
        if cursor.begin() is not None:
            _visit(cursor, (), places)
    except Unreadable:
        pass
    finally:
        cursor.close()
    return places


def _visit(cursor: Cursor, here: Steps, places: dict[Steps, Place]) -> None:
    """Take the node at a path, noting the place of every wanted path that leads to or through it."""
    event = cursor.peek()
    through = [path for path in places if path[: len(here)] == here]
    places.update(dict.fromkeys(through, cursor.source.place(event.start_mark)))
    wanted = {path[len(here)] for path in through if len(path) > len(here)}
    if wanted and isinstance(event, MappingStartEvent):
        _visit_values(cursor, here, wanted, places)
    elif wanted and isinstance(event, SequenceStartEvent):
        _visit_items(cursor, here, wanted, places)
    else:
        cursor.skip()


def _visit_values(cursor: Cursor, here: Steps, wanted: set[str | int], places: dict[Steps, Place]) -> None:
    cursor.next()
    while not isinstance(key := cursor.peek(), CollectionEndEvent):
        cursor.skip()
        if isinstance(key, ScalarEvent) and key.value in wanted:
            # Of a key given twice, the first one counts.
            wanted.discard(key.value)
            _visit(cursor, (*here, key.value), places)
        else:
            cursor.skip()
    cursor.next()


def _visit_items(cursor: Cursor, here: Steps, wanted: set[str | int], places: dict[Steps, Place]) -> None:
    cursor.next()
    index = 0
    while not isinstance(cursor.peek(), CollectionEndEvent):
        if index in wanted:
            _visit(cursor, (*here, index), places)
        else:
            cursor.skip()
        index += 1
    cursor.next()
