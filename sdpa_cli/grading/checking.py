"""`sdpa check`: which exercises are graded, from where, what is kept of it, and what is to be done next."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

from sdpa_cli.errors import ExitCode, InputError, Problem
from sdpa_cli.grading.exercise import Exercise
from sdpa_cli.grading.grader import Wanted, grade
from sdpa_cli.grading.handed_in import HandedIn, Target, hand_in, is_untouched
from sdpa_cli.grading.library import exercises_for, find_exercise, names_in, unknown
from sdpa_cli.grading.report import Report
from sdpa_cli.grading.saying import Speaker, speaker
from sdpa_cli.grading.targets import target_of
from sdpa_cli.grading.workspace import Progress, Workspace, find_workspace
from sdpa_cli.languages import choose
from sdpa_cli.sandbox import Sandbox


@dataclass(frozen=True)
class Job:
    """One exercise to be graded, and what of whom."""

    exercise: Exercise
    place: Path | Target
    workspace: Workspace | None = None
    """Where results are remembered; None where something else than its files is graded."""


@dataclass(frozen=True, eq=False)
class Checked:
    """One exercise, graded."""

    report: Report
    speaker: Speaker
    is_untouched: bool
    """Whether every file is still as it was given."""
    cases: Mapping[str, str] = field(default_factory=dict)
    """Where the failing input of each check was written."""
    unloaded: Path | None = None
    """The function's file, where it cannot be loaded or should have been."""
    unkept: InputError | None = None
    """Why its progress and its failing inputs could not be written down."""


@dataclass(frozen=True)
class NextStep:
    """The one thing to do next: a command to type, or a file to open. Neither, when all is done."""

    command: str | None = None
    file: str | None = None


@dataclass(frozen=True)
class Work:
    """What one command line asks for."""

    jobs: tuple[Job, ...]
    wanted: Wanted
    language: str
    exercises: Path
    workspace: Workspace | None
    here: Path
    """What paths are shown relative to."""


@dataclass(frozen=True)
class Asked:
    """The command line's own words."""

    exercise: str | None = None
    submission: str | None = None
    only: tuple[str, ...] = ()
    exercises: Path | None = None
    language: str | None = None


@dataclass(frozen=True, eq=False)
class Session:
    """One round of grading, with what stands beneath it."""

    checked: tuple[Checked, ...]
    progress: Mapping[str, Progress]
    step: NextStep
    speaker: Speaker

    @property
    def exit_code(self) -> ExitCode:
        """The tool's own failure goes before a submission's."""
        if any(one.report.broken for one in self.checked):
            return ExitCode.INTERNAL
        return ExitCode.OK if all(one.report.complete for one in self.checked) else ExitCode.FAILED


def prepare(asked: Asked, here: Path) -> Work:
    """Find everything that a command line asks for.

    Raises
    ------
    InputError
        When it is not clear what is meant, or nothing is there.
    """
    workspace = find_workspace(here)
    exercises = exercises_for(asked.exercises, workspace)
    language = choose(asked.language or (workspace.language if workspace is not None else None))
    place = None if asked.submission is None else target_of(asked.submission) or Path(asked.submission)
    found = tuple(jobs(exercises, asked.exercise, place, workspace, here))
    known = tuple(dict.fromkeys(one.name for job in found for one in job.exercise.checks))
    if strange := [name for name in asked.only if name not in known]:
        raise InputError(*(unknown("check", name, known) for name in strange))
    return Work(found, Wanted(asked.only), language, exercises, workspace, here)


def run(work: Work, chosen: Iterable[Job], box: Sandbox) -> Session:
    """Grade some of the jobs."""
    checked = tuple(check(job, box, work.wanted, work.language, work.here) for job in chosen)
    progress = {} if work.workspace is None else progress_of(work.workspace, work.exercises)
    step = next_step(checked, progress, work.here, work.workspace)
    return Session(checked, progress, step, speaker(work.language))


