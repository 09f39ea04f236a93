"""Prose in the reader's language: loaded from data files, filled with numbers written as that language writes them."""

from __future__ import annotations

import os
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from sdpa_cli.errors import InputError, Problem

LANGUAGES = {"en": "English", "hu": "magyar", "da": "dansk"}
_DECIMAL_COMMA = {"hu", "da"}


def choose(wanted: str | None, environment: Mapping[str, str] = os.environ) -> str:
    """The language to speak: the one asked for, else the locale's, else English.

    Parameters
    ----------
    wanted
        A key of `LANGUAGES`, or None.
    environment
        Where the locale is looked up, in the order of POSIX: LC_ALL, LC_MESSAGES, LANG.

    Raises
    ------
    InputError
        If `wanted` is not a language there are texts in.

    Examples
    --------
    >>> choose(None, {"LANG": "hu_HU.UTF-8"}), choose("da", {"LANG": "hu_HU.UTF-8"}), choose(None, {"LANG": "C"})
    ('hu', 'da', 'en')
    """
    if wanted is not None:
        if wanted in LANGUAGES:
            return wanted
        known = ", ".join(f"{code} ({name})" for code, name in LANGUAGES.items())
        raise InputError(Problem("unknown-language", f"there are no texts in '{wanted}'", expected=f"one of {known}"))
    locale = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := environment.get(name))), "")
    code = locale.replace("-", "_").split("_")[0].split(".")[0].lower()
    return code if code in LANGUAGES else "en"


@dataclass(frozen=True)
class Texts:
    """The texts of one room in one language.

    Examples
    --------
    >>> texts = Texts("hu", {"row.sum": "A sor összege {sum}."})
    >>> texts("row.sum", sum=texts.number(0.3302, 4))
    'A sor összege 0,3302.'
    """

    language: str
    entries: Mapping[str, str]

    def __call__(self, key: str, /, **values: object) -> str:
        """The text of that key, its placeholders filled."""
        return self.entries[key].format(**values)

    def __contains__(self, key: str) -> bool:
        """Whether there is a text of that key."""
        return key in self.entries

    def number(self, value: float, digits: int) -> str:
        """A number for prose, with so many digits after the decimal sign of the language."""
        return with_decimal_sign(f"{value:.{digits}f}", self.language)


def with_decimal_sign(shown: str, language: str) -> str:
    """A number written with a point, as the prose of a language writes it.

    Examples
    --------
    >>> with_decimal_sign("0.3302", "da")
    '0,3302'
    """
    return shown.replace(".", ",") if language in _DECIMAL_COMMA else shown


@cache
def load(package: str, language: str) -> Texts:
    """The texts of a package, from its ``texts/<language>.yaml``; nested keys are joined by dots.

    Parameters
    ----------
    package
        An importable package with a folder ``texts``, such as ``sdpa_cli.explaining``.
    language
        A key of `LANGUAGES`.
    """
    return parse(files(package).joinpath("texts", f"{language}.yaml").read_text("utf-8"), language)


def parse(text: str, language: str) -> Texts:
    """The texts in a YAML text; nested keys are joined by dots.

    Examples
    --------
    >>> parse("row: {sum: 'sums to {sum}'}", "en")("row.sum", sum=1)
    'sums to 1'
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return Texts(language, dict(_flat(yaml.load(text, Loader=loader))))  # noqa: S506 - a safe loader, in C where there is


def _flat(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value.rstrip("\n")


def placeholders(text: str) -> set[str]:
    """The names a text leaves open.

    Examples
    --------
    >>> sorted(placeholders("row {i} sums to {sum}"))
    ['i', 'sum']
    """
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}
