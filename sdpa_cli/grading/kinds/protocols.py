"""An experiment designed and not run: what a machine can hold a protocol to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations
from typing import Any

from sdpa_cli.cases.groups import Field, Group
from sdpa_cli.cases.kinds import Integer, Kind, ListOf, Text
from sdpa_cli.cases.yaml_files import FreeMapping
from sdpa_cli.grading.attempt import Attempt
from sdpa_cli.grading.fields import Pick
from sdpa_cli.grading.kinds.written import unanswered
from sdpa_cli.grading.report import Finding, Message, failed, passed, say

Values = Mapping[str, Any]
FEWEST_WORDS = 3
ALIKE = 0.85
"""Of two texts, from here on they say the same in hardly other words."""

_RANGE = ListOf(Integer(1), "[1, 4000]")
_ARM = Group(
    (
        Field("name", Text(), "What the arm is called."),
        Field("settings", FreeMapping(Text(), "{scale: 1, layers: 1}"), "Every setting of the arm, by name."),
        Field("seeds", ListOf(Integer(0), "[1, 2, 3]"), "One seed per repetition."),
    ),
    "{name: scaled, settings: {scale: 1}, seeds: [1, 2]}",
)
FIELDS: Mapping[str, Kind] = {
    "goal": Text(),
    "hypothesis": Text(),
    "task": Text(),
    "split": Group(
        (Field("train", _RANGE, "First and last example."), Field("valid", _RANGE, "First and last example.")),
        "{train: [1, 4000], valid: [4001, 5000]}",
    ),
    "factor": Text(),
    "baseline": Group((Field("arm", Text(), "Which arm."), Field("reason", Text(), "Why that one.")), "{arm: scaled}"),
    "arms": ListOf(_ARM, f"[{_ARM.example}]"),
    "metric": Group(
        (
            Field("name", Text(), "What is measured, and when."),
            Field("data", Pick(("train", "valid")), "On which part."),
            Field("decided", Pick(("before", "after")), "Before or after the results are known."),
        ),
        "{name: loss, data: valid, decided: before}",
    ),
    "resource_limit": Text(),
    "validity_limits": ListOf(Text(), "[one, another]"),
    "results": Text(),
}
OPTIONAL = frozenset({"results"})


@dataclass(frozen=True)
class ProtocolRule:
    """A protocol must satisfy a demand."""

    file: str
    demand: str

    def questions(self) -> Mapping[str, Kind]:
        """The whole protocol."""
        return FIELDS

    def judge(self, attempt: Attempt) -> Finding:
        """Hold the protocol against it."""
        demand = DEMANDS[self.demand]
        answers = attempt.answers(self.file)
        for key in demand.reads:
            asked = key not in OPTIONAL or answers.missing or answers.problem(key) is not None
            if asked and (finding := unanswered(attempt, self.file, key)) is not None:
                return finding
        objection = demand.objection(answers.values)
        return passed() if objection is None else failed(objection)


@dataclass(frozen=True)
class _Demand:
    reads: tuple[str, ...]
    objection: Callable[[Values], Message | None]


def _complete(values: Values) -> Message | None:
    short = [key for key in ("goal", "hypothesis", "task", "resource_limit") if _words(values[key]) < FEWEST_WORDS]
    short += [] if _words(values["baseline"].get("reason", "")) >= FEWEST_WORDS else ["baseline.reason"]
    short += [] if values["metric"].get("name") else ["metric.name"]
    return say("protocol.too-short", keys=", ".join(short), least=FEWEST_WORDS) if short else None


def _one_factor(values: Values) -> Message | None:
    arms, factor = values["arms"], values["factor"]
    if len(arms) < 2 or any(not {"name", "settings"} <= arm.keys() for arm in arms):
        return say("protocol.arms", found=len(arms))
    names = sorted({name for arm in arms for name in arm["settings"]})
    varying = [name for name in names if len({_plain(arm["settings"].get(name, "")) for arm in arms}) > 1]
    if varying != [factor]:
        return say("protocol.varying", factor=factor, varying=", ".join(varying) or "–")
    arm = values["baseline"].get("arm", "")
    known = [arm["name"] for arm in arms]
    return None if arm in known else say("protocol.baseline", arm=arm, known=", ".join(known))


def _repetitions(values: Values) -> Message | None:
    seeds = [tuple(arm.get("seeds", ())) for arm in values["arms"]]
    if any(sorted(one) != sorted(seeds[0]) for one in seeds):
        return say("protocol.seeds-differ")
    fewest = min((len(set(one)) for one in seeds), default=0)
    return None if fewest >= 2 else say("protocol.repetitions", found=fewest)


def _split(values: Values) -> Message | None:
    ranges = [values["split"].get(name, ()) for name in ("train", "valid")]
    if any(len(one) != 2 or one[0] > one[1] for one in ranges):
        return say("protocol.ranges")
    (train_first, train_last), (valid_first, valid_last) = ranges
    first, last = max(train_first, valid_first), min(train_last, valid_last)
    return say("protocol.overlap", first=first, last=last) if first <= last else None


def _metric(values: Values) -> Message | None:
    metric = values["metric"]
    if metric.get("decided") != "before":
        return say("protocol.metric-after")
    return None if metric.get("data") else say("protocol.metric-data")


def _limits(values: Values) -> Message | None:
    limits = [_plain(text) for text in values["validity_limits"]]
    if len(limits) < 2 or any(_words(text) < FEWEST_WORDS for text in limits):
        return say("protocol.limits", least=FEWEST_WORDS)
    alike = any(SequenceMatcher(None, one, two).ratio() > ALIKE for one, two in combinations(limits, 2))
    return say("protocol.limits-alike") if alike else None


def _nothing_run(values: Values) -> Message | None:
    return None if _plain(values.get("results", "none")) == "none" else say("protocol.results")


DEMANDS: Mapping[str, _Demand] = {
    "complete": _Demand(tuple(key for key in FIELDS if key not in OPTIONAL), _complete),
    "one-factor": _Demand(("arms", "factor", "baseline"), _one_factor),
    "repetitions": _Demand(("arms",), _repetitions),
    "split": _Demand(("split",), _split),
    "metric": _Demand(("metric",), _metric),
    "limits": _Demand(("validity_limits",), _limits),
    "nothing-run": _Demand(("results",), _nothing_run),
}


def _words(text: str) -> int:
    return len(text.split())


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
