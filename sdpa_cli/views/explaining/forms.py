"""The forms an explanation can take, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from sdpa_cli.explaining.speaking import texts_for
from sdpa_cli.explaining.trace import Trace
from sdpa_cli.views.explaining.notation import notation_of
from sdpa_cli.views.explaining.prose import Voice

if TYPE_CHECKING:
    from typing import TextIO

FormName = Literal["terminal", "markdown", "html", "json"]


def told(trace: Trace, language: str, decimals: int | None = None) -> Voice:
    """The voice that tells a trace in a language."""
    texts = texts_for(trace, language)
    return Voice(texts, notation_of(texts, decimals))


def explanation(trace: Trace, voice: Voice, form: FormName, stream: TextIO) -> str:
    """A trace in a form.

    Parameters
    ----------
    trace, voice
        What is explained, and in which language.
    form
        The form.
    stream
        Where the text will go: it decides width, colours and signs in a terminal.
    """
    # Each form is imported when it is asked for: JSON does not wait for Rich.
    if form == "terminal":
        from rich.console import Console

        from sdpa_cli.views.explaining.terminal import explained

        return explained(trace, voice, Console(file=stream))
    if form == "markdown":
        from sdpa_cli.views.explaining.markdown import markdown

        return markdown(trace, voice)
    if form == "html":
        from sdpa_cli.views.explaining.html import page

        return page(trace, voice)
    from sdpa_cli.views.explaining.documents import document

    return document(trace, voice)
