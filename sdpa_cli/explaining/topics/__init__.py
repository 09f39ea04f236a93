"""Topics: what the course teaches around attention, each on small numbers that are computed when they are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from importlib import import_module
from typing import cast

from sdpa_cli.errors import InputError, Problem
from sdpa_cli.explaining.topics.building import TopicOptions
from sdpa_cli.explaining.trace import Step, Trace, words

TOPICS = {
    "shapes": ("shapes", "shapes"),
    "scaling": ("scaling", "scaling"),
    "softmax": ("softmax", "softmax"),
    "masks": ("masks", "masks"),
    "streaming": ("streaming", "streaming"),
    "cost": ("cost", "costs"),
    "heads": ("heads", "heads"),
    "positions": ("positions", "positions"),
    "kv-cache": ("kv_cache", "kv_cache"),
    "family": ("family", "family"),
    "long-context": ("long_context", "long_context"),
    "weights-are-not-explanations": ("not_explanations", "not_explanations"),
}
"""For each topic its module and the function there; only the one asked for is imported."""
OPTIONS = {
    "shapes": ("seed",),
    "scaling": ("d", "seed"),
    "streaming": ("tokens", "seed"),
    "cost": ("tokens", "d", "heads"),
    "heads": ("tokens", "d", "heads"),
    "positions": ("tokens", "d", "heads", "seed"),
    "kv-cache": ("tokens", "d", "seed"),
    "family": ("seed",),
    "long-context": ("tokens",),
}
"""What a reader may vary in each topic that has something to vary."""
COMPUTED = ("scaling", "streaming", "positions", "kv-cache")
"""Topics that compute with as many numbers as they are asked for; the others only count them."""
LARGEST = 512
"""The largest number that a topic computes with."""


def explain_topic(name: str, options: TopicOptions | None = None) -> Trace:
    """Explain a topic.

    Parameters
    ----------
    name
        A key of `TOPICS`.
    options
        What the reader varies.

    Raises
    ------
    InputError
        If the topic has no such option, or would compute with too large a number.
    """
    problems = list(_problems(name, options or TopicOptions()))
    if problems:
        raise InputError(*problems)
    module, function = TOPICS[name]
    build = cast(
        Callable[[TopicOptions], tuple[Step, ...]],
        getattr(import_module(f"sdpa_cli.explaining.topics.{module}"), function),
    )
    return Trace("topic", name, words(f"topic.{name}.title"), build(options or TopicOptions()))


def _problems(name: str, options: TopicOptions) -> Iterator[Problem]:
    """Options that a topic would not hear, and numbers it would compute with for too long."""
    known = OPTIONS.get(name, ())
    expected = ", ".join(f"--{option}" for option in known) or "a topic without options"
    for part in fields(options):
        value = getattr(options, part.name)
        if value == part.default:
            continue
        if part.name not in known:
            yield Problem("no-such-option", f"--{part.name}: {name} has nothing of it to vary", expected)
        elif name in COMPUTED and part.name != "seed" and value > LARGEST:
            yield Problem("too-large", f"--{part.name} {value}: {name} computes with it", f"up to {LARGEST}")
