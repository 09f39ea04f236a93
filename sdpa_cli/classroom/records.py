"""A report as canonical text and back: what a gradebook keeps and a cluster sends, in no language yet."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

import numpy as np

from sdpa_cli.grading.report import FeedbackItem, Finding, Message, Report, Status

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{4,}\b")
"""Where an object lay in memory: it differs from run to run, and tells nothing."""


@dataclass(frozen=True, eq=False)
class Record:
    """What is kept of a graded submission."""

    report: Report
    cases: Mapping[str, str]
    """By check, which of the exercise's cases failed."""

    @property
    def timed_out(self) -> bool:
        """Whether time ran out somewhere. A busy machine can be the reason."""
        return any(m.key == "call.timeout" for item in self.report.items for m in messages_of(item))


def to_text(report: Report) -> str:
    """A report as canonical JSON: the same report, the same bytes.

    Hidden checks keep their result and what kind of thing went wrong. Their cases and values are left out, and so is
    whatever the submission said about them.
    """
    items = [_item(_discreet(item)) for item in report.items]
    printed = _steady(report.printed)
    content = {"exercise": report.exercise, "sandbox": report.sandbox, "printed": printed, "items": items}
    return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def from_text(text: str) -> Record:
    """The record in a canonical text."""
    content = json.loads(text)
    items = tuple(_feedback(entry) for entry in content["items"])
    cases = {entry["check"]: entry["case"] for entry in content["items"] if entry["case"]}
    return Record(Report(content["exercise"], items, content["sandbox"], content["printed"]), cases)


def kept(text: str | None) -> Record | None:
    """The record in a text that a gradebook has; None where it has none, or one that was damaged."""
    try:
        return None if text is None else from_text(text)
    except (ValueError, TypeError, LookupError, AttributeError):
        return None


def messages_of(item: FeedbackItem) -> Iterator[Message]:
    """All of an item's messages, those within others too."""
    yield from _nested(item.finding.messages)


def _nested(messages: tuple[Any, ...]) -> Iterator[Message]:
    for message in messages:
        if isinstance(message, Message):
            yield message
            yield from _nested(tuple(message.values.values()))


def _discreet(item: FeedbackItem) -> FeedbackItem:
    """A hidden item without anything that tells of its cases, or that the submission could have put there."""
    if item.visibility != "hidden" or item.status in (Status.OPEN, Status.SKIPPED, Status.ERROR):
        return item
    kinds = [Message(f"hidden.{_category(message)}") for message in item.finding.messages[:1]]
    finding = replace(item.finding, messages=tuple(kinds), part=None, difference=None, stage=None, case=None)
    return replace(item, finding=finding)


def _category(message: Message) -> str:
    topic, _, kind = message.key.partition(".")
    if topic == "call":
        return "raised" if kind.startswith("raised") else "stopped"
    return "shape" if topic == "return" else "differs"


def _item(item: FeedbackItem) -> dict[str, Any]:
    finding = item.finding
    return {
        "check": item.check,
        "status": str(finding.status),
        "share": float(finding.share),
        "messages": [_written(message) for message in finding.messages],
        "part": finding.part,
        "stage": finding.stage,
        "fault": finding.fault,
        "case": PurePath(finding.case.source.name).stem if finding.case is not None else None,
        "possible": float(item.possible),
        "bonus": float(item.bonus),
        "visibility": item.visibility,
        "hints": item.hints,
    }


def _feedback(entry: dict[str, Any]) -> FeedbackItem:
    finding = Finding(
        Status(entry["status"]),
        entry["share"],
        tuple(_read(message) for message in entry["messages"]),
        part=entry["part"],
        stage=entry["stage"],
        fault=entry["fault"],
    )
    return FeedbackItem(entry["check"], finding, entry["possible"], entry["bonus"], entry["visibility"], entry["hints"])


def _written(value: Any) -> Any:
    if isinstance(value, Message):
        return {"say": value.key, "with": {name: _written(one) for name, one in value.values.items()}}
    if isinstance(value, tuple | list):
        return {"tuple": [_written(one) for one in value]}
    if isinstance(value, str):
        return _steady(value)
    if isinstance(value, np.generic):
        return _written(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    return value


def _read(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "say" in value:
        return Message(value["say"], {name: _read(one) for name, one in value["with"].items()})
    if "tuple" in value:
        return tuple(_read(one) for one in value["tuple"])
    return float(value["float"])


def _steady(text: str) -> str:
    """Text that a submission can have written, without what changes from run to run; it is Unicode, whatever it was."""
    return _ADDRESS.sub("0x…", text).encode("utf-8", "replace").decode("utf-8")
