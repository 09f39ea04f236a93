"""English sentences in another language: what rooms beneath have put together in English is found in a book of phrases.

As with gettext, the English is the key, so that those rooms know of no languages. A phrase leaves places open; what
stands there in a sentence, a student's own text most often, goes into the translation as it is.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from sdpa_cli.languages import parse

_PHRASES = frozenset({"own", "other"})
"""Places where a phrase stands that is in the book, too."""


@dataclass(frozen=True)
class Phrase:
    """One phrase, as the texts between its places."""

    pieces: tuple[str, ...]
    places: tuple[str, ...]
    translation: str

    def values(self, sentence: str) -> dict[str, str] | None:
        """What stands at its places in a sentence; None where the sentence is another one.

        Each piece is taken where it first comes: no way of choosing finds more, and no text makes the search long.
        """
        first, *inner = self.pieces
        if not inner:
            return {} if sentence == first else None
        last = inner.pop()
        at, end = len(first), len(sentence) - len(last)
        if at > end or not sentence.startswith(first) or not sentence.endswith(last):
            return None
        found = []
        for piece in inner:
            start = sentence.find(piece, at, end)
            if start < 0:
                return None
            found.append(sentence[at:start])
            at = start + len(piece)
        return dict(zip(self.places, [*found, sentence[at:end]], strict=True))


_AS_IT_IS = Phrase(("", ""), ("text",), "{text}")


@dataclass(frozen=True)
class Phrasebook:
    """The phrases of one language, those with the most of their own words first; at the end those that begin with any.

    Examples
    --------
    >>> hungarian = phrasebook("hu")
    >>> hungarian("Q[1,2]: '5; 0' is not a number"), hungarian("there is no such phrase")
    ("Q[1,2]: '5; 0' nem szám", 'there is no such phrase')
    """

    phrases: tuple[Phrase, ...]

    def __call__(self, sentence: str) -> str:
        """The sentence in that language; as it is where the book has no phrase for it."""
        phrase, values = self._found(sentence)
        return phrase.translation.format(**{place: self._placed(place, text) for place, text in values.items()})

    def _placed(self, place: str, text: str) -> str:
        """What stands at a place. No deeper: a text can hold phrases within phrases for as long as it is."""
        if place not in _PHRASES:
            return text
        phrase, values = self._found(text)
        return phrase.translation.format(**values)

    def _found(self, sentence: str) -> tuple[Phrase, dict[str, str]]:
        """The phrase that a sentence is, and what stands at its places."""
        found = ((phrase, phrase.values(sentence)) for phrase in self.phrases)
        return next(
            ((phrase, values) for phrase, values in found if values is not None), (_AS_IT_IS, {"text": sentence})
        )


def compiled(entries: Mapping[str, str]) -> Phrasebook:
    """The book of some phrases, in English and in a language."""
    phrases = [_phrase(english, translation) for english, translation in entries.items()]
    return Phrasebook(tuple(sorted(phrases, key=lambda phrase: (not phrase.pieces[0], -sum(map(len, phrase.pieces))))))


def _phrase(english: str, translation: str) -> Phrase:
    pieces, places = [""], []
    for text, place, _, _ in string.Formatter().parse(english):
        pieces[-1] += text  # a brace that is written twice ends a part, too
        if place is not None:
            places.append(place)
            pieces.append("")
    return Phrase(tuple(pieces), tuple(places), translation)


@cache
def phrasebook(language: str) -> Phrasebook:
    """The phrases of a language; none of English, which is what the sentences are in."""
    return compiled(entries_of(language))


def entries_of(language: str) -> Mapping[str, str]:
    """English phrases and what they are in a language."""
    if language == "en":
        return {}
    text = files(__package__).joinpath("phrases", f"{language}.yaml").read_text("utf-8")
    return parse(text, language).entries