def jobs(
    exercises: Path, name: str | None, place: Path | Target | None, workspace: Workspace | None, here: Path
) -> list[Job]:
    """What is to be graded.

    Parameters
    ----------
    exercises
        The folder of exercises.
    name
        Which one; None for all that the workspace has.
    place
        A submission; None for the workspace's.
    workspace
        The student's.
    here
        What paths are shown relative to.

    Raises
    ------
    InputError
        When it is not clear what is meant, or nothing is there.
    """
    if place is not None:
        assert name is not None
        if isinstance(place, Path) and not place.exists():
            raise InputError(Problem("missing-file", f"{place} does not exist"))
        return [Job(find_exercise(exercises, name), place)]
    if workspace is None:
        hint = "make one here with: sdpa init, or name the file: sdpa check F3 attention.py"
        raise InputError(Problem("no-workspace", "this folder is no workspace", hint=hint))
    names = [name] if name is not None else [one for one in names_in(exercises) if (workspace.folder / one).is_dir()]
    found = [find_exercise(exercises, one) for one in names]
    absent = [one.name for one in found if not (workspace.folder / one.name).is_dir()]
    if absent or not found:
        what = ", ".join(absent) or "any exercise"
        raise InputError(
            Problem("not-laid-out", f"the workspace has no folder for {what}", hint="write it with: sdpa init")
        )
    return [Job(one, Path(_shown(workspace.folder / one.name, here)), workspace) for one in found]


def check(job: Job, box: Sandbox, wanted: Wanted, language: str, here: Path) -> Checked:
    """Grade one exercise, and keep its failing inputs and how far it has come.

    Parameters
    ----------
    job
        The exercise and the submission.
    box
        Where its code runs.
    wanted
        Which checks.
    language
        In which language.
    here
        What paths are shown relative to.
    """
    exercise = job.exercise
    handed_in = HandedIn({}, target=job.place) if isinstance(job.place, Target) else hand_in(exercise, job.place)
    report = grade(exercise, handed_in, box, wanted)
    voice = speaker(language, exercise)
    keeper = job.workspace or find_workspace(here) or Workspace(here)
    saved, unkept = {}, None
    try:
        saved = keeper.save_cases(report, {item.check: voice.title(item.check) for item in report.items})
        if job.workspace is not None and not wanted.only:
            job.workspace.remember(report)
    except InputError as error:
        unkept = error
    shown = {check: _shown(path, here) for check, path in saved.items()}
    unloaded = handed_in.path(exercise.function.file) if exercise.function and not report.loaded else None
    return Checked(report, voice, is_untouched(exercise, handed_in), shown, unloaded, unkept)


def next_step(
    checked: Sequence[Checked], progress: Mapping[str, Progress], here: Path, workspace: Workspace | None
) -> NextStep:
    """What to do next: look at the first fault, take a hint, or begin the next exercise.

    Parameters
    ----------
    checked
        What was just graded.
    progress
        How far every exercise has come.
    here
        What paths are shown relative to.
    workspace
        The student's.
    """
    for one in checked:
        if one.unloaded is not None:
            return NextStep(file=str(one.unloaded))
        item = one.report.first_failed
        if item is None or (one.is_untouched and len(checked) > 1):
            continue
        if one.is_untouched and workspace is not None:
            return NextStep(file=_shown(workspace.folder / one.report.exercise / "README.md", here))
        named = one.report.diagnosed
        if named is not None and named.check in one.cases:
            return NextStep(command=f"sdpa explain {quote(one.cases[named.check])} --fault {named.finding.fault}")
        known = progress.get(one.report.exercise)
        if item.hints and known is not None and item.check in known.failed:
            return NextStep(command=f"sdpa hint {one.report.exercise}")
        if item.hints:
            return NextStep(command=f"sdpa hint {one.report.exercise} {item.check}")
    if workspace is None:
        return NextStep()
    waiting = (name for name, entry in progress.items() if not entry.complete)
    name = next(waiting, None)
    return NextStep() if name is None else NextStep(file=_shown(workspace.folder / name / "README.md", here))


def progress_of(workspace: Workspace, exercises: Path) -> dict[str, Progress]:
    """How far every exercise of a workspace has come; one that was never checked has no points."""
    known = workspace.progress()
    there = [name for name in names_in(exercises) if (workspace.folder / name).is_dir()]
    return {name: known.get(name, Progress(0.0, 0.0, False, ())) for name in there}


def _shown(path: Path, here: Path) -> str:
    """A path as it is to be typed."""
    relative = os.path.relpath(path, here)
    return str(path) if relative.startswith("..") and path.is_absolute() else relative
