"""YAML's own complaints, in words that say what to change."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import yaml

from sdpa_cli.cases.source import Mark, Source
from sdpa_cli.errors import Place, Problem


@dataclass(frozen=True)
class _Translation:
    """What to say when PyYAML's or LibYAML's complaint contains some words."""

    words: str
    message: str
    hint: str | None = None


_TRANSLATIONS = (
    _Translation("',' or ']'", "this list is not closed", "a ] or a comma is missing after it"),
    _Translation("',' or '}'", "this mapping is not closed", "a } or a comma is missing after it"),
    _Translation("unexpected end of stream", "these quotes are not closed"),
    _Translation("unexpected document indicator", "these quotes are not closed before the next document"),
    _Translation(
        "mapping values are not allowed",
        "a second colon makes no sense here",
        "begin each key on a line of its own, in the same column as the others; put text with a colon in quotes",
    ),
    _Translation(
        "expected ':'", "this line is neither a key with its value nor part of the value before it", "write: key: value"
    ),
    _Translation(
        "expected key",
        "the mapping of keys and values is broken here",
        "look for a bracket or comma too many, and for lines that do not begin in the same column",
    ),
    _Translation("<block end>", "the mapping of keys and values is broken here", "align the lines in one column"),
    _Translation("'-' indicator", "a list of lines with - is broken here", "begin each line of the list with -"),
    _Translation("block sequence entries", "a list with - cannot begin here", "begin it on a line of its own"),
    _Translation("node content", "a value is missing here", "look for two commas in a row"),
    _Translation("maximum nesting", "lists and mappings are nested too deep"),
    _Translation("undefined tag handle", "tags are not used here", "write the value alone"),
    _Translation("unknown escape", "this backslash means nothing in double quotes", "use single quotes"),
    _Translation("<document start>", "text follows the end of the document", "begin a new case with a line ---"),
)

# A key whose value follows without a space, which makes one word of both.
_GLUED = re.compile(r"""^\s*([A-Za-z_]\w*):(?=[\[{"'0-9.+-])""")
# The same as Python writes it.
_EQUALS = re.compile(r"\s*(\w+)\s*=(?!=)")


def explain_syntax(error: yaml.YAMLError, source: Source) -> Problem:
    """Say what is wrong where YAML cannot be read.

    Parameters
    ----------
    error
        As PyYAML raised it.
    source
        The document.

    Returns
    -------
    Problem
    """
    mark, context = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    said = str(getattr(error, "problem", None) or error)
    if mark is None:
        return Problem("yaml-syntax", f"this is not YAML: {said}", place=source.place(None))
    for candidate in (context, mark):
        if candidate is not None and (problem := glued_key(source, candidate)):
            return problem
    here = source.place(mark)
    started = source.place(context)
    if "expected ':'" in said and re.match(r" *-[^\s-]", started.source):
        place = replace(started, column=started.source.index("-") + 2)
        return Problem("missing-space", "a space is missing after -", hint="begin the item with '- '", place=place)
    if re.match(r"- +[0-9.]", here.source[here.column - 1 :]):
        return Problem("yaml-syntax", "a minus sign belongs to its number", hint="remove the space after -", place=here)
    character = here.source[here.column - 1 : here.column]
    if character in tuple(",]}") and "node content" not in said:
        return Problem("yaml-syntax", f"this {character} is one too many", place=here)
    if "cannot start any token" in said or "'%' or '@'" in said:
        return _strange_character(character, here)
    for translation in _TRANSLATIONS:
        if translation.words in said:
            # What is never closed is found where it begins; the parser notices at its wits' end.
            place = source.place(context) if context and "not closed" in translation.message else here
            return Problem("yaml-syntax", translation.message, hint=translation.hint, place=place)
    return Problem("yaml-syntax", f"this is not YAML: {said}", place=here)


def glued_key(source: Source, mark: Mark | None) -> Problem | None:
    """The problem of ``Q:[1]`` or ``Q = [1]``, if the line at the mark has it: that is one word, not a key."""
    place = source.place(mark)
    if found := _EQUALS.match(place.source):
        message, hint = f"'{found[1]} =' is no key", f"write '{found[1]}: ' and then the value"
        return Problem("missing-colon", message, hint=hint, place=replace(place, column=found.start(1) + 1))
    found = _GLUED.match(place.source)
    if found is None:
        return None
    return Problem(
        "missing-space",
        f"a space is missing after '{found[1]}:'",
        hint=f"write '{found[1]}: ' and then the value",
        place=replace(place, column=found.end() + 1),
    )


def _strange_character(character: str, place: Place) -> Problem:
    if character == "\t":
        return Problem("tab", "a tab cannot indent in YAML", hint="indent with spaces", place=place)
    return Problem("yaml-syntax", f"no value can begin with {character}", hint="put text in quotes", place=place)
