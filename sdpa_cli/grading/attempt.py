"""One submission being graded: its function called in the sandbox, its tests run there, its answers read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sdpa_cli.cases import Case
from sdpa_cli.errors import Problem
from sdpa_cli.grading.answers import Answers, read_answers
from sdpa_cli.grading.cells import LeftOut, mended
from sdpa_cli.grading.exercise import Exercise, Function
from sdpa_cli.grading.handed_in import HandedIn
from sdpa_cli.grading.quantities import arguments
from sdpa_cli.grading.targets import shim
from sdpa_cli.sandbox import Kind, Limits, Outcome, Sandbox

if TYPE_CHECKING:
    from sdpa_cli.sandbox.submission import Submission

# Ends of a process after which the next call needs a new one.
FATAL = frozenset({Kind.EXITED, Kind.CRASHED, Kind.TIMEOUT, Kind.FLOODED, Kind.TOO_BIG, Kind.GARBLED})
MOST_FATAL = 2
"""After so many of them nothing more is asked: a whole run must stay bearable."""
REPLY_BYTES = 8 << 20
"""What one call may return: a thousand queries' weights. All outcomes are kept until the last check."""


@dataclass(frozen=True, eq=False)
class Call:
    """One call of the submission's function, and what came of it."""

    case: Case
    outcome: Outcome
    must_raise: bool = False
    """Whether the right function refuses this case."""


@dataclass(frozen=True)
class TestRun:
    """What a submission's own tests said about one function."""

    __test__ = False

    load: Outcome
    outcomes: Mapping[str, Outcome]


