"""Deliveries × class list → one seat for every student: what counts, what came before, and what is not clear."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sdpa_cli.classroom.layouts import Delivery
from sdpa_cli.classroom.names import Label, bare, bare_words, same
from sdpa_cli.classroom.roster import Student
from sdpa_cli.grading.report import Message, say


@dataclass(frozen=True, eq=False)
class Seat:
    """One student, and what they handed in."""

    student: Student
    delivery: Delivery | None
    """The latest; None where there is none."""
    earlier: tuple[str, ...] = ()
    """The places of those before it."""
    remarks: tuple[Message, ...] = ()
    unclear: bool = False
    """Whether a person must say whose it is, or which counts."""


def seats(deliveries: Sequence[Delivery], roster: Sequence[Student] | None) -> tuple[Seat, ...]:
    """Give everybody a seat.

    Parameters
    ----------
    deliveries
        Everything that was handed in.
    roster
        The class; None where there is no list, and those who handed in are the class.

    Returns
    -------
    tuple of Seat
        The list's students in its order, and after them whoever is not on it, by name.
    """
    found: dict[int, list[Delivery]] = defaultdict(list)
    strangers: dict[tuple[str, str | None], list[Delivery]] = defaultdict(list)
    doubts: dict[tuple[str, str | None], Message] = {}
    claims: dict[int, list[str]] = defaultdict(list)
    directory = _Directory(roster or ())
    for delivery in deliveries:
        owners = directory.owners(delivery.label)
        if len(owners) == 1:
            found[owners[0]].append(delivery)
            continue
        key = (same(delivery.label.name), delivery.label.id)
        strangers[key].append(delivery)
        if owners:
            names = ", ".join(directory.students[at].name for at in owners)
            doubts[key] = say("seat.ambiguous", names=names)
            for at in owners:
                claims[at].append(delivery.place)
        elif roster is not None:
            doubts[key] = say("seat.not-listed")
    listed = [_seat(student, found[at], *_claimed(claims[at])) for at, student in enumerate(roster or ())]
    others = [_stranger(group, doubts.get(key)) for key, group in sorted(strangers.items(), key=_by_name)]
    return (*listed, *others)


def _claimed(places: Sequence[str]) -> list[Message]:
    """What may be a student's, and may be another's: nobody of them is missing, and for none it counts."""
    return [say("seat.perhaps-theirs", places=", ".join(places))] if places else []


def _by_name(item: tuple[tuple[str, str | None], list[Delivery]]) -> tuple[str, str]:
    (name, number), _ = item
    return name, number or ""


def _stranger(group: list[Delivery], doubt: Message | None) -> Seat:
    label = group[0].label
    student = Student(label.name, (label.id,) if label.id else ())
    return _seat(student, group, *((doubt,) if doubt else ()))


def _seat(student: Student, group: Iterable[Delivery], *doubts: Message) -> Seat:
    ordered = sorted(group, key=lambda delivery: (delivery.version, delivery.place))
    if not ordered:
        return Seat(student, None, (), doubts, bool(doubts))
    latest = ordered[-1]
    remarks = list(doubts)
    rivals = [delivery for delivery in ordered[:-1] if delivery.version == latest.version]
    if rivals:
        remarks.append(say("seat.two-latest", places=", ".join(one.place for one in (*rivals, latest))))
    if latest.label.late:
        remarks.append(say("seat.late"))
    return Seat(student, latest, tuple(d.place for d in ordered[:-1]), tuple(remarks), bool(doubts or rivals))


class _Directory:
    """Students by everything they may be called, the surest first."""

    def __init__(self, students: Sequence[Student]) -> None:
        self.students = students
        self._indices = [
            (_ids, self._index(lambda student: student.ids)),
            (_exactly, self._index(lambda student: (student.name,))),
            (_by_words, self._index(lambda student: (bare_words(student.name),))),
            (_joined, self._index(_joined_names)),
        ]

    def owners(self, label: Label) -> list[int]:
        """Who is meant: one, several who could be, or nobody."""
        matches = [
            {at for key in keys_of(label) for at in index.get(same(key), ())} for keys_of, index in self._indices
        ]
        found = next(filter(None, matches), set[int]())
        # A number may come from another list than this one's: where the whole name is somebody else's, it is not clear.
        by_name = next(filter(None, matches[1:]), found)
        return sorted(found if found & by_name else found | by_name)

    def _index(self, keys_of: Callable[[Student], Iterable[str]]) -> dict[str, list[int]]:
        index: dict[str, list[int]] = defaultdict(list)
        for at, student in enumerate(self.students):
            for key in {same(key) for key in keys_of(student)}:
                index[key].append(at)
        return index


def _ids(label: Label) -> Iterator[str]:
    if label.id:
        yield label.id
    yield label.name


def _exactly(label: Label) -> tuple[str, ...]:
    return (label.name,)


def _by_words(label: Label) -> tuple[str, ...]:
    return (bare_words(label.name),)


def _joined(label: Label) -> tuple[str, ...]:
    return (bare(label.name),)


def _joined_names(student: Student) -> Iterator[str]:
    """First name first and last name first, written together; and the name part of an address."""
    last, comma, first = student.name.partition(",")
    words = f"{first} {last}".split() if comma else student.name.split()
    yield bare("".join(words))
    yield bare("".join([*words[1:], *words[:1]]))
    yield bare("".join([*words[-1:], *words[:-1]]))
    yield from (bare(address.partition("@")[0]) for address in student.ids if "@" in address)
