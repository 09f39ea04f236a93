"""`sdpa check`: grading one exercise after another, what is kept of it, and what is to be done next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

from sdpa_cli.errors import ExitCode, InputError
from sdpa_cli.grading.grader import Wanted, grade
from sdpa_cli.grading.handed_in import HandedIn, Target, hand_in, is_untouched
from sdpa_cli.grading.jobs import Job, Work, shown
from sdpa_cli.grading.library import names_in
from sdpa_cli.grading.report import Report
from sdpa_cli.grading.saying import Speaker, speaker
from sdpa_cli.grading.workspace import Progress, Workspace, find_workspace
from sdpa_cli.sandbox import Sandbox


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
    is_part: bool = False
    """Whether only some of the checks of a workspace's exercise were tried."""
    left_out: tuple[str, ...] = ()
    """Files of the exercise that are not asked for, since a function alone is graded."""


@dataclass(frozen=True)
class NextStep:
    """The one thing to do next: a command to type, or a file to open. Neither, when all is done."""

    command: str | None = None
    file: str | None = None


@dataclass(frozen=True, eq=False)
class Session:
    """One round of grading, with what stands beneath it."""

    checked: tuple[Checked, ...]
    progress: Mapping[str, Progress]
    step: NextStep
    speaker: Speaker
    litter: str | None = None
    """The folder of failing inputs, where that is not in a workspace."""

    @property
    def exit_code(self) -> ExitCode:
        """The tool's own failure goes before a submission's."""
        if any(one.report.broken for one in self.checked):
            return ExitCode.INTERNAL
        return ExitCode.OK if all(one.report.complete for one in self.checked) else ExitCode.FAILED


def run(work: Work, chosen: Iterable[Job], box: Sandbox) -> Session:
    """Grade some of the jobs."""
    checked = tuple(check(job, box, work.wanted, work.language, work.here) for job in chosen)
    progress = {} if work.workspace is None else progress_of(work.workspace, work.exercises)
    step = next_step(checked, progress, work.here, work.workspace)
    written = work.workspace is None and any(one.cases for one in checked)
    litter = shown(Workspace(work.here).state, work.here) if written else None
    return Session(checked, progress, step, speaker(work.language), litter)


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
    function = exercise.function
    return Checked(
        report,
        voice,
        is_untouched(exercise, handed_in),
        {check: shown(path, here) for check, path in saved.items()},
        handed_in.path(function.file) if function and not report.loaded else None,
        unkept,
        is_part=bool(wanted.only) and job.workspace is not None,
        left_out=() if wanted.only else job.left_out,
    )


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
        if one.unloaded is not None and (step := _for_unloaded(one.unloaded, here, workspace)) is not None:
            return step
        item = one.report.first_failed
        if item is None or (one.is_untouched and len(checked) > 1):
            continue
        if one.is_untouched and workspace is not None:
            return NextStep(file=shown(workspace.folder / one.report.exercise / "README.md", here))
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
    waiting = [name for name, entry in progress.items() if not entry.complete]
    parts = [one.report.exercise for one in checked if one.is_part and one.report.exercise in waiting]
    name = next(iter(parts + waiting), None)
    if name is None:
        return NextStep()
    whole = {one.report.exercise for one in checked if not one.is_part}
    if name in parts or (progress[name].points and name not in whole):
        return NextStep(command=f"sdpa check {name}")  # it was begun, and how it stands now is not known
    return NextStep(file=shown(workspace.folder / name / "README.md", here))


def _for_unloaded(file: Path, here: Path, workspace: Workspace | None) -> NextStep | None:
    """To open a file that cannot be loaded, or have one that is missing from a workspace laid out anew."""
    if file.exists():
        return NextStep(file=str(file))
    if workspace is None or not file.resolve().is_relative_to(workspace.folder):
        return None
    where = shown(workspace.folder, here)
    return NextStep(command="sdpa init" if where == "." else f"sdpa init {quote(where)}")


def progress_of(workspace: Workspace, exercises: Path) -> dict[str, Progress]:
    """How far every exercise of a workspace has come; one that was never checked has no points."""
    known = workspace.progress()
    there = [name for name in names_in(exercises) if (workspace.folder / name).is_dir()]
    return {name: known.get(name, Progress(0.0, 0.0, False, ())) for name in there}
