"""Which texts an explanation needs, in which language."""

from __future__ import annotations

from sdpa_cli.explaining.trace import Trace
from sdpa_cli.languages import Texts, load

ROOMS = {
    "fault": ("comparing",),
    "faults": ("comparing",),
    "conventions": ("comparing",),
    "topic": ("comparing", "topics"),
}
"""Rooms whose texts a kind of explanation uses besides those of the derivations."""


def texts_for(trace: Trace, language: str) -> Texts:
    """The texts that tell a trace.

    Parameters
    ----------
    trace
        The explanation.
    language
        A key of `sdpa_cli.languages.LANGUAGES`.
    """
    entries = dict(load("sdpa_cli.explaining", language).entries)
    for room in ROOMS.get(trace.kind, ()):
        entries |= load(f"sdpa_cli.explaining.{room}", language).entries
    return Texts(language, entries)