class Attempt:
    """A submission in front of the checks.

    Parameters
    ----------
    exercise
        Whose checks.
    handed_in
        The submission.
    box
        Where its code runs.
    seed
        Of the hidden cases; None where they are not to be used.
    hurried
        Whether the first timeout is the last call: who grades again what timed out need not wait for it twice.
    """

    def __init__(
        self, exercise: Exercise, handed_in: HandedIn, box: Sandbox, seed: int | None = None, *, hurried: bool = False
    ) -> None:
        self.exercise = exercise
        self.handed_in = handed_in
        self.seed = seed
        self.printed: list[str] = []
        self.calls: list[Call] = []
        """Calls whose numbers are compared with the right ones: the evidence for a diagnosis."""
        self.left_out: tuple[LeftOut, ...] = ()
        """Cells of the function's notebook that stop it, and without which it is graded."""
        self._box = box
        self._hurried = hurried
        self._limits = Limits(
            call_seconds=exercise.seconds, submission_seconds=12 * exercise.seconds, reply_bytes=REPLY_BYTES
        )
        self._running: Submission | None = None
        self._fatal = 0
        self._has_seen_hidden = False
        self._known: dict[int, tuple[Case, Outcome]] = {}
        self._answers: dict[str, Answers] = {}

    @property
    def function(self) -> Function:
        """The function that the exercise is about."""
        assert self.exercise.function is not None
        return self.exercise.function

    @property
    def called(self) -> str:
        """The name of what is called: of a module's function, that function's own."""
        target = self.handed_in.target
        return target.function if target else self.function.name

    def load(self) -> Outcome:
        """What came of loading the function's file; it must be there."""
        return self._open().load

    def call(self, case: Case) -> Outcome:
        """Call the function for a case; the same case is called once."""
        if id(case) not in self._known:
            self._known[id(case)] = (case, self._call(case))
        return self._known[id(case)][1]

    def call_again(self, case: Case) -> Outcome:
        """Call the function for a case that was called before."""
        return self._call(case)

    def observe(self, case: Case, *, must_raise: bool = False) -> Outcome:
        """Call the function for a case, and keep what came of it as evidence, unless it may tell of hidden cases."""
        outcome = self.call(case)
        if not self._has_seen_hidden:
            self.calls.append(Call(case, outcome, must_raise))
        return outcome

    def run_tests(self, file: str, attention: Callable[..., object]) -> TestRun:
        """Run the tests of a file against a function of this process."""
        with self._tests(file, attention) as running:
            outcomes = running.run_tests() if running.load.kind is Kind.RETURNED else {}
        return TestRun(running.load, outcomes)

    def tests_accept(self, file: str, attention: Callable[..., object]) -> bool:
        """Whether all tests of a file pass against a function of this process; the first that fails settles it."""
        with self._tests(file, attention) as running:
            return running.load.kind is Kind.RETURNED and all(
                running.call(name).kind is Kind.RETURNED for name in running.tests()
            )

    def answers(self, file: str) -> Answers:
        """What a file of answers says."""
        if file not in self._answers:
            self._answers[file] = read_answers(self.exercise, self.handed_in, file)
        return self._answers[file]

    def problem(self, file: str) -> Problem | None:
        """Why a file that was handed in cannot be read."""
        return self.handed_in.unreadable.get(file)

    def show_hidden(self) -> None:
        """From here on it may know hidden cases: nothing that it prints is kept, and no number of it is evidence."""
        self._has_seen_hidden = True

    def forget_hidden(self) -> None:
        """Whatever is asked from here on is asked in a new process, which knows of no hidden case."""
        if self._has_seen_hidden:
            self.close()
            self._running = None
            self._has_seen_hidden = False

    def close(self) -> None:
        """End the submission's process."""
        if self._running is not None:
            self._running.close()

    def _call(self, case: Case) -> Outcome:
        outcome = self._ask(case)
        if outcome.kind is Kind.TIMEOUT and self._hurried:
            self._fatal = MOST_FATAL
        elif outcome.kind is Kind.TIMEOUT and self._fatal == 1:
            outcome = self._ask(case)  # a busy machine can look like an endless loop, once
        return outcome

    def _ask(self, case: Case) -> Outcome:
        if self._fatal >= MOST_FATAL:
            return Outcome(Kind.GONE)
        running = self._open()
        if running.load.kind is not Kind.RETURNED:
            return replace(running.load, kind=Kind.GONE)
        positional, named = arguments(case, self.function.arguments, self.function.options)
        outcome = running.call(self.called, positional, named)
        self._keep(outcome)
        if outcome.kind in FATAL:
            self._fatal += 1
            self.close()
            self._running = None
        return outcome

    def _open(self) -> Submission:
        if self._running is None:
            self._running = self._box.open(self._loaded_files(), limits=self._limits)
            if self._mend(self._running.load):
                self._running.close()
                self._running = self._box.open(self._loaded_files(), limits=self._limits)
            self._keep(self._running.load)
        return self._running

    def _mend(self, load: Outcome) -> bool:
        """Leave out what stops the function's notebook; whether anything of it was left out."""
        notebook = self.handed_in.notebooks.get(self.function.file)
        if notebook is None or load.kind is Kind.RETURNED:
            return False
        found = mended(notebook, load, self._loaded, self.function.name)
        if found is None:
            return False
        self.left_out = found.left_out
        lighter = dict.fromkeys(self.handed_in.notebooks, found.notebook.source)
        self.handed_in = replace(self.handed_in, files={**self.handed_in.files, **lighter})
        return True

    def _loaded(self, source: bytes) -> Outcome:
        """What comes of loading the function's file, were this its source."""
        with self._box.open(self._loaded_files() | {self.function.file: source}, limits=self._limits) as running:
            return running.load

    def _loaded_files(self) -> dict[str, bytes]:
        target = self.handed_in.target
        return {self.function.file: shim(target)} if target else self._python_files()

    def _tests(self, file: str, attention: Callable[..., object]) -> Submission:
        """A file of tests, opened anew: what one function taught them they cannot use against another."""
        function = self.function
        files = {file: self.handed_in.files[file]} | self._neighbours(file)
        provide = {f"{module}.{function.name}": attention for module in {function.module, file.removesuffix(".py")}}
        running = self._box.open(files, limits=self._limits, provide=provide)
        self._keep(running.load)
        return running

    def _python_files(self) -> dict[str, bytes]:
        """The function's file first, then whatever it may import."""
        first = self.function.file
        others = {name: data for name, data in self.handed_in.files.items() if name.endswith(".py") and name != first}
        return {first: self.handed_in.files[first], **others}

    def _neighbours(self, file: str) -> dict[str, bytes]:
        """What a test file may import; not the function's file where that does not load."""
        others = {name: data for name, data in self.handed_in.files.items() if name.endswith(".py") and name != file}
        if self.function.file in others and self.load().kind is not Kind.RETURNED:
            del others[self.function.file]
        return others

    def _keep(self, outcome: Outcome) -> None:
        if outcome.printed and not self._has_seen_hidden:
            self.printed.append(outcome.printed)
