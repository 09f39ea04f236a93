"""A class being graded: what is known already is taken from the gradebook, the rest goes to the workers and into it."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass, replace

from sdpa_cli.classroom.choosing import NOTEBOOK, Chosen, choose
from sdpa_cli.classroom.gradebook import Gradebook
from sdpa_cli.classroom.layouts import Delivery
from sdpa_cli.classroom.packing import Packed
from sdpa_cli.classroom.records import Record, from_text, kept
from sdpa_cli.classroom.results import Result, Standing
from sdpa_cli.classroom.seating import Seat
from sdpa_cli.classroom.similarity import fingerprint
from sdpa_cli.classroom.tasks import Task, grade_task
from sdpa_cli.classroom.workers import Workers
from sdpa_cli.errors import InputError, Problem
from sdpa_cli.grading.exercise import Exercise
from sdpa_cli.grading.notebooks import read_notebook
from sdpa_cli.grading.report import Message, Status, reason, say
from sdpa_cli.sandbox import Level

_MOST_BYTES_AHEAD = 64 << 20
_MOST_SAID = 200


@dataclass(frozen=True)
class Terms:
    """What holds for a whole run."""

    exercise: Exercise
    packed: Packed
    seed: int | None
    level: Level
    versions: str


@dataclass(frozen=True)
class Done:
    """One seat that is finished."""

    number: int
    result: Result
    fresh: bool = False
    """Whether it was graded in this run."""


@dataclass(frozen=True)
class _Pending:
    number: int
    task: Task
    result: Result
    """All but the grade."""


def grade_seats(seats: Sequence[Seat], terms: Terms, book: Gradebook, workers: Workers) -> Generator[Done, None, None]:
    """Grade everybody, in whatever order they finish.

    Parameters
    ----------
    seats
        The class.
    terms
        Exercise, seed and level.
    book
        Where grades are looked up, and written down before they are told.
    workers
        Who grades.

    Yields
    ------
    Done
        Once for every seat.
    """
    again: list[_Pending] = []
    with workers.opened() as executor:
        flow = _Flow(executor, workers.ahead)
        for number, seat in enumerate(seats):
            pending = _prepared(number, seat, terms)
            if isinstance(pending, Done):
                yield pending
            elif (record := kept(book.find(pending.task.key))) is not None:
                yield Done(number, _graded(pending, record))
            else:
                yield from _settled(flow.room_for(pending), book, again)
        yield from _settled(flow.rest(), book, again)
    yield from _alone(again, book, workers)


Settling = Iterator[tuple[_Pending, Future[str] | None]]
"""Submissions with what came of them; None where the workers had broken before."""


class _Flow:
    """Tasks on their way: as many as keep the workers busy, and no more than fit into memory."""

    def __init__(self, executor: Executor, ahead: int) -> None:
        self._executor = executor
        self._ahead = ahead
        self._under_way: dict[Future[str], _Pending] = {}
        self._bytes = 0

    def room_for(self, pending: _Pending) -> Settling:
        """Hand in one more; what had to finish before."""
        while len(self._under_way) >= self._ahead or (self._under_way and self._bytes > _MOST_BYTES_AHEAD):
            yield from self._finished()
        try:
            future = self._executor.submit(grade_task, pending.task)
        except BrokenExecutor:
            yield pending, None
        else:
            self._under_way[future] = pending
            self._bytes += pending.task.size

    def rest(self) -> Settling:
        """Whatever is still under way."""
        while self._under_way:
            yield from self._finished()

    def _finished(self) -> Settling:
        done, _ = wait(self._under_way, return_when=FIRST_COMPLETED)
        for future in done:
            pending = self._under_way.pop(future)
            self._bytes -= pending.task.size
            yield pending, future


def _settled(finished: Settling, book: Gradebook, again: list[_Pending]) -> Iterator[Done]:
    """Write down what is certain; what a busy machine may have spoiled, or the tool itself, is to be tried again."""
    for pending, future in finished:
        text = None if future is None else _text_of(future)
        if text is None:
            again.append(pending)
            continue
        record = from_text(text)
        if record.timed_out or record.report.broken:
            again.append(pending)
        else:
            book.keep(pending.task.key, pending.task.sha256, text)
            yield Done(pending.number, _graded(pending, record), fresh=True)


def _alone(again: Iterable[_Pending], book: Gradebook, workers: Workers) -> Iterator[Done]:
    """Grade one after another with nothing beside it. What comes of that, counts."""
    left = deque(again)
    while left:
        with workers.opened() as executor:
            broken = False
            while left and not broken:
                pending = left.popleft()
                future = executor.submit(grade_task, pending.task)
                text = _text_of(future)
                broken = isinstance(future.exception(), BrokenExecutor)
                yield _last_word(pending, text, future.exception(), book)


def _last_word(pending: _Pending, text: str | None, error: BaseException | None, book: Gradebook) -> Done:
    if text is None:
        failed = replace(pending.result, standing=Standing.ERROR, remarks=(*pending.result.remarks, _failure(error)))
        return Done(pending.number, failed, fresh=True)
    record = from_text(text)
    if record.report.broken:
        why = tuple(m for item in record.report.items if item.status is Status.ERROR for m in item.finding.messages)
        failed = replace(pending.result, standing=Standing.ERROR, remarks=(*pending.result.remarks, *why))
        return Done(pending.number, failed, fresh=True)
    book.keep(pending.task.key, pending.task.sha256, text)
    return Done(pending.number, _graded(pending, record), fresh=True)


def _text_of(future: Future[str]) -> str | None:
    """A worker's answer; None where it failed.

    Raises
    ------
    InputError
        When no other worker would do better.
    """
    try:
        error = future.exception()
    except CancelledError:
        message = "the workers are gone; what has been graded is kept"
        raise InputError(Problem("workers-gone", message, hint="run the same command again")) from None
    if isinstance(error, InputError):
        raise error
    return future.result() if error is None else None


def _prepared(number: int, seat: Seat, terms: Terms) -> _Pending | Done:
    """What is to be graded; or the result, where there is nothing that could be."""
    if seat.delivery is None:
        standing = Standing.ATTENTION if seat.unclear else Standing.MISSING
        return Done(number, Result(seat.student, standing, remarks=seat.remarks))
    try:
        return _read_in(number, seat, seat.delivery, terms)
    except Exception as error:  # strangers' files are taken apart there: whatever one does, the others are graded
        failed = Result(seat.student, Standing.ERROR, seat.delivery.place, remarks=(*seat.remarks, _failure(error)))
        return Done(number, failed)


def _failure(error: BaseException | None) -> Message:
    return say("seat.tool-failed", type=type(error).__name__, message=str(error)[:_MOST_SAID])


def _read_in(number: int, seat: Seat, delivery: Delivery, terms: Terms) -> _Pending | Done:
    chosen = choose(terms.exercise, delivery.entries)
    files, unreadable = tuple(sorted(chosen.files.items())), tuple(sorted(chosen.unreadable.items()))
    task = Task(terms.packed, files, unreadable, terms.seed, terms.level, terms.versions)
    said = tuple(say("seat.unreadable", problem=reason(problem)) for _, problem in unreadable)
    result = Result(
        seat.student,
        _standing(seat, chosen),
        delivery.place,
        tuple(name for name, _ in files),
        task.sha256 if files or unreadable else "",
        seat.earlier,
        delivery.label.late,
        (*seat.remarks, *chosen.remarks, *said),
        fingerprint=fingerprint(b"\n".join(_code(name, data) for name, data in files)),
    )
    return _Pending(number, task, result) if files else Done(number, result)


def _code(name: str, data: bytes) -> bytes:
    """The program in a file, if it is one; of a notebook the cells alone."""
    if name != NOTEBOOK:
        return data if name.endswith(".py") else b""
    try:
        return read_notebook(data, name).source
    except InputError:
        return b""


def _standing(seat: Seat, chosen: Chosen) -> Standing:
    if chosen.unreadable:
        return Standing.UNREADABLE
    return Standing.ATTENTION if seat.unclear or chosen.unclear else Standing.GRADED


def _graded(pending: _Pending, record: Record) -> Result:
    return replace(pending.result, record=record)
