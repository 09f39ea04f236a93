"""Messages in a language: the texts of grading and of an exercise, filled with numbers as that language writes them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sdpa_cli.grading.exercise import Exercise
from sdpa_cli.grading.phrasebook import phrasebook
from sdpa_cli.grading.report import CELLS, LOADS, Message
from sdpa_cli.languages import Texts, load, with_decimal_sign

PACKAGE = "sdpa_cli.grading"
_DIGITS = 6
_FEWER_DIGITS = {"error": 3, "limit": 3}
_MINUS = "−"
_PHRASED = frozenset({"problem", "expected", "hint", "detail", "level", "sandbox"})
"""Values that hold a sentence of a room beneath, which knows English only."""


@dataclass(frozen=True)
class Speaker:
    """Says what grading has to say about one exercise, in one language."""

    own: Texts
    exercise: Texts | None = None

    @property
    def language(self) -> str:
        """Which language."""
        return self.own.language

    def __call__(self, key: str, /, **values: Any) -> str:
        """The text of that key."""
        return self.say(Message(key, values))

    def say(self, message: Message) -> str:
        """A message; what an exercise says of itself goes before."""
        texts = self.exercise if self.exercise is not None and message.key in self.exercise else self.own
        return texts(message.key, **{name: self._written(name, value) for name, value in message.values.items()})

    def title(self, check: str) -> str:
        """What a check is called."""
        if self.exercise is not None and f"checks.{check}" in self.exercise:
            return self.exercise(f"checks.{check}")
        own = {LOADS: "view.loads", CELLS: "view.cells"}
        return self.own(own[check]) if check in own else check

    def number(self, value: float, digits: int = _DIGITS) -> str:
        """A number with so many digits that count."""
        if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "∞" if value > 0 else f"{_MINUS}∞"
        mantissa, mark, exponent = f"{value:.{digits}g}".partition("e") if value else ("0", "", "")
        return with_decimal_sign(mantissa.replace("-", _MINUS), self.language) + mark + exponent

    def _written(self, name: str, value: Any) -> object:
        if isinstance(value, Message):
            return self.say(value)
        if isinstance(value, float):
            return self.number(value, _FEWER_DIGITS.get(name, _DIGITS))
        if isinstance(value, str) and name in _PHRASED:
            return phrasebook(self.language)(value)
        if isinstance(value, tuple) and value and isinstance(value[0], str):
            return "; ".join(self.title(one) for one in value)  # a title may have commas of its own
        return value


def speaker(language: str, exercise: Exercise | None = None) -> Speaker:
    """Who speaks about an exercise in a language."""
    return Speaker(load(PACKAGE, language), exercise.texts(language) if exercise is not None else None)
