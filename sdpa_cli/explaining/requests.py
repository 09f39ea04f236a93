"""What a reader asks for, and the explanation that answers it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from sdpa_cli.cases import Case, Overrides, load_cases
from sdpa_cli.errors import InputError, Problem
from sdpa_cli.explaining.selecting import Selectors
from sdpa_cli.explaining.topics import TOPICS, explain_topic
from sdpa_cli.explaining.topics.building import TopicOptions
from sdpa_cli.explaining.trace import Trace

SUBJECTS = f"a case file, an exercise such as F1, or one of {', '.join(TOPICS)}"

_BARE_WORD = re.compile(r"[\w-]+")


@dataclass(frozen=True)
class Request:
    """A question. What is None or empty was not asked for."""

    subject: str | None = None
    """A case file, ``-`` or a topic."""
    stream: bool = False
    faults: bool = False
    fault: str | None = None
    library: str | None = None
    steps: tuple[str, ...] = ()
    document: int | None = None
    """Which case of a file that holds several, counted from 1."""
    selectors: Selectors = field(default_factory=Selectors)
    options: TopicOptions = field(default_factory=TopicOptions)
    overrides: Overrides = field(default_factory=Overrides)


def answer(request: Request) -> Trace:
    """Explain what is asked for.

    Raises
    ------
    InputError
        If the question does not make sense, or the case cannot be computed.
    """
    problems = list(_contradictions(request))
    if problems:
        raise InputError(*problems)
    # Numbers at the edge of what there is are shown as what they become; nobody needs a warning beside them.
    with np.errstate(all="ignore"):
        return _answered(request)


def refuse_options(request: Request) -> None:
    """Refuse a question about an exercise that asks for more than its statement.

    Raises
    ------
    InputError
        If anything but the subject is given.
    """
    if replace(request, subject=None) != Request():
        message = f"{request.subject} is an exercise: its statement is shown whole"
        raise InputError(Problem("contradiction", message, hint="only --lang, --format and --output change how"))


def _answered(request: Request) -> Trace:
    if request.faults:
        from sdpa_cli.explaining.comparing.faults import catalogue

        return catalogue()
    if request.fault is not None:
        from sdpa_cli.explaining.comparing.faults import explain_fault

        case = None if request.subject is None else _case(request)
        return _only(explain_fault(request.fault, case), request, case)
    if request.subject is None:
        raise InputError(Problem("no-subject", "what is to be explained?", SUBJECTS))
    if _is_topic(request.subject):
        return _only(explain_topic(request.subject, request.options), request)
    return _of_case(_case(request), request)


def _of_case(case: Case, request: Request) -> Trace:
    if request.library is not None:
        from sdpa_cli.explaining.comparing.conventions import explain_as

        return _only(explain_as(request.library, case), request, case)
    if request.stream:
        from sdpa_cli.explaining.streaming import stream

        return _only(stream(case, request.selectors), request, case)
    from sdpa_cli.explaining.derivation import derive

    return _only(derive(case, request.selectors), request, case)


def _only(trace: Trace, request: Request, case: Case | None = None) -> Trace:
    """The steps that are asked for, if any are named, and what was read for them."""
    known = list(dict.fromkeys(step.name for step in trace.steps))
    problems = [_unknown_step(name, known) for name in request.steps if name not in known]
    if problems:
        raise InputError(*problems)
    told = trace.only(request.steps) if request.steps else trace
    return told if case is None else replace(told, files=(Path(str(request.subject)), *case.files))


def _is_topic(subject: str) -> bool:
    return subject in TOPICS and not Path(subject).exists()


def _case(request: Request) -> Case:
    """The one case that is meant."""
    subject = str(request.subject)
    if subject != "-" and not Path(subject).exists() and (near := _meant_as_a_topic(subject)) is not None:
        hint = f"did you mean {near[0]}?" if near else None
        message = f"there is no file and no topic '{subject}'"
        raise InputError(Problem("no-subject", message, None if near else SUBJECTS, hint))
    cases = load_cases([subject], request.overrides)
    number = request.document or 1
    if len(cases) > 1 and request.document is None:
        message = f"{subject} holds {len(cases)} cases, and one is explained at a time"
        raise InputError(Problem("several-cases", message, hint="say which one: --document 1"))
    if number > len(cases):
        held = "1 case" if len(cases) == 1 else f"{len(cases)} cases"
        raise InputError(Problem("no-such-case", f"--document {number}: {subject} holds {held}"))
    return cases[number - 1]


def _meant_as_a_topic(subject: str) -> list[str] | None:
    """The topic that comes nearest, if any does; None for what is rather the name of a file."""
    near = get_close_matches(subject, TOPICS, n=1)
    return near if near or _BARE_WORD.fullmatch(subject) else None


def _contradictions(request: Request) -> Iterator[Problem]:
    """Options that do not go together, and options that have nothing to say here."""
    ways = {
        "--stream": request.stream,
        "--faults": request.faults,
        "--fault": request.fault is not None,
        "--as": request.library is not None,
    }
    used = [name for name, given in ways.items() if given]
    if len(used) > 1:
        yield Problem("contradiction", f"{' and '.join(used)} are different explanations", hint="ask for one at a time")
    if request.selectors.row is not None and request.selectors.cell is not None:
        yield Problem("contradiction", "--row and --cell both say which row", hint="--cell alone shows its row")
    topic = request.subject is not None and _is_topic(request.subject)
    if topic and used:
        yield Problem("contradiction", f"{used[0]} is about a case, and {request.subject} is a topic")
    about_a_case = _given(request.selectors) + _given(request.overrides) + ["--document"] * bool(request.document)
    if about_a_case and (topic or request.subject is None):
        yield Problem("contradiction", f"{', '.join(about_a_case)}: only cases have it")
    elif request.fault is not None or request.library is not None:
        chosen = _given(request.selectors)
        if chosen:
            message = f"{', '.join(chosen)}: {used[0]} looks for the first difference itself"
            yield Problem("contradiction", message)
    if request.faults and request.steps:
        yield Problem("contradiction", "--faults has no steps")
    if not topic and request.options != TopicOptions():
        yield Problem("contradiction", f"{', '.join(_given(request.options))}: only topics have it")
    if request.faults and request.subject is not None:
        yield Problem(
            "contradiction", "--faults lists the whole catalogue, whatever the case", hint="--fault NAME takes one"
        )
    if request.subject is None and request.library is not None:
        yield Problem("no-subject", "--as needs a case file")


def _given(options: Selectors | TopicOptions | Overrides) -> list[str]:
    """The options that are not left as they are, as they are typed."""
    return [
        f"--{part.name.replace('_', '-')}" for part in fields(options) if getattr(options, part.name) != part.default
    ]


def _unknown_step(name: str, known: list[str]) -> Problem:
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else None
    return Problem("no-such-step", f"there is no step '{name}' here", ", ".join(known), hint)
