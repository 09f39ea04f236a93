"""The settings of one attention besides its arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict

from numpy.typing import ArrayLike

from sdpa_cli.attention import checks
from sdpa_cli.attention.score_functions import Additive, Linear, Score
from sdpa_cli.errors import Problem

EmptyRows = Literal["error", "zero"]
NonFinite = Literal["error", "propagate"]


class Settings(TypedDict, total=False):
    """What `sdpa_cli.attend` may be told besides its arrays, its mask and its bias."""

    alibi: ArrayLike | bool | None
    score: Score | None
    scale: float | None
    softcap: float | None
    empty_rows: EmptyRows
    nonfinite: NonFinite
    block_size: int | None


@dataclass(eq=False)  # to freeze them takes a microsecond, and each call makes its own
class Options:
    """The settings of one call besides its arrays, as the caller gave them."""

    scale: float | None = None
    softcap: float | None = None
    empty_rows: EmptyRows = "error"
    nonfinite: NonFinite = "error"
    block_size: int | None = None
    threads: int | None = None
    alibi: ArrayLike | bool | None = None
    score: Score | None = None

    def problems(self) -> list[Problem]:
        """What is wrong with them."""
        return [
            *checks.option_problems(self.scale, self.softcap),
            *checks.count_problems(self.block_size, self.threads),
            *checks.choice_problems("empty_rows", self.empty_rows, ("error", "zero")),
            *checks.choice_problems("nonfinite", self.nonfinite, ("error", "propagate")),
            *self._contradictions(),
        ]

    def _contradictions(self) -> list[Problem]:
        """Settings that mean nothing beside the score function."""
        if isinstance(self.score, Additive):
            given: tuple[str, ...] = ("scale",)
            what, why = "additive", "its scores come from a network with weights of its own"
        elif isinstance(self.score, Linear):
            given = ("scale", "softcap")
            what, why = "linear", "it has no dot products that enter a softmax"
        else:
            return []
        hint = f"leave it out: {why}"
        return [
            Problem("contradiction", f"{what} attention has no {name}", None, hint, (name,))
            for name in given
            if getattr(self, name) is not None
        ]
