"""From an export's files to deliveries: which of them belong together, and what their place says of their owner."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from sdpa_cli.classroom.entries import Entry
from sdpa_cli.classroom.names import Label, canvas_label, moodle_label, plain_label, same, version_of


@dataclass(frozen=True, eq=False)
class Delivery:
    """What one person handed in at one time."""

    label: Label
    place: str
    """The folder or file in the export."""
    entries: tuple[Entry, ...]
    version: int = 1
    """Which upload it is, where the export counts them."""


Sorting = Callable[[Sequence[Entry], str, Iterable[str]], tuple[Delivery, ...]]
"""From all files, their root's name and what an exercise wants to the deliveries."""


def one_delivery(entries: Sequence[Entry], root: str, _: Iterable[str]) -> tuple[Delivery, ...]:
    """Everything as one submission, however many files and folders it has: for those who grade one at a time."""
    return (Delivery(plain_label(root), root, tuple(entries)),)


def deliveries_in(entries: Sequence[Entry], root: str, files: Iterable[str]) -> tuple[Delivery, ...]:
    """Sort the files of an export.

    Parameters
    ----------
    entries
        All of them.
    root
        What the export itself is called: the owner's name where it holds one submission.
    files
        What an exercise wants to be handed in.

    Returns
    -------
    tuple of Delivery
        In alphabetical order of their places.
    """
    entries = _unwrapped(entries)
    tops = {entry.path[0] for entry in entries}
    if any(moodle_label(top) for top in tops):
        found = _grouped(entries, moodle_label)
    elif 2 * sum(canvas_label(top) is not None for top in tops) > len(tops):
        found = _grouped(entries, canvas_label)
    elif any(len(entry.path) == 1 and entry.name in set(files) for entry in entries):
        found = [Delivery(plain_label(root), root, tuple(entries))]
    else:
        found = _by_name(entries)
    return tuple(sorted(found, key=lambda delivery: delivery.place))


def _unwrapped(entries: Sequence[Entry]) -> Sequence[Entry]:
    """Without the one folder around an export, if that is what it is."""
    tops = {entry.path[0] for entry in entries}
    if len(tops) != 1 or moodle_label(next(iter(tops))) or any(len(entry.path) < 2 for entry in entries):
        return entries
    inside = {entry.path[1] for entry in entries}
    exported = any(moodle_label(name) or canvas_label(name) for name in inside)
    return [entry.below(1) for entry in entries] if exported else entries


def _grouped(entries: Iterable[Entry], read: Callable[[str], Label | None]) -> list[Delivery]:
    """By the numbers that an LMS puts into names; what has none is a delivery of its own, for a person to look at."""
    groups: dict[tuple[str, str | None], list[tuple[str, Entry]]] = defaultdict(list)
    labels: dict[tuple[str, str | None], Label] = {}
    for entry in entries:
        label = read(entry.path[0])
        if label is None:
            label = plain_label(PurePosixPath(entry.path[0]).stem)
            own = entry
        else:
            own = _own(entry, label)
        key = (same(label.name), label.id)
        known = labels.setdefault(key, replace(label, rest=""))
        labels[key] = replace(known, late=known.late or label.late)
        groups[key].append((entry.path[0], own))
    return [
        Delivery(labels[key], min(top for top, _ in group), tuple(entry for _, entry in group))
        for key, group in groups.items()
    ]


def _own(entry: Entry, label: Label) -> Entry:
    """The file under its owner's folder, or under its own name where the export has put the owner's before it."""
    return entry.below(1) if len(entry.path) > 1 else Entry((label.rest or entry.name,), entry.read)


def _by_name(entries: Iterable[Entry]) -> list[Delivery]:
    """A folder, or a file, for each."""
    groups: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        groups[entry.path[0]].append(entry)
    folders = {top for top, group in groups.items() if any(len(entry.path) > 1 for entry in group)}
    stems = {top: top if top in folders else PurePosixPath(top).stem for top in groups}
    known = {same(stem) for stem in stems.values()}
    found = []
    for top, group in groups.items():
        stem, version = version_of(stems[top])
        if same(stem) not in known:
            stem, version = stems[top], 1  # group-2 is a name where there is no group
        found.append(
            Delivery(plain_label(stem), top, tuple(e.below(1) if top in folders else e for e in group), version)
        )
    return found
