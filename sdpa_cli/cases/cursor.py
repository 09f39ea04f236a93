"""A cursor over YAML's events: one document, read once from front to back, with nothing kept that was passed.

Every reader of the case room consumes exactly one node from it, whatever that node holds, so that one wrong value
never hides another.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import yaml
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    Event,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    StreamEndEvent,
)

from sdpa_cli.cases.source import Source, Steps
from sdpa_cli.cases.syntax import explain_syntax
from sdpa_cli.errors import Problem

PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""LibYAML where PyYAML was built with it: three times as fast, and its events carry marks at no extra cost."""

MAX_DEPTH = 64
MAX_EVENTS = 4_000_000
"""Values and brackets of one document; reading so many takes some ten seconds."""
MAX_ANCHORED = 250_000
"""Events kept for aliases, some 100 MiB: three times a matrix of 1000×64."""
MAX_REPLAYED = 1_000_000
"""Events that aliases may repeat; ten nested levels of ten aliases each would be ten thousand million."""
MAX_PROBLEMS = 1000
FILE_HINT = "keep large matrices in files of their own and write {file: q.npy}"


class Unreadable(Exception):  # noqa: N818 -- ends the reading of one document; its problems are already noted
    """Reading cannot go on in this document."""


class Cursor:
    """The events of one document, in order.

    Parameters
    ----------
    source
        The document.
    problems
        Where to note what is wrong.
    """

    def __init__(self, source: Source, problems: list[Problem]) -> None:
        self.source = source
        self.problems = problems
        self.files: list[Path] = []
        """Files of matrices that the document names, once they are read."""
        self._parser = PARSER(source.text)
        self._ahead: deque[Event] = deque()
        self._depth = 0
        self._anchors: dict[str, list[Event]] = {}
        self._recordings: list[tuple[int, str, list[Event]]] = []
        self._anchored = 0
        self._replays: list[Iterator[Event]] = []
        self._replayed = 0
        self._pulled = 0

    def begin(self) -> Event | None:
        """Go to the first event of the document's value; None where there is no document."""
        self.next()
        if isinstance(self.peek(), StreamEndEvent):
            return None
        self.next()
        return self.peek()

    def end(self) -> None:
        """Take the end of the document; whatever follows it is a problem."""
        self.next()
        if not isinstance(after := self.next(), StreamEndEvent):
            message = f"{self.source.name} holds a second document"
            self.report(after, "several-documents", message, hint="remove the line ---")

    def peek(self) -> Event:
        """The event that `next` will give. An alias stands for the node it repeats."""
        if not self._ahead:
            self._ahead.append(self._pull())
        while isinstance(event := self._ahead[0], AliasEvent):
            self._ahead.popleft()
            self._replays.append(iter(self._repeated(event)))
            self._ahead.appendleft(self._pull())
        return self._ahead[0]

    def next(self) -> Event:
        """Take one event."""
        event = self.peek()
        self._ahead.popleft()
        return event

    def first_key(self) -> str | None:
        """The first key of the mapping that begins here; None where none begins, or its key is no word."""
        if not isinstance(self.peek(), MappingStartEvent):
            return None
        if len(self._ahead) < 2:
            self._ahead.append(self._pull())
        key = self._ahead[1]
        return str(key.value) if isinstance(key, ScalarEvent) else None

    def scalars(self, limit: int) -> list[ScalarEvent]:
        """Take the run of scalars that begins here, at most so many."""
        run: list[ScalarEvent] = []
        while len(run) < limit and isinstance(event := self.peek(), ScalarEvent):
            self._ahead.popleft()
            run.append(event)
        return run

    def skip(self) -> None:
        """Take one whole node. Aliases in it are not followed."""
        depth = 0
        while True:
            event = self._ahead.popleft() if self._ahead else self._pull()
            if isinstance(event, CollectionStartEvent):
                depth += 1
            elif isinstance(event, CollectionEndEvent):
                depth -= 1
            if depth == 0:
                return

    def report(self, event: Event, code: str, message: str, *, steps: Steps = (), **advice: str | None) -> None:
        """Note a problem at the beginning of an event; `advice` is what was expected, and a hint."""
        place = self.source.place(event.start_mark)
        self.problems.append(Problem(code, message, path=steps, place=place, **advice))
        if len(self.problems) >= MAX_PROBLEMS:
            raise Unreadable

    def stop(self, event: Event, code: str, message: str, hint: str | None = None) -> NoReturn:
        """Note a problem after which reading cannot go on."""
        self.report(event, code, message, hint=hint)
        raise Unreadable

    def close(self) -> None:
        """Give the parser's memory back."""
        self._parser.dispose()

    def _pull(self) -> Event:
        """The next event of the alias being repeated, or else of the text."""
        while self._replays:
            if (event := next(self._replays[-1], None)) is not None:
                self._replayed += 1
                if self._replayed > MAX_REPLAYED:
                    self.stop(event, "alias-bomb", f"aliases repeat more than {MAX_REPLAYED} values")
                return self._counted(event)
            self._replays.pop()
        try:
            event = self._parser.get_event()
        except yaml.YAMLError as error:
            self.problems.append(explain_syntax(error, self.source))
            raise Unreadable from None
        self._pulled += 1
        if self._pulled > MAX_EVENTS:
            self.stop(event, "too-many-values", f"there are more than {MAX_EVENTS} values here", FILE_HINT)
        if self._recordings or getattr(event, "anchor", None) is not None:
            self._record(event)
        return self._counted(event)

    def _counted(self, event: Event) -> Event:
        """Pass an event on, with its depth counted and its tag refused."""
        if type(event) is ScalarEvent and event.implicit[0]:
            return event
        if isinstance(event, CollectionStartEvent):
            self._depth += 1
            if self._depth > MAX_DEPTH:
                self.stop(event, "too-deep", f"lists and mappings are nested more than {MAX_DEPTH} deep")
        elif isinstance(event, CollectionEndEvent):
            self._depth -= 1
        if tag := getattr(event, "tag", None):
            tag = tag.replace("tag:yaml.org,2002:", "!!")
            self.report(event, "tag", f"the tag {tag} is not used here", hint="write the value alone")
        return event

    def _record(self, event: Event) -> None:
        """Keep what stands under an anchor, for its aliases."""
        if isinstance(event, NodeEvent) and event.anchor is not None and not isinstance(event, AliasEvent):
            # A second meaning for a name would make what an alias repeats depend on when it is followed.
            if event.anchor in self._anchors or any(event.anchor == name for _, name, _ in self._recordings):
                self.stop(event, "anchor-twice", f"the anchor &{event.anchor} is defined twice")
            self._recordings.append((self._depth, event.anchor, []))
        for _, _, events in self._recordings:
            events.append(event)
        self._anchored += len(self._recordings)
        if self._anchored > MAX_ANCHORED:
            self.stop(
                event,
                "anchored-too-much",
                f"more than {MAX_ANCHORED} values stand under anchors",
                FILE_HINT,
            )
        depth = self._depth - isinstance(event, CollectionEndEvent)
        starts = isinstance(event, CollectionStartEvent)
        while self._recordings and self._recordings[-1][0] == depth and not starts:
            _, name, events = self._recordings.pop()
            self._anchors[name] = events

    def _repeated(self, alias: AliasEvent) -> list[Event]:
        if any(alias.anchor == name for _, name, _ in self._recordings):
            self.stop(alias, "alias-recursion", f"the alias *{alias.anchor} repeats a value that contains itself")
        if alias.anchor not in self._anchors:
            self.stop(alias, "alias-unknown", f"no anchor &{alias.anchor} stands before the alias *{alias.anchor}")
        return self._anchors[alias.anchor]
