"""A round of grading in the form that was asked for."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console

from sdpa_cli.grading.checking import Session
from sdpa_cli.views.grading.documents import github_text, json_text, junit_text
from sdpa_cli.views.grading.terminal import session_text

FORMS = {"json": json_text, "junit": junit_text, "github": github_text}


def session_in(form: str, session: Session, stream: TextIO) -> str:
    """The whole report.

    Parameters
    ----------
    form
        ``terminal`` or one of `FORMS`.
    session
        What was found.
    stream
        Where it will go: its kind decides colours and width.
    """
    if form in FORMS:
        return FORMS[form](session.checked)
    return session_text(session, Console(file=stream))
