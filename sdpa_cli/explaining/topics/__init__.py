"""Topics: what the course teaches around attention, each on small numbers that are computed when they are shown."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

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


def explain_topic(name: str, options: TopicOptions | None = None) -> Trace:
    """Explain a topic.

    Parameters
    ----------
    name
        A key of `TOPICS`.
    options
        What the reader varies.
    """
    module, function = TOPICS[name]
    build = cast(
        Callable[[TopicOptions], tuple[Step, ...]],
        getattr(import_module(f"sdpa_cli.explaining.topics.{module}"), function),
    )
    return Trace("topic", name, words(f"topic.{name}.title"), build(options or TopicOptions()))
