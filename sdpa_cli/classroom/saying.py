"""Who speaks about a class: grading's own words, the exercise's, and those about submissions and standings."""

from __future__ import annotations

from sdpa_cli.classroom.results import Result, Standing
from sdpa_cli.grading.exercise import Exercise
from sdpa_cli.grading.report import FeedbackItem, Status
from sdpa_cli.grading.saying import PACKAGE as GRADING
from sdpa_cli.grading.saying import Speaker
from sdpa_cli.languages import Texts, load

PACKAGE = "sdpa_cli.classroom"


def class_speaker(language: str, exercise: Exercise) -> Speaker:
    """Says what there is to say about a class's work on an exercise, in one language."""
    entries = {**load(GRADING, language).entries, **load(PACKAGE, language).entries}
    return Speaker(Texts(language, entries), exercise.texts(language))


def heading(speaker: Speaker, exercise: Exercise) -> str:
    """What an exercise is called."""
    return f"{exercise.name} {speaker('title')}" if "title" in (speaker.exercise or ()) else exercise.name


def standing_words(standing: Standing, speaker: Speaker, count: int = 1) -> str:
    """How it stands with so many, in words; the only verb among them is that of `Standing.ATTENTION`."""
    many = "-many" if standing is Standing.ATTENTION and count != 1 else ""
    return speaker(f"standing.{standing.name.lower()}{many}")


def told(item: FeedbackItem, speaker: Speaker) -> list[str]:
    """Everything that a check has to say, line by line. It may hold what a student wrote."""
    lines = [speaker.say(message) for message in item.finding.messages]
    if item.finding.stage is not None and item.status is Status.FAILED:
        lines.append(speaker("stage.first", stage=speaker(f"stage.{item.finding.stage}")))
        if item.finding.fault is not None:
            lines.append(speaker("view.fault", fault=item.finding.fault))
    return [part for line in lines for part in line.split("\n")]


def remarks_of(result: Result, speaker: Speaker) -> list[str]:
    """What a person should know about a submission."""
    return [speaker.say(remark).replace("\n", " ") for remark in result.remarks]


def reasons_to_look(result: Result, speaker: Speaker) -> list[str]:
    """Why a person has to look at a submission."""
    open_points = [speaker("feedback.open-points", points=result.reader_points)] if result.reader_points else []
    return [standing_words(result.standing, speaker), *remarks_of(result, speaker), *open_points]


def notes_of(result: Result, speaker: Speaker) -> list[str]:
    """The same, and which submissions came before it."""
    earlier = [speaker("feedback.earlier", places=", ".join(result.earlier))] if result.earlier else []
    return [*remarks_of(result, speaker), *earlier]


def points_of(item: FeedbackItem, speaker: Speaker) -> str:
    """A check's points: ``2/3``, ``+1``, or nothing where there are none."""
    if item.bonus:
        return f"+{speaker.number(item.earned)}"
    if not item.possible:
        return ""
    earned = speaker("view.open") if item.status is Status.OPEN else speaker.number(item.earned)
    return f"{earned}/{speaker.number(item.possible)}"
